//! Which port of a configuration an interface of the wiring is.

use crate::import::ethernet::sonic::SwitchConfig;

/// The port that an interface is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The one of this name, or with this alias.
    Named(String),
    /// The one at this place in the order of ports, as containers count them.
    InOrder(String),
    /// No port can be told.
    Unknown,
}

/// The port that has `interface` for its name or its alias.
pub(super) fn named(config: &SwitchConfig, interface: &str) -> Option<String> {
    let is_known = config.ports.contains_key(interface)
        || config.port_qos.contains_key(interface)
        || config.groups.contains_key(interface)
        || config.cables.contains_key(interface)
        || config.neighbours.contains_key(interface);
    if is_known {
        return Some(interface.to_string());
    }
    let found = config.ports.iter().find(|(_, port)| port.alias.as_deref() == Some(interface));
    found.map(|(name, _)| name.clone())
}

/// The port of a switch of this kind that `interface` is.
pub(super) fn find(config: &SwitchConfig, kind: Option<&str>, interface: &str) -> Found {
    if let Some(name) = named(config, interface) {
        return Found::Named(name);
    }
    let is_sonic = kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("sonic"));
    let number = interface.strip_prefix("eth").and_then(|n| n.parse().ok());
    match number.and_then(|number| in_order(config, number)) {
        Some(name) if is_sonic => Found::InOrder(name),
        _ => Found::Unknown,
    }
}

/// The port that a container calls `eth<number>`: eth0 is for management, eth1 the first port.
fn in_order(config: &SwitchConfig, number: usize) -> Option<String> {
    let place = number.checked_sub(1)?;
    let mut ports = Vec::with_capacity(config.ports.len());
    for name in config.ports.keys() {
        let own: u32 = name.strip_prefix("Ethernet")?.parse().ok()?;
        ports.push((own, name));
    }
    ports.sort_unstable();
    ports.get(place).map(|(_, name)| (*name).clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::ethernet::sonic;

    #[test]
    fn interfaces_are_found_by_name_alias_and_order() {
        let text = r#"{"PORT": {"Ethernet0": {"alias": "etp1", "speed": "100000"},
            "Ethernet100": {"speed": "100000"}, "Ethernet4": {"speed": "100000"}}}"#;
        let config = sonic::parse(text).unwrap();
        let named = |name: &str| Found::Named(name.to_string());
        let in_order = |name: &str| Found::InOrder(name.to_string());
        let sonic = Some("sonic-vs");
        let cases = [
            (None, "Ethernet4", named("Ethernet4")),
            (None, "etp1", named("Ethernet0")),
            (sonic, "eth1", in_order("Ethernet0")),
            (sonic, "eth2", in_order("Ethernet4")),
            (sonic, "eth3", in_order("Ethernet100")),
            (sonic, "eth0", Found::Unknown),
            (sonic, "eth4", Found::Unknown),
            (sonic, "Ethernet8", Found::Unknown),
            (None, "eth1", Found::Unknown),
            (Some("ceos"), "eth1", Found::Unknown),
        ];
        for (kind, interface, expected) in cases {
            assert_eq!(find(&config, kind, interface), expected, "{interface}");
        }
        let odd = sonic::parse(r#"{"PORT": {"swp1": {"speed": "1"}}}"#).unwrap();
        assert_eq!(find(&odd, sonic, "eth1"), Found::Unknown);
    }
}
