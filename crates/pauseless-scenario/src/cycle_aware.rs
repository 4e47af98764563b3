//! `cycle_aware = true` in `[flow_control]`: other thresholds where the flows of the scenario can
//! make buffers wait for each other in a circle.

use std::collections::BTreeMap;

use pauseless_core::class_map::ClassMap;
use pauseless_core::switch::Discipline;
use pauseless_fabric::dependency::{Buffer, Checker, Lossy, Network, Traffic};

use super::Written;
use super::flow_control::Resolved;
use super::flows::{Planner, Ways};
use super::port_group::PortGroup;
use super::topology::BuiltTopology;
use pauseless_fabric::cycle_aware::{Role, Roles, late, tune};
use pauseless_text::problem::Sink;
use pauseless_text::quantity::plural;

impl Written {
    /// Other thresholds on and before the cycles that the flows of the file, or any that its
    /// traffic could draw, can make.
    pub(super) fn apply_cycle_aware(
        &self,
        fabric: &BuiltTopology,
        control: &mut Resolved,
        mut classes: ClassMap,
        margin: f64,
    ) -> Option<()> {
        let sink = Sink::default();
        let planner = Planner {
            fabric,
            seed: self.general.seed.value,
            sink: &sink,
            until: None,
            ways: Ways::new(&self.routing, self.classes.as_ref()),
        };
        let plans = planner.plans(&self.flows).plans;
        let builder = self.routing.builder(&fabric.topology, []);
        let routing = planner.route(builder, &plans)?;
        let demands = self.demands(&plans, &routing, &mut classes);
        let network = Network {
            topology: &fabric.topology,
            routes: &routing.routes,
            classes: &classes,
            traffic: &Traffic::Demands(demands),
            lossy: &Lossy::nothing(),
        };
        apply(control, network, margin);
        if self.switches.discipline != Discipline::OutputQueued {
            control.warnings.push(format!(
                "cycle_aware: the argument is about output queues; in {} switches thresholds do not \
                 decide who is served (docs/cycle-aware.md)",
                self.switches.discipline.name()
            ));
        }
        Some(())
    }
}

/// Gives the ports on and before the cycles of `network` thresholds of their own.
fn apply(resolved: &mut Resolved, network: Network<'_>, margin: f64) {
    let left_out = vec![false; network.topology.nodes().len()];
    let mut checker = Checker::of(&network);
    let graph = checker.graph(network, &left_out);
    let roles = Roles::of(&checker.crossings(network, &graph, &left_out));
    let groups = std::mem::take(&mut resolved.groups);
    let mut homes: BTreeMap<Buffer, usize> = BTreeMap::new();
    for (number, group) in groups.iter().enumerate() {
        homes.extend(
            group.members.iter().map(|&(node, port, class)| (Buffer { node, port, class }, number)),
        );
    }
    let threshold = |buffer: Buffer| {
        let group = &groups[homes[&buffer]];
        late(&group.ingress.control, &group.derivation)
    };
    let mut short = 0;
    for group in &groups {
        for &(node, port, class) in &group.members {
            let member = (node, port, class);
            let mut one = PortGroup { members: vec![member], ..group.clone() };
            if let Some(Role::Feeding(joints)) = roles.roles.get(&Buffer { node, port, class }) {
                let room = roles.room(joints, margin, threshold);
                let tuned = tune(&group.ingress.control, &group.derivation, room);
                one.ingress.control = tuned.control;
                let bound = roles.room(joints, 1.0, threshold);
                short += usize::from(bound.is_some_and(|bound| tuned.most > bound));
            }
            match resolved.groups.iter_mut().find(|it| it.is_like(&one)) {
                Some(other) => other.members.push(member),
                None => resolved.groups.push(one),
            }
        }
    }
    for group in &mut resolved.groups {
        group.members.sort_unstable();
        for (node, port, class) in &group.members {
            *resolved.table.get_mut(*node, *port, *class) = group.ingress;
        }
    }
    resolved.groups.sort_by_key(|group| group.members[0]);
    resolved.warnings.extend(warnings(&roles, short));
}

/// What the argument for these thresholds does not cover.
fn warnings(roles: &Roles, short: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    let open = roles.components.iter().filter(|it| !it.is_covered()).count();
    if open > 0 {
        warnings.push(format!(
            "cycle_aware: {open} of {} groups of cycles share ports or have routing loops, so that the \
             thresholds are no guarantee there (docs/cycle-aware.md)",
            roles.components.len()
        ));
    }
    if short > 0 {
        warnings.push(format!(
            "cycle_aware: {} that feed a cycle cannot throttle early enough: the buffers on the cycle \
             are too small (pauseless plan --cycle-aware says what they need)",
            plural(short as u64, "port")
        ));
    }
    warnings
}
