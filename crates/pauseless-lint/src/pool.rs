//! What SONiC's dynamic model makes of the memory of a Spectrum switch: the headroom of every group, the
//! headroom that ports share, and the pool that is left.

use crate::database::{Row, Text};
use crate::headroom::{Chip, DynamicPort, Headroom, dynamic};
use crate::switch::{Binding, MadeFor, Port, Switch};

/// The memory of a switch, as the dynamic model divides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The bytes of the whole memory.
    pub memory: u64,
    /// What groups, queues, lists of ports and the system reserve.
    pub occupied: u64,
    /// What all ports share as headroom; 0 where each has its own.
    pub shared: u64,
}

impl Division {
    /// What is left for the pools; `None` if it does not even hold what is reserved.
    pub fn pool(&self) -> Option<u64> {
        self.memory.checked_sub(self.occupied)?.checked_sub(self.shared)
    }

    /// The division of a switch with the dynamic model; `None` if a size that it needs is not known.
    pub fn of(switch: &Switch) -> Option<Division> {
        let chip = Chip::of_platform(switch.about("platform"))
            .or_else(|| Chip::of_platform(switch.about("hwsku")))?;
        let memory = memory(switch)?;
        let shares = shares(switch);
        let kib = |count: u64| count * 1_024;
        let mut occupied: u64 = kib(256) + if chip == Chip::Spectrum6 { kib(32 << 10) } else { 0 };
        let (mut need, mut lossless_ports) = (0u64, 0u64);
        for port in &switch.ports {
            occupied = lists(switch, port).saturating_add(occupied);
            if !port.is_up() {
                continue;
            }
            let latency = if port.lanes() == 8 { kib(37) } else { kib(19) };
            let mirror = if chip == Chip::Spectrum6 { 0 } else { kib(10) };
            occupied = occupied.saturating_add(latency + mirror);
            let mut is_lossless = false;
            for binding in &port.groups {
                let count = binding.all().count() as u64;
                let headroom = headroom_of(switch, port, binding, chip)?;
                if headroom.xoff == 0 {
                    occupied = headroom
                        .size
                        .saturating_add(latency)
                        .saturating_mul(count)
                        .saturating_add(occupied);
                    continue;
                }
                is_lossless = true;
                occupied = headroom.size.saturating_mul(count).saturating_add(occupied);
                let more = headroom.xon.saturating_add(headroom.xoff).saturating_sub(headroom.size);
                need = more.saturating_mul(count).saturating_add(need);
            }
            for binding in &port.queues {
                let size = switch.profile_of(binding).and_then(|profile| profile.size);
                let taken = size.unwrap_or(0).saturating_mul(binding.all().count() as u64);
                occupied = taken.saturating_add(occupied);
            }
            lossless_ports += u64::from(is_lossless);
        }
        let shared = match shares {
            Sharing::Private => 0,
            Sharing::Given(xoff) => xoff,
            Sharing::Ratio(ratio) => {
                // A part of each port's headroom is reserved for it.
                let reserved = kib(10) * lossless_ports;
                occupied = occupied.saturating_add(reserved);
                need.saturating_sub(reserved).div_ceil(ratio)
            }
        };
        Some(Division { memory, occupied, shared })
    }
}

/// Whether ports have headroom in common, and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    Private,
    Given(u64),
    Ratio(u64),
}

fn shares(switch: &Switch) -> Sharing {
    let given = switch.pools.values().map(|pool| pool.xoff).max().unwrap_or(0);
    let mut rows = switch.config.rows("DEFAULT_LOSSLESS_BUFFER_PARAMETER");
    let ratio = rows.find_map(|row| row.get("over_subscribe_ratio")?.number());
    match (given, ratio.filter(|ratio| *ratio > 0)) {
        (0, None) => Sharing::Private,
        (0, Some(ratio)) => Sharing::Ratio(ratio),
        (xoff, _) => Sharing::Given(xoff),
    }
}

/// The memory of a switch: `mmu_size` of STATE_DB, or the pool that has all of it.
pub fn memory(switch: &Switch) -> Option<u64> {
    let of_state = limits(switch, "global").find_map(|row| row.get("mmu_size")?.number());
    of_state.or_else(|| switch.pools.get("egress_lossless_pool")?.size)
}

