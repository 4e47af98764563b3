//! A plan put into practice: as what a simulation takes, and as sections of a scenario.

use std::collections::BTreeMap;

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Bytes, Span};
use pauseless_sim::config::{Ingress, IngressTable};

use super::headroom::Reaction;
use super::{Plan, PlanError, Request, Scheme, Set, plan};
use pauseless_fabric::fabric::Fabric;
use pauseless_scenario::switch::{self, Switch};
use pauseless_scenario::{chosen, flow_control};
use pauseless_text::declare::{Entry, Filled, Key, Place};
use pauseless_text::file::File;

/// A plan for a network in which, as in a simulation, all ports have the same number of classes and
/// take equally long to obey.
pub struct Applied {
    plan: Plan,
    class_count: u8,
    processing: Span,
}

impl Applied {
    /// Plans again with the most classes and the longest reaction of `first`.
    pub fn new(fabric: &Fabric, first: &Plan) -> Result<Applied, PlanError> {
        let class_count = first.classes_max().min(Class::COUNT_MAX as u8);
        let processing = first.reaction_max();
        let request = Request {
            classes: Some(class_count),
            reaction: Reaction::Fixed(processing),
            ..first.request.clone()
        };
        Ok(Applied { plan: plan(fabric, &request)?, class_count, processing })
    }

    /// t_r of the simulation.
    pub fn processing(&self) -> Span {
        self.processing
    }

    /// The plan that is applied.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Buffers and thresholds of every ingress; `None` if the scheme does not fit. A host has what
    /// the switch port at the other end of its link has.
    pub fn ingress(&self, fabric: &Fabric, scheme: Scheme) -> Option<IngressTable> {
        let topology = &fabric.topology;
        let sets = self.sets(fabric, scheme)?;
        let none = Ingress { control: FlowControl::None, buffer: Bytes::ZERO };
        let count = usize::from(self.class_count);
        let mut table = IngressTable::uniform(topology, count, none);
        for ((node, port), set) in sets {
            for class in (0..self.class_count).map(Class) {
                *table.get_mut(node, port, class) = set.ingress;
            }
        }
        Some(table)
    }

    /// The set of every port of switches and hosts.
    fn sets(&self, fabric: &Fabric, scheme: Scheme) -> Option<BTreeMap<(NodeId, PortId), Set>> {
        if !self.plan.fits(scheme) {
            return None;
        }
        let topology = &fabric.topology;
        let mut sets = BTreeMap::new();
        for switch in &self.plan.switches {
            for (port, set) in switch.ports.iter().zip(&switch.scheme(scheme).sets) {
                for &(node, number) in &port.members {
                    sets.insert((node, number), *set);
                    let far = topology.port(node, number);
                    if topology.is_host(far.peer) {
                        sets.insert((far.peer, far.peer_port), *set);
                    }
                }
            }
        }
        Some(sets)
    }

    /// `[switch]` and `[flow_control]` of a scenario; `None` if the scheme does not fit.
    pub fn sections(&self, fabric: &Fabric, scheme: Scheme) -> Option<String> {
        let sets = self.sets(fabric, scheme)?;
        let mut groups: Vec<(Set, Vec<String>)> = Vec::new();
        for ((node, port), set) in sets {
            let name = fabric.topology.port_name(node, port);
            match groups.iter_mut().find(|(known, _)| *known == set) {
                Some((_, names)) => names.push(name),
                None => groups.push((set, vec![name])),
            }
        }
        let mut file = File::default();
        let Request { mtu, rate, wire, .. } = &self.plan.request;
        file.line(format_args!(
            "# From `pauseless plan` for {}: sections for `pauseless run`.",
            self.plan.fabric.escape_debug()
        ));
        file.line(format_args!(
            "# They hold for mtu = \"{} B\" at the top of the scenario{}{}.",
            mtu.get(),
            match rate {
                Some(rate) => format!(" and rate = \"{} bps\" of every link", rate.as_bps()),
                None => String::new(),
            },
            match wire {
                Some(wire) => format!(" and delay = \"{} ps\" of every link", wire.as_ps()),
                None => String::new(),
            }
        ));
        groups.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        let (common, others) = groups.split_first()?;
        // With a place, these are written even where they are the default: the thresholds hold for them.
        let place = Place::new("the plan", 0..0);
        let switch = Switch {
            buffer: Key::of(common.0.ingress.buffer),
            classes: Filled::at(self.class_count, &place),
            processing: Filled::at(self.processing, &place),
            ..Switch::default()
        };
        file.table(switch::SECTION, &chosen(&switch));
        let kind = Entry::text(flow_control::schemes().key, scheme.name());
        let thresholds = flow_control::thresholds(&common.0.ingress.control);
        file.table(flow_control::SECTION, &(vec![kind], thresholds));
        for (set, names) in others {
            flow_control::write_thresholds(&mut file, names, &set.ingress);
        }
        Some(file.text)
    }
}
