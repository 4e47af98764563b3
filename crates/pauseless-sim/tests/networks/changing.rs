//! What happens at random to a network during a run.

use std::sync::Arc;

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::{Span, Time};
use pauseless_fabric::routing::{Multipath, RouteBuilder};
use pauseless_fabric::topology::LinkIndex;
use pauseless_sim::Config;
use pauseless_sim::change::{Change, NewTable, Noise, What};
use pauseless_sim::rng::{Purpose, Stream};

/// Lets so many things happen before `until`, all drawn from `seed`: links and switches fail and mostly
/// return, switches change their tables to worse ones and back. Nobody forgets where hosts are.
pub fn change_at_random(config: &mut Config, seed: u64, count: u64, until: Span) {
    let mut random = Stream::new(seed, Purpose::Workload, 3_000);
    let mut list = Vec::new();
    for event in 0..count as u32 {
        // Not at instants of anything else, but sometimes several at once.
        let time = Time::from_ps(until.as_ps() / 16 * (1 + random.below(15)) + 7);
        let back = time + Span::ns(1 + random.below(until.as_ps() / 2_000));
        let is_back = random.below(4) > 0;
        let mut push = |time, what| list.push(Change { time, event, what });
        match random.below(6) {
            0..3 => {
                let link = LinkIndex(random.below(config.topology.links().len() as u64) as u32);
                let (node, port) = end_of(config, link);
                push(time, What::LinkDown(node, port));
                if is_back {
                    push(back, What::LinkUp(node, port));
                }
            }
            3 => {
                let switches = config.topology.switches();
                let node = switches[random.below(switches.len() as u64) as usize];
                push(time, What::SwitchDown(node));
                push(time, What::Table(node, NewTable::Nothing));
                if is_back {
                    push(back, What::SwitchUp(node));
                    push(back + Span::us(random.below(20)), What::Table(node, NewTable::First));
                }
            }
            _ => {
                let (node, table) = worse_table(config, &mut random);
                push(time, What::Table(node, table));
                if is_back {
                    push(back, What::Table(node, NewTable::First));
                }
            }
        }
    }
    list.sort_by_key(|change| change.time);
    config.changes.list = list;
}

/// Lets every switch forward the packets for each host by a random set of ports, of which the hash of a
/// flow chooses one: flows may run in circles, and some switches may have no way at all.
pub fn allow_any_ports(config: &mut Config, seed: u64) {
    let mut random = Stream::new(seed, Purpose::Workload, 4_000);
    let topology = &config.topology;
    let mut routes = RouteBuilder::new(topology, Multipath::Ecmp).build();
    for (host, switch) in topology
        .hosts()
        .iter()
        .flat_map(|host| topology.switches().iter().map(move |switch| (*host, *switch)))
    {
        let group = routes.groups.of_host(host);
        let is_home = topology.ports(switch).iter().any(|port| port.peer == host);
        if is_home || random.below(3) == 0 {
            continue;
        }
        let ports = (0..topology.ports(switch).len() as u16).map(PortId);
        let trunks = ports.filter(|port| !topology.is_host(topology.port(switch, *port).peer));
        let allowed = Vec::from_iter(trunks.filter(|_| random.below(2) == 0));
        routes.table.set(switch, group, &allowed);
    }
    for flow in &mut config.flows {
        flow.group = routes.groups.of_host(flow.target);
    }
    config.table = routes.table;
}

/// Lets a link lose data, feedback and control frames from `time` on.
pub fn make_noise(config: &mut Config, time: Time, noise: Noise) {
    for link in 0..config.topology.links().len() as u32 {
        let (node, port) = end_of(config, LinkIndex(link));
        let what = What::Noise(node, port, noise);
        config.changes.list.push(Change { time, event: 0, what });
    }
    config.changes.list.sort_by_key(|change| change.time);
}

fn end_of(config: &Config, link: LinkIndex) -> (NodeId, PortId) {
    let node = config.topology.links()[link.0 as usize].a;
    let ports = (0..).zip(config.topology.ports(node));
    let mut ports = ports.filter(|(_, port)| port.link == link);
    (node, PortId(ports.next().expect("a link has an end").0))
}

/// A table in which one switch sends some flows by any port, or by none.
fn worse_table(config: &mut Config, random: &mut Stream) -> (NodeId, NewTable) {
    let switches = config.topology.switches();
    let node = switches[random.below(switches.len() as u64) as usize];
    let ports = config.topology.ports(node).len() as u64;
    let mut table = config.table.clone();
    for flow in &config.flows {
        if random.below(2) == 0 {
            let port = PortId(random.below(ports) as u16);
            let towards = config.topology.port(node, port).peer;
            let is_lost = config.topology.is_host(towards) || random.below(8) == 0;
            table.set(node, flow.group, if is_lost { &[] } else { std::slice::from_ref(&port) });
        }
    }
    config.changes.tables.push(Arc::new(table));
    (node, NewTable::Other(config.changes.tables.len() as u32 - 1))
}
