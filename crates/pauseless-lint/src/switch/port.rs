//! A port with all rows that speak of it.

use crate::database::{Row, Text};

use super::bits;
use super::chain::Chain;

/// A port of a switch.
#[derive(Debug)]
pub struct Port<'d> {
    /// Its name, such as `Ethernet0`.
    pub name: &'d str,
    /// Its row of PORT; `None` if only other tables know it.
    pub row: Option<Row<'d>>,
    /// The cable at it.
    pub cable: Option<Cable<'d>>,
    /// Its row of PORT_QOS_MAP.
    pub qos: Option<Row<'d>>,
    /// The priorities that are paused, as the switch reads them.
    pub pfc_enable: Option<ClassList<'d>>,
    /// The priorities that the watchdog looks after.
    pub watched: Option<ClassList<'d>>,
    /// The profiles of its priority groups.
    pub groups: Vec<Binding<'d>>,
    /// The profiles of its queues.
    pub queues: Vec<Binding<'d>>,
    /// How its queues are scheduled and marked.
    pub scheduling: Vec<Binding<'d>>,
    /// The watchdog of the port.
    pub watchdog: Option<Watchdog<'d>>,
    /// The far end of its cable, as the file names it.
    pub neighbour: Option<Neighbour<'d>>,
    /// The link aggregation that it is a member of.
    pub channel: Option<&'d str>,
    /// Whether a VLAN has it as a member.
    pub is_in_vlan: bool,
    /// What its maps lead to.
    pub(super) chain: Chain,
}

/// The cable at a port.
#[derive(Clone, Copy, Debug)]
pub struct Cable<'d> {
    /// The row that it is in.
    pub row: Row<'d>,
    /// The length as it was written.
    pub value: Text<'d>,
    /// Its length; `None` if what was written is none.
    pub metres: Option<u64>,
}

/// A list of priorities.
#[derive(Clone, Copy, Debug)]
pub struct ClassList<'d> {
    /// The list as it was written.
    pub value: Text<'d>,
    /// One bit per priority that the switch understands.
    pub read: u8,
    /// One bit per priority that was meant, ranges included.
    pub meant: u8,
    /// Whether it is a list as the switch expects it.
    pub is_list: bool,
}

impl<'d> ClassList<'d> {
    /// Reads a list as orchagent does: each part as a number, of which it takes the digits it starts
    /// with.
    pub fn new(value: Text<'d>) -> ClassList<'d> {
        let (mut read, mut meant, mut is_list) = (0u8, 0u8, true);
        let parts = value.text.split(',').filter(|_| !value.text.is_empty());
        for part in parts {
            let digits = part.trim_start();
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            let first = digits[..end].parse::<u8>().ok().filter(|class| *class < 8);
            is_list &= part.len() == 1 && first.is_some();
            // "3 4" and "3;4" are read as 3, and meant as both.
            let words = part.split([' ', ';']).filter_map(|word| word.parse::<u8>().ok());
            meant |= words.filter(|class| *class < 8).fold(0, |mask, class| mask | 1 << class);
            let Some(first) = first else {
                continue;
            };
            let last =
                digits[end..].trim().strip_prefix('-').and_then(|last| last.trim().parse().ok());
            read |= 1 << first;
            meant |= (first..=last.filter(|last| *last < 8).unwrap_or(first))
                .fold(1 << first, |mask, class| mask | 1 << class);
        }
        ClassList { value, read, meant, is_list }
    }
}

/// A row for some groups or queues of a port.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'d> {
    /// The row of the table.
    pub row: Row<'d>,
    /// The first of them.
    pub first: u8,
    /// The last of them.
    pub last: u8,
}

impl Binding<'_> {
    /// Whether the row is for this one, too.
    pub fn has(&self, index: u8) -> bool {
        (self.first..=self.last).contains(&index)
    }

    /// The groups or queues of the row.
    pub fn all(&self) -> impl Iterator<Item = u8> + use<> {
        self.first..=self.last
    }
}

