//! Any network as a fabric, from its links and the paths that its packets take.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::NodeId;
use thiserror::Error;

use super::{Evidence, Fabric, Medium, Names, Origin};
use crate::builder::{TopologyBuilder, TopologyError};
use crate::dependency::{Demand, Lane, Lossy, Traffic};
use crate::path::PathError;
use crate::routing::{Multipath, RouteBuilder, TieBreak};
use crate::topology::{LinkSpec, Topology};

impl Fabric {
    /// A fabric from its links and the paths that its packets take, both by the names of nodes.
    ///
    /// The ends of paths are hosts, which have one link each; all other nodes are switches. Packets
    /// take these paths and no others, in one class. Of parallel links, paths take the first. The
    /// medium is InfiniBand's, whose links have credits, as those of PCIe, NVLink and networks on
    /// chip have; set [`Fabric::medium`] for PFC.
    ///
    /// # Errors
    /// The first link or path that cannot be.
    pub fn from_paths<S: AsRef<str>, P: AsRef<[S]>>(
        links: &[[S; 2]],
        spec: LinkSpec,
        paths: &[P],
    ) -> Result<Fabric, GraphError> {
        let ends = paths.iter().flat_map(|path| {
            let path = path.as_ref();
            path.first().into_iter().chain(path.last()).map(S::as_ref)
        });
        let topology = topology(links, spec, &ends.collect())?;
        let rule = Multipath::Single { tie_break: TieBreak::Lowest };
        let mut routes = RouteBuilder::new(&topology, rule);
        let mut demands = Vec::new();
        for (path, number) in paths.iter().zip(1..) {
            let nodes = Vec::from_iter(path.as_ref().iter().map(|name| {
                let name = name.as_ref();
                let unknown = || GraphError::UnknownNode { number, name: name.to_string() };
                topology.node_named(name).ok_or_else(unknown)
            }));
            let nodes = nodes.into_iter().collect::<Result<Vec<NodeId>, GraphError>>()?;
            let group =
                routes.add_path(&nodes).map_err(|error| GraphError::Path { number, error })?;
            demands.push(Demand { group, lane: Lane::ONLY, source: nodes[0] });
        }
        Ok(Fabric {
            name: format!("{} links and {} paths", links.len(), paths.len()),
            medium: Medium::InfiniBand,
            names: Names::default(),
            routes: routes.build(),
            origin: Origin::Flows,
            classes: ClassMap::Same,
            traffic: Traffic::Demands(demands),
            lossy: Lossy::nothing(),
            notes: Vec::new(),
            evidence: Evidence::default(),
            topology,
        })
    }
}

/// The nodes in the order in which links name them.
fn topology<S: AsRef<str>>(
    links: &[[S; 2]],
    spec: LinkSpec,
    hosts: &BTreeSet<&str>,
) -> Result<Topology, TopologyError> {
    let mut builder = TopologyBuilder::new();
    let mut nodes: BTreeMap<&str, NodeId> = BTreeMap::new();
    for link in links {
        let [a, b] = link.each_ref().map(|name| {
            let name = name.as_ref();
            *nodes.entry(name).or_insert_with(|| {
                let is_host = hosts.contains(name);
                if is_host { builder.add_host(name) } else { builder.add_switch(name) }
            })
        });
        builder.connect(a, b, spec);
    }
    builder.build()
}

/// Why links and paths do not make a fabric.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each message names the fields of its variant")]
pub enum GraphError {
    /// The links do not make a topology.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A path names a node that has no link.
    #[error("path number {number} has {name:?} in it, which no link joins to anything")]
    UnknownNode { number: usize, name: String },
    /// A path that no packet can take.
    #[error("path number {number}: {error}")]
    Path { number: usize, error: PathError },
}

#[cfg(test)]
mod tests {
    use pauseless_core::unit::{Rate, Span};

    use super::*;

    const SPEC: LinkSpec = LinkSpec { rate: Rate::gbps(100), delay: Span::ns(1) };
    const LINKS: [[&str; 2]; 3] = [["A", "S"], ["S", "T"], ["T", "B"]];

    #[test]
    fn ends_of_paths_are_hosts_and_every_path_is_a_demand() {
        let fabric = Fabric::from_paths(&LINKS, SPEC, &[["A", "S", "T", "B"]]).expect("a fabric");
        let name = |node: &NodeId| fabric.topology.node(*node).name.clone();
        let hosts = Vec::from_iter(fabric.topology.hosts().iter().map(name));
        assert_eq!(hosts, ["A", "B"]);
        assert!(matches!(&fabric.traffic, Traffic::Demands(demands) if demands.len() == 1));
    }

    #[test]
    fn what_cannot_be_is_named_with_the_number_of_its_path() {
        let refuse = |paths: &[&[&str]]| {
            Fabric::from_paths(&LINKS, SPEC, paths).expect_err("wrong").to_string()
        };
        let wrong = refuse(&[&["A", "S", "T", "B"], &["A", "X", "B"]]);
        assert_eq!(wrong, "path number 2 has \"X\" in it, which no link joins to anything");
        let wrong = refuse(&[&["A", "T", "B"]]);
        assert!(wrong.starts_with("path number 1: the path goes from A to T, but"), "{wrong}");
        let wrong = refuse(&[&["A"]]);
        assert!(wrong.contains("the path has 1 nodes"), "{wrong}");
    }
}
