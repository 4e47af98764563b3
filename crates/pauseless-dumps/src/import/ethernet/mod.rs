//! Ethernet: SONiC's configuration, wiring from containerlab, Batfish, NetQ or LLDP, and routes.
//!
//! Every parser takes the whole text and returns plain data, or the first [`Problem`] with the
//! bytes at which it lies.
//! The files come from strangers: nothing here recurses as deeply as the text is nested, copies
//! what an alias stands for, or fills in a value that the file does not have.

pub mod batfish;
pub mod containerlab;
mod json;
pub mod lldp;
pub mod netq;
pub mod pg_profile;
pub mod routes;
pub mod sonic;
#[cfg(test)]
mod testing;
pub mod wiring;
mod yaml;

use pauseless_text::problem::Problem;

/// The formats of Ethernet files that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A containerlab topology, for [`containerlab::parse`].
    Containerlab,
    /// Batfish's layer-1 topology, for [`batfish::parse`].
    BatfishLayer1,
    /// NetQ's topology graph, for [`netq::parse`].
    NetqTopology,
    /// SONiC's `config_db.json` or a dump of one of its databases, for [`sonic::parse`].
    SonicConfig,
    /// SONiC's `pg_profile_lookup.ini`, for [`pg_profile::parse`].
    PgProfileLookup,
    /// FRR's `show ip route json`, for [`routes::frr::parse`].
    FrrRoutes,
    /// FRR's `show bgp json`, for [`routes::bgp::parse`].
    FrrBgp,
    /// The kernel's `ip -j route`, for [`routes::kernel::parse`].
    KernelRoutes,
    /// Batfish's answer to `routes`, for [`routes::batfish::parse`].
    BatfishRoutes,
    /// The output of `lldpctl -f json`, for [`lldp::parse_json`].
    LldpJson,
    /// SONiC's `show lldp table`, for [`lldp::parse_table`].
    LldpTable,
}

/// Which of the formats `text` is, by its content; a broken file is recognised if its start is
/// whole, so that its parser can say what is wrong with it.
pub fn recognise(text: &str) -> Option<Format> {
    match text {
        _ if batfish::looks_like(text) => Some(Format::BatfishLayer1),
        _ if lldp::looks_like_json(text) => Some(Format::LldpJson),
        _ if routes::frr::looks_like(text) => Some(Format::FrrRoutes),
        _ if routes::bgp::looks_like(text) => Some(Format::FrrBgp),
        _ if routes::kernel::looks_like(text) => Some(Format::KernelRoutes),
        _ if routes::batfish::looks_like(text) => Some(Format::BatfishRoutes),
        _ if netq::looks_like(text) => Some(Format::NetqTopology),
        _ if containerlab::looks_like(text) => Some(Format::Containerlab),
        _ if sonic::looks_like(text) => Some(Format::SonicConfig),
        _ if pg_profile::looks_like(text) => Some(Format::PgProfileLookup),
        _ if lldp::looks_like_table(text) => Some(Format::LldpTable),
        _ => None,
    }
}

/// Refuses what is far larger than `what` ever is, before anything is allocated for it.
fn within(text: &str, limit: usize, what: &str) -> Result<(), Problem> {
    if text.len() <= limit {
        return Ok(());
    }
    let message = format!("larger than {} MiB, the limit for {what}", limit >> 20);
    Err(Problem::new(0..1, message).help("is this the right file?"))
}

/// `name` in quotes, cut where it is too long for a message.
fn quoted(name: &str) -> String {
    const LENGTH_MAX: usize = 64;
    match name.char_indices().nth(LENGTH_MAX) {
        None => format!("\"{name}\""),
        Some((cut, _)) => format!("\"{}..\"", &name[..cut]),
    }
}

