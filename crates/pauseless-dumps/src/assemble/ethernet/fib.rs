//! The routes of one switch, looked up by the longest prefix.

use std::collections::HashMap;
use std::net::IpAddr;

use super::running::Table;
use crate::import::ethernet::routes::{NextHop, Prefix, Route, Target};
use pauseless_text::problem::{Problem, Problems};
use pauseless_text::source::Source;

/// All routes of a switch, from one file or several.
#[derive(Default)]
pub(super) struct Fib<'d, 's> {
    routes: HashMap<Prefix, Known<'d, 's>>,
    /// The lengths that occur, the longest first.
    lengths: Vec<u8>,
}

/// A route with its file.
#[derive(Clone, Copy)]
pub(super) struct Known<'d, 's> {
    pub route: &'d Route,
    pub source: &'s Source,
}

impl<'d, 's> Fib<'d, 's> {
    /// Puts the tables of a switch together, which must agree. Routes by interfaces that `is_out`
    /// names, such as those for management, are left out.
    pub fn new(
        name: &str,
        tables: &[Table<'d, 's>],
        is_out: impl Fn(&str) -> bool,
    ) -> Result<Fib<'d, 's>, Problems> {
        let mut fib = Fib::default();
        for Table { table, source } in tables {
            for route in table.routes.iter().filter(|route| !is_left_out(route, &is_out)) {
                match fib.routes.get_mut(&route.prefix) {
                    None => {
                        fib.routes.insert(route.prefix, Known { route, source });
                    }
                    Some(known) if agree(&known.route.target, &route.target) => {
                        if matches!(known.route.target, Target::Connected(None) | Target::Local) {
                            *known = Known { route, source };
                        }
                    }
                    Some(known) => {
                        let (prefix, file) = (route.prefix, &known.source.file);
                        let message =
                            format!("switch \"{name}\" sends {prefix} elsewhere in {file}");
                        let help = "take the routes of all switches at the same time, and each \
                                    switch's once; is one of the files old, or of another switch?";
                        let problem = Problem::new(route.at.clone(), message);
                        let problem = problem.expected("the same next hops");
                        return Err(source.refuse(problem.help(help)));
                    }
                }
            }
        }
        fib.lengths = fib.routes.keys().map(|prefix| prefix.length()).collect();
        fib.lengths.sort_unstable_by(|a, b| b.cmp(a));
        fib.lengths.dedup();
        Ok(fib)
    }

    /// The route that packets for all of `prefix` follow, but for what longer ones take.
    pub fn lookup(&self, prefix: Prefix) -> Option<Known<'d, 's>> {
        let lengths = self.lengths.iter().filter(|length| **length <= prefix.length());
        let mut routes = lengths.filter_map(|length| self.routes.get(&prefix.shortened(*length)));
        routes.next().copied()
    }

    /// The route to an address.
    pub fn lookup_address(&self, address: IpAddr) -> Option<Known<'d, 's>> {
        self.lookup(Prefix::single(address))
    }

    /// All routes, in no order.
    pub fn routes(&self) -> impl Iterator<Item = Known<'d, 's>> + '_ {
        self.routes.values().copied()
    }
}

/// Management has interfaces of its own, and link-local addresses go nowhere.
fn is_left_out(route: &Route, is_out: impl Fn(&str) -> bool) -> bool {
    let leads_out = match &route.target {
        Target::Connected(Some(interface)) => is_out(interface),
        Target::Hops(hops) => hops.iter().all(|hop| hop.interface.as_deref().is_some_and(&is_out)),
        _ => false,
    };
    leads_out || route.prefix.is_local()
}

/// Whether two files say the same of a prefix, as far as both say it.
fn agree(one: &Target, other: &Target) -> bool {
    match (one, other) {
        (Target::Hops(one), Target::Hops(other)) => {
            let addresses = |hops: &[NextHop]| {
                let mut all = Vec::from_iter(hops.iter().filter_map(|hop| hop.address));
                all.sort_unstable();
                all.dedup();
                all
            };
            let (one, other) = (addresses(one), addresses(other));
            one.is_empty() || other.is_empty() || one == other
        }
        (Target::Discard, Target::Discard) => true,
        (Target::Discard, Target::Hops(_)) | (Target::Hops(_), Target::Discard) => false,
        _ => true,
    }
}
