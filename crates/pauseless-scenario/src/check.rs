//! Reading a file for `check`: the fabric and who sends to whom are all that matters.

use pauseless_core::class_map::{ClassMap, LANE_COUNT};
use pauseless_core::id::Class;
use pauseless_fabric::dependency::{Demand, Lane, Traffic};
use toml::de::DeTable;

use super::flows::{Plan, Planner, Ways};
use super::lanes::Lossy;
use super::routes::Routing;
use super::routing::Addresses;
use super::{Aim, Overrides, Written, folder_of, parse_table};
use pauseless_fabric::fabric::{Evidence, Fabric, Origin};
use pauseless_text::problem::{Problems, Sink};
use pauseless_text::reader::Section;
use pauseless_text::source::Source;

/// The fabric of a TOML file.
pub(crate) fn read(source: &Source) -> Result<Fabric, Problems> {
    let refuse = |list| Problems::new(&source.file, &source.text, list);
    let table = parse_table(&source.text).map_err(refuse)?;
    read_table(source, table)
}

/// Reads the fabric of a text that has been parsed already.
pub(crate) fn read_table(source: &Source, table: DeTable<'_>) -> Result<Fabric, Problems> {
    let sink = Sink::default();
    let root = Section::root(&sink, table);
    let overrides = Overrides::default();
    let written = Written::read(root, &sink, &overrides, Aim::Check, folder_of(&source.file));
    let fabric = written.into_fabric(&source.file, &sink);
    match fabric {
        Some(fabric) if sink.is_empty() => Ok(fabric),
        _ => Err(Problems::new(&source.file, &source.text, sink.into_list())),
    }
}

impl Written {
    /// Holds everything against the fabric; `None` if something was reported.
    fn into_fabric(mut self, name: &str, sink: &Sink) -> Option<Fabric> {
        let fabric = self.fabric.take()?;
        let topology = &fabric.topology;
        let planner = Planner {
            fabric: &fabric,
            seed: self.general.seed.value,
            sink,
            until: None,
            ways: Ways::new(&self.routing, self.classes.as_ref()),
        };
        let plans = planner.plans(&self.flows).plans;
        let packets = self.check_only.packets.as_ref();
        let targets = packets.into_iter().flat_map(|packets| packets.value.targets());
        let targets = Vec::from_iter(targets.cloned());
        let rule = self.routing.rule();
        if rule.is_some() {
            for target in targets.iter().filter(|target| target.value.address > 1) {
                let problem = target.place.problem("with a rule, hosts have one address");
                sink.push(problem.help("further addresses need routing.kind = \"tables\""));
            }
        }
        let others = Vec::from_iter(targets.iter().map(|target| target.value));
        let builder = self.routing.builder(topology, others.iter().copied());
        let routing = planner.route(builder, &plans)?;
        let mut classes = self.class_map(topology, rule, sink);
        let lossy = Lossy::resolve(&self.check_only.lossy, topology, sink);
        if let Some(packets) = packets.filter(|_| !plans.is_empty()) {
            let problem = packets.place.problem("the flows of this file have classes already");
            sink.push(problem.help("remove [lanes], or the flows"));
        }
        if !sink.is_empty() {
            return None;
        }
        let (traffic, origin) = if plans.is_empty() {
            let addresses = Addresses::new(topology, self.routing.spans().chain(others));
            let traffic = self.check_only.traffic(&fabric, &addresses);
            let traffic = traffic.unwrap_or(Traffic::AllPairs(vec![Lane::ONLY]));
            (traffic, rule.map_or(Origin::Tables, Origin::Rule))
        } else {
            let demands = self.demands(&plans, &routing, &mut classes);
            (Traffic::Demands(demands), Origin::Flows)
        };
        let notes = self.congestion.notes(!plans.is_empty());
        self.check_only.notes.extend(notes);
        Some(Fabric {
            name: name.to_string(),
            medium: self.check_only.medium,
            names: fabric.names_left(),
            routes: routing.routes,
            origin,
            classes,
            traffic,
            lossy,
            notes: self.check_only.notes,
            evidence: Evidence::default(),
            topology: fabric.topology,
        })
    }
}

impl Written {
    /// The packets of all flows, and the acknowledgements and notifications of their targets.
    pub(crate) fn demands(
        &self,
        plans: &[Plan],
        routing: &Routing,
        classes: &mut ClassMap,
    ) -> Vec<Demand> {
        let mut demands = demands(plans, routing);
        demands.extend(self.answers(plans, routing, classes));
        demands.sort_unstable();
        demands.dedup();
        demands
    }

    /// The acknowledgements and notifications of the targets, which are traffic as well.
    fn answers(&self, plans: &[Plan], routing: &Routing, classes: &mut ClassMap) -> Vec<Demand> {
        if !self.congestion.are_targets_answering() {
            return Vec::new();
        }
        // Without [switch] flows may have any class, and the own one is one that none has.
        let mut switches = self.switches.clone();
        let taken = plans.iter().map(|plan| plan.terms.lane());
        let taken = taken.fold(0, |taken, lane| taken | classes.reachable(lane.label, lane.class));
        let is_free = |class: &u8| taken & 1 << class == 0;
        let free = (switches.class_count..LANE_COUNT as u8).find(is_free);
        switches.class_count = free.unwrap_or(switches.class_count);
        if self.congestion.has_own_class() {
            classes.keep(Class(switches.class_count));
        }
        let answer = |(number, plan): (usize, &Plan)| {
            let lane = if self.congestion.has_own_class() {
                let class = self.congestion.class(&switches, plan);
                let label = class.0;
                Lane { label, class }
            } else {
                plan.terms.lane()
            };
            Demand { group: routing.return_group(number, plan), lane, source: plan.target }
        };
        plans.iter().enumerate().filter(|(_, plan)| plan.terms.is_controlled).map(answer).collect()
    }
}

/// What the flows send.
fn demands(plans: &[Plan], routing: &Routing) -> Vec<Demand> {
    let demands = plans.iter().zip(&routing.groups).filter_map(|(plan, group)| {
        Some(Demand { group: (*group)?, lane: plan.terms.lane(), source: plan.source })
    });
    demands.collect()
}
