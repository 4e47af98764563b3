//! Ethernet: SONiC's configuration, and wiring from containerlab or Batfish.
