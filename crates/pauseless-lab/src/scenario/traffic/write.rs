//! Sections of traffic as they are written out: the rule, not what it made.

use pauseless_fabric::topology::Topology;

use super::super::file::File;
use super::collective::{Collective, Pattern};
use super::open::{Arrivals, Incast, Poisson};
use super::pool::{Ends, Pool};
use super::{Kind, Traffic};

impl Traffic {
    /// Writes the section with every key.
    pub(crate) fn write(&self, file: &mut File, topology: &Topology) {
        file.section("[[traffic]]");
        if self.is_prefixed() {
            file.text("name", &self.name);
        }
        file.text("kind", self.kind.word());
        match &self.kind {
            Kind::Permutation | Kind::Closing => {
                if let Some(size) = self.wanted.terms.size {
                    file.quantity("size", size);
                }
            }
            Kind::Poisson(poisson) => write_poisson(poisson, file, topology),
            Kind::Incast(incast) => write_incast(incast, file, topology),
            Kind::ClosedLoop(chain) => {
                write_ends(&chain.ends, file, topology);
                file.quantity("think", chain.think);
                file.plain("parallel", chain.parallel);
                chain.sizes.write(file);
            }
            Kind::Collective(collective) => write_collective(collective, file),
            Kind::List(list) => {
                if let Some(size) = self.wanted.terms.size {
                    file.quantity("size", size);
                }
                list.write(file);
            }
        }
        self.wanted.write(file);
        self.classes.write(file);
    }
}

fn write_pool(pool: &Pool, key: &str, file: &mut File) {
    file.texts(key, pool.texts());
}

fn write_ends(ends: &Ends, file: &mut File, topology: &Topology) {
    write_pool(&ends.sources, "sources", file);
    write_pool(&ends.targets, "targets", file);
    file.plain("other_rack", ends.is_apart(topology));
}

fn write_poisson(poisson: &Poisson, file: &mut File, topology: &Topology) {
    file.quantity("load", poisson.load);
    write_ends(&poisson.ends, file, topology);
    match poisson.arrivals {
        Arrivals::Independent => file.text("arrivals", "independent"),
        Arrivals::Synchronous => file.text("arrivals", "synchronous"),
        Arrivals::FanIn(least, most) => file.plain("fan_in", format_args!("[{least}, {most}]")),
    }
    poisson.sizes.write(file);
}

fn write_incast(incast: &Incast, file: &mut File, topology: &Topology) {
    if let Some(degree) = incast.degree {
        file.plain("degree", degree);
    }
    match incast.is_one_target {
        true => {
            write_pool(&incast.ends.sources, "sources", file);
            for target in incast.ends.targets.texts() {
                file.text("target", &target);
            }
            file.plain("other_rack", incast.ends.is_apart(topology));
        }
        false => write_ends(&incast.ends, file, topology),
    }
    if let Some(interval) = incast.interval {
        file.quantity("interval", interval);
    }
    match (incast.repeat, incast.interval) {
        (Some(repeat), _) => file.plain("repeat", repeat),
        (None, None) => file.plain("repeat", 1),
        // Until the end, whenever that is.
        (None, Some(_)) => {}
    }
    incast.sizes.write(file);
}

fn write_collective(collective: &Collective, file: &mut File) {
    write_pool(&collective.hosts, "hosts", file);
    file.quantity("size", collective.size);
    match collective.pattern {
        Pattern::AllToAll { is_shifted: false } => file.text("rounds", "at once"),
        Pattern::AllToAll { is_shifted: true } => file.text("rounds", "shifted"),
        Pattern::Tree { chunks } => file.plain("chunks", chunks),
        Pattern::Ring => {}
    }
    file.plain("repeat", collective.repeat);
    file.quantity("gap", collective.gap);
}
