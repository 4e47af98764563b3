//! The file format: blocks of a type, a length, a body and the length again.
//!
//! **Source** IETF draft-ietf-opsawg-pcapng.

use std::io::{self, Write};
use std::time::Duration;

use pauseless_sim::tap::Direction;

pub const SECTION: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const ETHERNET: u16 = 1;

const END: u16 = 0;
const APPLICATION: u16 = 4;
pub const NAME: u16 = 2;
const RESOLUTION: u16 = 9;
const FLAGS: u16 = 2;
/// Stamps count units of 10 to the minus this.
const NANOSECONDS: u8 = 9;

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Pcapng<W: Write> {
    out: W,
    /// The block that is being put together.
    block: Vec<u8>,
    packets: u64,
}

/// A frame, of which `bytes` may be the beginning only.
pub(super) struct Packet<'p> {
    pub interface: u32,
    /// The time since the Unix epoch.
    pub stamp: Duration,
    pub direction: Direction,
    pub bytes: &'p [u8],
    pub length: usize,
}

impl<W: Write> Pcapng<W> {
    /// Writes what precedes all packets.
    pub(super) fn begin(out: W, interfaces: &[String]) -> io::Result<Pcapng<W>> {
        let mut file = Pcapng { out, block: Vec::new(), packets: 0 };
        file.block.extend(BYTE_ORDER.to_le_bytes());
        // Version 1.0, of unknown length.
        file.block.extend([1, 0, 0, 0]);
        file.block.extend(u64::MAX.to_le_bytes());
        let program = format!("pauseless {}", crate::VERSION);
        file.option(APPLICATION, program.as_bytes());
        file.option(END, &[]);
        file.finish_block(SECTION)?;
        for name in interfaces {
            file.block.extend(u32::from(ETHERNET).to_le_bytes());
            // No limit to what is captured of a packet.
            file.block.extend(0u32.to_le_bytes());
            file.option(NAME, name.as_bytes());
            file.option(RESOLUTION, &[NANOSECONDS]);
            file.option(END, &[]);
            file.finish_block(INTERFACE)?;
        }
        Ok(file)
    }

    pub(super) fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let stamp = packet.stamp.as_nanos() as u64;
        let lengths = [packet.bytes.len(), packet.length].map(|length| length as u32);
        let stamps = [(stamp >> 32) as u32, stamp as u32];
        let head = [packet.interface, stamps[0], stamps[1], lengths[0], lengths[1]];
        self.block.extend(head.into_iter().flat_map(u32::to_le_bytes));
        self.padded(packet.bytes);
        let flags: u32 = match packet.direction {
            Direction::In => 0b01,
            Direction::Out => 0b10,
        };
        self.option(FLAGS, &flags.to_le_bytes());
        self.option(END, &[]);
        self.packets += 1;
        self.finish_block(PACKET)
    }

    /// How many packets there are.
    pub(super) fn packets(&self) -> u64 {
        self.packets
    }

    /// The place that everything was written to.
    pub(super) fn into_inner(self) -> W {
        self.out
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let length = u16::try_from(value.len()).expect("options are short");
        self.block.extend(code.to_le_bytes());
        self.block.extend(length.to_le_bytes());
        self.padded(value);
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend(bytes);
        let length = self.block.len().next_multiple_of(4);
        self.block.resize(length, 0);
    }

    fn finish_block(&mut self, kind: u32) -> io::Result<()> {
        let length = (self.block.len() + 12) as u32;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&self.block)?;
        self.block.clear();
        self.out.write_all(&length.to_le_bytes())
    }
}