/// The watchdog of a port.
#[derive(Clone, Copy, Debug)]
pub struct Watchdog<'d> {
    /// Its row of PFC_WD.
    pub row: Row<'d>,
    /// Milliseconds in pause after which it acts.
    pub detection: Option<u64>,
    /// Milliseconds without a PAUSE after which it stops to; 0 is never.
    pub restoration: Option<u64>,
}

impl<'d> Watchdog<'d> {
    /// What it does with the queue.
    pub fn action(&self) -> &'d str {
        self.row.get("action").map_or("drop", |action| action.text)
    }
}

/// The far end of a cable.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour<'d> {
    /// The row that names it.
    pub row: Row<'d>,
    /// The name of the other device.
    pub name: Text<'d>,
    /// The other device's port.
    pub port: Text<'d>,
}

impl<'d> Port<'d> {
    /// A port of which nothing is known.
    pub(super) fn new(name: &'d str) -> Port<'d> {
        Port {
            name,
            row: None,
            cable: None,
            qos: None,
            pfc_enable: None,
            watched: None,
            groups: Vec::new(),
            queues: Vec::new(),
            scheduling: Vec::new(),
            watchdog: None,
            neighbour: None,
            channel: None,
            is_in_vlan: false,
            chain: Chain::default(),
        }
    }

    /// A field of its row of PORT.
    pub fn get(&self, field: &str) -> Option<Text<'d>> {
        self.row?.get(field)
    }

    /// Its speed in Mb/s; with autonegotiation the largest that it offers.
    pub fn speed(&self) -> Option<u64> {
        let speed = self.get("speed")?.number().filter(|speed| *speed > 0)?;
        if self.get("autoneg").is_some_and(|value| value.text == "on") {
            let offered = self.get("adv_speeds").into_iter().flat_map(Text::items);
            return offered.filter_map(|speed| speed.parse().ok()).max().or(Some(speed));
        }
        Some(speed)
    }

    /// The largest frame in bytes.
    pub fn mtu(&self) -> u64 {
        self.get("mtu").and_then(Text::number).unwrap_or(9_100)
    }

    /// How many lanes of the chip it has.
    pub fn lanes(&self) -> usize {
        self.get("lanes").map_or(0, |lanes| lanes.items().count())
    }

    /// The name on the front panel.
    pub fn alias(&self) -> Option<&'d str> {
        self.get("alias").map(|alias| alias.text)
    }

    /// Whether it is switched on.
    pub fn is_up(&self) -> bool {
        self.get("admin_status").is_some_and(|status| status.text == "up")
    }

    /// Whether it is inside the box, of the kinds `Inb`, `Rec` and `Dpc`.
    pub fn is_internal(&self) -> bool {
        let role = self.get("role").map_or("Ext", |role| role.text);
        matches!(role, "Inb" | "Rec" | "Dpc" | "Int")
    }

    /// One bit per priority that is paused.
    pub fn pfc(&self) -> u8 {
        self.pfc_enable.map_or(0, |list| list.read)
    }

    /// One bit per priority that the watchdog looks after.
    pub fn watch(&self) -> u8 {
        self.watched.map_or(0, |list| list.read)
    }

    /// The length of its cable.
    pub fn metres(&self) -> Option<u64> {
        self.cable?.metres
    }

    /// The row of a priority group.
    pub fn group(&self, group: u8) -> Option<&Binding<'d>> {
        self.groups.iter().find(|binding| binding.has(group))
    }

    /// The row of a queue's buffer.
    pub fn queue(&self, queue: u8) -> Option<&Binding<'d>> {
        self.queues.iter().find(|binding| binding.has(queue))
    }

    /// A field of the rows of QUEUE for a queue.
    pub fn scheduled(&self, queue: u8, field: &str) -> Option<Text<'d>> {
        let rows = self.scheduling.iter().filter(|binding| binding.has(queue));
        rows.filter_map(|binding| binding.row.get(field)).next()
    }

    /// The priorities that are paused, one after the other.
    pub fn priorities(&self) -> impl Iterator<Item = u8> + use<> {
        bits(self.pfc().into())
    }
}