/// The most that the groups of a port may reserve, where STATE_DB says it.
pub fn most_of_port(switch: &Switch, port: &Port) -> Option<u64> {
    limits(switch, port.name).find_map(|row| row.get("max_headroom_size")?.number())
}

fn limits<'s>(switch: &'s Switch, key: &'s str) -> impl Iterator<Item = Row<'s>> {
    let tables = ["BUFFER_MAX_PARAM_TABLE", "BUFFER_MAX_PARAM"];
    let state = switch.state.into_iter();
    let rows =
        state.flat_map(move |state| tables.into_iter().flat_map(move |table| state.rows(table)));
    rows.filter(move |row| row.key().text == key)
}

/// The bytes that the groups of a port reserve, with those of the system.
pub fn reserved_by(switch: &Switch, port: &Port) -> Option<u64> {
    let chip = Chip::of_platform(switch.about("platform"))?;
    let mut reserved: u64 = 4_096 + 19_456 + 20_480;
    for binding in &port.groups {
        let size = headroom_of(switch, port, binding, chip)?.size;
        // What reserves nothing counts as the latency of the pipeline.
        let size = if size == 0 { 19_456 } else { size };
        reserved = size.saturating_mul(binding.all().count() as u64).saturating_add(reserved);
    }
    Some(reserved)
}

/// The most that a port may take of the shared headroom, where STATE_DB says it in cells.
pub fn most_shared(switch: &Switch) -> Option<u64> {
    let state = switch.state?;
    let row = state.rows("ASIC").chain(state.rows("ASIC_TABLE")).next()?;
    let number = |field| row.get(field).and_then(Text::number);
    let cells = number("port_max_shp")?.saturating_add(number("port_reserved_shp")?);
    Some(cells.saturating_mul(number("cell_size")?))
}

/// The bytes that the groups of a port may take of the shared headroom; nothing where there is none.
pub fn shared_by(switch: &Switch, port: &Port) -> Option<u64> {
    if shares(switch) == Sharing::Private {
        return None;
    }
    let chip = Chip::of_platform(switch.about("platform"))?;
    let mut shared = 0u64;
    for binding in &port.groups {
        let Headroom { xon, xoff, size } = headroom_of(switch, port, binding, chip)?;
        if xoff > 0 {
            let more = xon.saturating_add(xoff).saturating_sub(size);
            shared = shared.saturating_add(more.saturating_mul(binding.all().count() as u64));
        }
    }
    Some(shared)
}

/// What a group of a port gets; without headroom what its profile reserves.
fn headroom_of(switch: &Switch, port: &Port, binding: &Binding, chip: Chip) -> Option<Headroom> {
    let name = binding.row.get("profile")?;
    if name.text != "NULL" {
        let profile = switch.profile_of(binding)?;
        let number = |value: Option<u64>| value.unwrap_or(0);
        let (xon, xoff, size) = (number(profile.xon), number(profile.xoff), number(profile.size));
        return Some(Headroom { xon, xoff, size });
    }
    let pattern = switch.config.rows("LOSSLESS_TRAFFIC_PATTERN").next();
    let pattern = |field| pattern.and_then(|row| row.get(field)).and_then(Text::number);
    Some(dynamic(DynamicPort {
        chip,
        link: MadeFor { speed: port.speed()?, metres: port.metres()? },
        mtu: port.mtu(),
        lanes: port.lanes(),
        lossless_mtu: pattern("mtu").unwrap_or(1_024),
        small_percent: pattern("small_packet_percentage").unwrap_or(50).min(100),
        gearbox_ns: if switch.about("platform").contains("3800") { 400 } else { 0 },
        shares: shares(switch) != Sharing::Private,
    }))
}

/// The bytes that the lists of profiles of a port reserve.
fn lists(switch: &Switch, port: &Port) -> u64 {
    let tables = ["BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST"];
    let rows = tables.into_iter().filter_map(|table| switch.config.row_of(table, port.name));
    let names = rows.filter_map(|row| row.get("profile_list")).flat_map(Text::items);
    names.filter_map(|name| switch.profiles.get(name)?.size).fold(0, u64::saturating_add)
}
