//! From the rows of a database to a [`Switch`].

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use super::{
    Binding, BufferModel, Cable, ClassList, MapKind, Neighbour, Pool, Port, Profile, QosMap,
    Switch, Vendor, Watchdog, Wred, metres,
};
use crate::database::{Database, Row, Text};

impl<'d> Switch<'d> {
    /// The switch of a CONFIG_DB; `name` is what it is called if the file does not say it.
    pub fn read(config: &'d Database<'d>, name: String) -> Switch<'d> {
        let mut switch = Switch {
            name,
            config,
            applied: None,
            state: None,
            lookup: None,
            vendor: Vendor::Broadcom,
            model: BufferModel::Traditional,
            ports: Vec::new(),
            has_ports: config.has("PORT"),
            pools: BTreeMap::new(),
            profiles: BTreeMap::new(),
            wreds: BTreeMap::new(),
            maps: HashMap::new(),
            remaps_tunnels: false,
            has_lossless: false,
            by_name: HashMap::new(),
            calculated: OnceCell::new(),
            line_card: None,
        };
        if !switch.about("hostname").is_empty() {
            switch.name = switch.about("hostname").to_string();
        }
        switch.vendor = vendor(switch.about("platform"), switch.about("hwsku"));
        if switch.about("buffer_model") == "dynamic" {
            switch.model = BufferModel::Dynamic;
        }
        let remap = config.row_of("SYSTEM_DEFAULTS", "tunnel_qos_remap");
        let status = remap.and_then(|row| row.get("status"));
        // Half a file says nothing about the other half.
        let is_partial = switch.metadata().is_none() && !config.has("SYSTEM_DEFAULTS");
        switch.remaps_tunnels = is_partial || status.is_some_and(|status| status.text == "enabled");
        switch.read_ports();
        switch.read_buffers();
        switch.read_scheduling();
        let chains = Vec::from_iter(switch.ports.iter().map(|port| switch.chain(port)));
        for (port, chain) in switch.ports.iter_mut().zip(chains) {
            port.chain = chain;
        }
        switch.has_lossless = switch
            .ports
            .iter()
            .any(|port| port.groups.iter().any(|binding| switch.has_headroom(port, binding.first)));
        switch
    }

    fn read_ports(&mut self) {
        for row in self.config.rows("PORT") {
            self.port_mut(row.key().text).row = Some(row);
        }
        for row in self.config.rows("CABLE_LENGTH") {
            for (name, value) in row.fields() {
                let metres = metres(value.text);
                self.port_mut(name.text).cable = Some(Cable { row, value, metres });
            }
        }
        for row in self.config.rows("PORT_QOS_MAP") {
            for name in row.key().items().filter(|name| *name != "global") {
                let port = self.port_mut(name);
                port.qos = Some(row);
                port.pfc_enable = row.get("pfc_enable").map(ClassList::new);
                port.watched = row.get("pfcwd_sw_enable").map(ClassList::new);
            }
        }
        for row in self.config.rows("PFC_WD") {
            for name in row.key().items().filter(|name| *name != "GLOBAL") {
                let number = |field| row.get(field).and_then(Text::number);
                let (detection, restoration) =
                    (number("detection_time"), number("restoration_time"));
                self.port_mut(name).watchdog = Some(Watchdog { row, detection, restoration });
            }
        }
        for row in self.config.rows("DEVICE_NEIGHBOR") {
            if let (Some(name), Some(port)) = (row.get("name"), row.get("port")) {
                self.port_mut(row.key().text).neighbour = Some(Neighbour { row, name, port });
            }
        }
        for row in self.config.rows("PORTCHANNEL_MEMBER") {
            if let Some((channel, port)) = row.key().text.split_once('|')
                && let Some(index) = self.by_name.get(port)
            {
                self.ports[*index].channel = Some(channel);
            }
        }
        for row in self.config.rows("VLAN_MEMBER") {
            if let Some((_, port)) = row.key().text.split_once('|')
                && let Some(index) = self.by_name.get(port)
            {
                self.ports[*index].is_in_vlan = true;
            }
        }
        for kind in MapKind::ALL {
            let maps = self.config.rows(kind.table()).map(|row| (row.key().text, map(row)));
            self.maps.insert(kind, maps.collect());
        }
    }

    fn read_buffers(&mut self) {
        for row in self.config.rows("BUFFER_POOL") {
            let number = |field| row.get(field).and_then(Text::number);
            let word = |field| row.get(field).map_or("", |value| value.text);
            let pool = Pool {
                row,
                size: number("size"),
                xoff: number("xoff").unwrap_or(0),
                is_dynamic: word("mode") != "static",
                direction: word("type"),
            };
            self.pools.insert(row.key().text, pool);
        }
        for row in self.config.rows("BUFFER_PROFILE") {
            let number = |field| row.get(field).and_then(Text::number);
            let name = row.key().text;
            let profile = Profile {
                row,
                name,
                pool: row.get("pool"),
                size: number("size"),
                xon: number("xon"),
                xoff: number("xoff"),
                dynamic_th: row.get("dynamic_th").and_then(Text::signed),
                static_th: number("static_th"),
                is_calculated: row.get("headroom_type").is_some_and(|kind| kind.text == "dynamic"),
            };
            self.profiles.insert(name, profile);
        }
        for row in self.config.rows("BUFFER_PG") {
            self.bind(row, |port, binding| port.groups.push(binding));
        }
        for row in self.config.rows("BUFFER_QUEUE") {
            self.bind(row, |port, binding| port.queues.push(binding));
        }
    }

    fn read_scheduling(&mut self) {
        for row in self.config.rows("WRED_PROFILE") {
            let name = row.key().text;
            let ecn = row.get("ecn").map_or("ecn_none", |ecn| ecn.text);
            self.wreds.insert(name, Wred { row, name, ecn });
        }
        for row in self.config.rows("QUEUE") {
            self.bind(row, |port, binding| port.scheduling.push(binding));
        }
    }

    /// Gives a row to the ports and the groups or queues that its key names: `Ethernet0|3-4`,
    /// `Ethernet0,Ethernet4|3-4` in old templates, `host|asic|Ethernet0|3` in chassis.
    fn bind(&mut self, row: Row<'d>, add: impl Fn(&mut Port<'d>, Binding<'d>)) {
        let Some((ports, range)) = row.key().text.rsplit_once('|') else {
            return;
        };
        let ports = match ports.rsplit_once('|') {
            // A file without the row of the switch is taken to be of the first line card in it.
            Some((chassis, port)) if self.metadata().is_none() => {
                if *self.line_card.get_or_insert(chassis) != chassis {
                    return;
                }
                port
            }
            Some((chassis, port)) if chassis.split('|').next() == Some(self.name.as_str()) => port,
            // Queues of another line card are that card's.
            Some(_) => return,
            None => ports,
        };
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Ok(first), Ok(last)) = (first.trim().parse(), last.trim().parse()) else {
            return;
        };
        for name in ports.split(',').map(str::trim) {
            add(self.port_mut(name), Binding { row, first, last });
        }
    }

    fn port_mut(&mut self, name: &'d str) -> &mut Port<'d> {
        let next = self.ports.len();
        let index = *self.by_name.entry(name).or_insert(next);
        if index == next {
            self.ports.push(Port::new(name));
        }
        &mut self.ports[index]
    }
}

fn map(row: Row<'_>) -> QosMap<'_> {
    let number = |text: Text| text.text.trim().parse().ok();
    let entries = row.fields().filter_map(|(key, value)| Some((number(key)?, number(value)?)));
    QosMap { row, entries: entries.collect() }
}

fn vendor(platform: &str, hwsku: &str) -> Vendor {
    let is = |words: &[&str]| {
        let has = |text: &str| words.iter().any(|word| text.to_ascii_lowercase().contains(word));
        has(platform) || has(hwsku)
    };
    match () {
        () if is(&["mlnx", "mellanox", "nvidia", "acs-msn", "acs-sn"]) => Vendor::Mellanox,
        () if is(&["barefoot", "bfn", "montara", "mavericks", "newport"]) => Vendor::Barefoot,
        () if is(&["cisco-8", "8101_32fh", "8102_64h", "x86_64-8"]) => Vendor::Cisco,
        () => Vendor::Broadcom,
    }
}