/// `text` without a byte-order mark, which some editors leave at the start.
fn after_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_files_are_recognised() {
        let table = [
            ("clos02.clab.yml", Format::Containerlab),
            ("batfish-example_layer1_topology.json", Format::BatfishLayer1),
            ("topograph-netq-topologyGraph.json", Format::NetqTopology),
            ("config_db-acs-msn4700-t1.json", Format::SonicConfig),
            ("appl_db-acs-msn4700-t1.json", Format::SonicConfig),
            ("qos-arista7260-dualtor.json", Format::SonicConfig),
            ("buffer-arista7260-dualtor.json", Format::SonicConfig),
            ("buffers-mellanox4600c-t1-dynamic.json", Format::SonicConfig),
            ("pg_profile_lookup.ACS-MSN2700.ini", Format::PgProfileLookup),
            ("pg_profile_lookup.ACS-MSN4700.ini", Format::PgProfileLookup),
            ("sonic-pod/routes-up/pod-leaf0.show-ip-route.json", Format::FrrRoutes),
            ("sonic-pod/routes-up/pod-leaf0.appl_db.json", Format::SonicConfig),
            ("sonic-pod/routes-up/pod-leaf0.lldpctl.json", Format::LldpJson),
            ("sonic-pod/routes-up/pod-tor0.ip-route.json", Format::KernelRoutes),
            ("sonic-pod/routes-up/batfish-routes.json", Format::BatfishRoutes),
            ("sonic-pod/show-lldp-table.txt", Format::LldpTable),
            ("frr-8.4/show-bgp.json", Format::FrrBgp),
            ("frr-8.4/show-ip-route.json", Format::FrrRoutes),
        ];
        for (name, format) in table {
            assert_eq!(recognise(&testing::sample(name)), Some(format), "{name}");
        }
    }

    #[test]
    fn formats_are_told_apart_by_content() {
        let table = [
            ("{\"edges\": [{\"node1\": ", Some(Format::BatfishLayer1)),
            ("{\"edges\": []}", Some(Format::BatfishLayer1)),
            ("[{\"links\": [{\"compounded_links\"", Some(Format::NetqTopology)),
            ("name: a\ntopology:\n  nodes:\n", Some(Format::Containerlab)),
            ("{\"topology\": {\"nodes\": {}}}", Some(Format::Containerlab)),
            ("{\"PORT\": {\"Ethernet0\"", Some(Format::SonicConfig)),
            ("{\"BUFFER_PG|Ethernet0|3-4\": {}}", Some(Format::SonicConfig)),
            ("{\"BUFFER_PG_TABLE:Ethernet0:3\": {", Some(Format::SonicConfig)),
            ("# x\n 400000 40m 1 2 3 0\n", Some(Format::PgProfileLookup)),
            ("\u{feff}10000 5m 1", Some(Format::PgProfileLookup)),
            ("{\"10.0.0.0/8\": [{", Some(Format::FrrRoutes)),
            ("{\"red\": {\"10.0.0.0/8\": [", Some(Format::FrrRoutes)),
            ("{\"vrfId\": 0, \"routerId\": \"1.1.1.1\", \"rou", Some(Format::FrrBgp)),
            ("[{\"dst\": \"default\"", Some(Format::KernelRoutes)),
            ("[{\"type\": \"blackhole\", \"dst\": \"::/0\", \"flags\"", Some(Format::KernelRoutes)),
            ("[{\"Node\": \"a\", \"Network\": \"::/0\", \"Protocol\"", Some(Format::BatfishRoutes)),
            ("{\"ROUTE_TABLE:10.0.0.0/8\": {", Some(Format::SonicConfig)),
            ("{\"lldp\": {", Some(Format::LldpJson)),
            ("", None),
            ("{}", None),
            ("[1, 2]", None),
            ("topology.txt", None),
            ("Switch 8 \"S-00aa\"", None),
            ("3 2 1\n0 1\n", None),
        ];
        for (text, expected) in table {
            assert_eq!(recognise(text), expected, "{text}");
        }
    }
}
