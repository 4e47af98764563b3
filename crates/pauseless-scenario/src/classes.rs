//! The section `[classes]`: how the class of a packet changes from hop to hop.

mod write;

use std::collections::BTreeSet;

use pauseless_core::class_map::{self, Beyond, ClassMap, ClassTable, Hops, LANE_COUNT, Passage};
use pauseless_core::id::{Class, NodeId, PortId};
pub use pauseless_fabric::dependency::Lane;
use pauseless_fabric::routing::{Algorithm, Routing, port_counts};
use pauseless_fabric::topology::Topology;

use super::flows::Plan;
use super::hosts::find_switch;
use pauseless_text::declare::{
    At, Choice, File, FileValue, Fills, Info, Item, Kind, LongList, Place, Section, Tables, Variant,
};
use pauseless_text::problem::Sink;
use pauseless_text::section;
use pauseless_text::variant;

/// The name of the section.
pub(crate) const NAME: &str = "classes";

/// `[classes]` as it was written.
#[derive(Clone, Debug)]
pub enum ClassRule {
    Same,
    Hops(Hops),
    Dateline,
    Table(TableKeys),
}

section! {
    /// One higher after every `width` switches, as TTL-based buffer management does; the link to its
    /// target needs no further class. Packets that enter in a class from `count` on stay there. See
    /// [ttl.md](ttl.md).
    pub struct HopKeys for Hops = Hops { count: 1, width: 1, beyond: Beyond::Drop }, {
        /// How many classes count hops; in a run `[switch]` must have as many.
        count: u8, within 1..=LANE_COUNT as u64, required "4, the number of classes";
        /// The number of switches that hold a packet in each class.
        width: u8, within 1..=u64::from(Hops::WIDTH_MAX);
        /// What becomes of packets after the last class; they are dropped, or `"stay"` in it.
        last: Beyond, field beyond;
    }
}

section! {
    /// By tables of the switches. Later rows win, and a packet whose way has no row stays in its class.
    pub struct TableKeys {
        /// What a row is indexed by; the class in which a packet came, or with `"label"` what it carries
        /// all the way, such as the service level of InfiniBand.
        key: class_map::Key, required "\"label\" or key = \"class\"";
        /// The next classes on some ways through switches.
        row: Tables<Row>;
    }
}

section! {
    /// The next classes on some ways through switches.
    pub struct Row {
        /// The next class for the index 0, 1 and so on, or `"drop"`; an index behind the end of the list
        /// gives the class of its own number.
        classes: NextClasses, required "[0, 1, \"drop\"]";
        /// The ways through switches that have this row; `"S1: S2 > S3"` is from S2 through S1 to S3.
        /// Several neighbours may stand on each side, and `*` stands for all of them, or for all
        /// switches.
        passages: LongList<String>, within "a list of strings", required "[\"S1: S2 > S3\"]";
    }
}

/// All kinds, in the order of the documents.
pub fn kinds() -> Choice<ClassRule> {
    Choice { key: "kind", default: None, variants: KINDS.iter().collect() }
}

static KINDS: [Variant<ClassRule>; 4] = [
    variant!("same": ClassRule::Same, "Packets stay in their class, as without this section."),
    Variant {
        name: "hops",
        info: HopKeys::info,
        read: |section| {
            let mut hops = HopKeys::base();
            HopKeys::fill(section, &mut hops);
            Some(ClassRule::Hops(hops))
        },
        keys_of: |rule| match rule {
            ClassRule::Hops(hops) => Some(Box::new(HopKeys::of(hops))),
            _ => None,
        },
    },
    variant!(
        "dateline": ClassRule::Dateline,
        "Class 1 from the link that closes a ring, class 0 again along the next dimension; only with \
         `routing.kind = \"dimension-order\"`."
    ),
    variant!("table": ClassRule::Table[TableKeys]),
];

/// The whole section, for documents and schemas.
pub(crate) fn info() -> Info {
    let about = "How the class of a packet changes from hop to hop; InfiniBand calls classes virtual \
                 lanes, Ethernet priorities. Without this section packets stay in theirs.";
    Info { variants: Some(kinds().describe()), ..Info::without_keys(about) }
}

/// The rule, and where it was written.
#[derive(Clone, Debug)]
pub struct Classes {
    pub rule: ClassRule,
    /// The place at which the kind was written.
    pub kind: Place,
    /// The place at which the section begins.
    pub place: Place,
}

impl Classes {
    /// Reads `[classes]`, if it is there.
    pub(crate) fn read(root: &mut Section<'_>) -> Option<Classes> {
        let mut section = root.table(NAME)?;
        let place = section.place.clone();
        let kind = kinds().take(&mut section)?;
        let rule = (kind.value.read)(&mut section);
        section.finish();
        Some(Classes { rule: rule?, kind: kind.place, place })
    }

    /// How classes change in a fabric.
    pub(crate) fn resolve(
        &self,
        topology: &Topology,
        routing: Option<Routing>,
        sink: &Sink,
    ) -> ClassMap {
        match &self.rule {
            ClassRule::Same => ClassMap::Same,
            ClassRule::Hops(hops) => ClassMap::Hops(*hops),
            ClassRule::Dateline => match routing.map(|routing| routing.algorithm) {
                Some(Algorithm::DimensionOrder(dimensions)) => {
                    dimensions.dateline_classes(topology)
                }
                _ => {
                    let message = "only routing by dimensions has datelines";
                    let help = "set routing.kind = \"dimension-order\"";
                    sink.push(self.kind.problem(message).help(help));
                    ClassMap::Same
                }
            },
            ClassRule::Table(keys) => keys.resolve(topology, sink),
        }
    }
}

impl ClassRule {
    /// Writes `[classes]`, unless packets stay in theirs.
    pub(crate) fn write(&self, file: &mut File) {
        if !matches!(self, ClassRule::Same) {
            file.table(NAME, &kinds().entries(self));
        }
    }
}

impl TableKeys {
    fn resolve(&self, topology: &Topology, sink: &Sink) -> ClassMap {
        let key = self.key.or(class_map::Key::Class);
        let mut table = ClassTable::new(key, port_counts(topology));
        for row in self.row.get().into_iter().flat_map(|rows| &rows.0) {
            let Some((classes, passages)) = row.classes.get().zip(row.passages.get()) else {
                continue;
            };
            for text in &passages.0 {
                let passages = Passages { topology, sink };
                passages.read(text, |passage| table.set(passage, classes.0));
            }
        }
        ClassMap::Table(table)
    }
}

/// The next class by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NextClasses([u8; LANE_COUNT]);

impl NextClasses {
    /// Every class stays itself.
    const IDENTITY: NextClasses = {
        let mut row = [0; LANE_COUNT];
        let mut class = 0;
        while class < LANE_COUNT {
            row[class] = class as u8;
            class += 1;
        }
        NextClasses(row)
    };
}

impl FileValue for NextClasses {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<NextClasses>> {
        let sink = item.sink();
        let At { value: list, place } = item.list("a list")?;
        let count = list.len();
        if count > LANE_COUNT {
            let problem = place.problem(format!("{count} classes stand here"));
            sink.push(problem.expected(format!("at most {LANE_COUNT}")));
            return None;
        }
        let mut value = NextClasses::IDENTITY;
        for (class, item) in value.0.iter_mut().zip(list) {
            if item.is_string() && !item.is_text("drop") {
                let text = item.string()?;
                let problem = text.place.problem(format!("{:?} is no class", text.value));
                let highest = LANE_COUNT - 1;
                let expected = format!("a whole number from 0 to {highest}, or \"drop\"");
                sink.push(problem.expected(expected));
                return None;
            }
            *class = if item.is_string() {
                ClassTable::DROP
            } else {
                item.integer(0..=LANE_COUNT as u64 - 1)?.value as u8
            };
        }
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        let class = Kind::Integer { low: 0, high: LANE_COUNT as u64 - 1 };
        Kind::List {
            of: Box::new(Kind::Either(vec![class, Kind::Word(vec!["drop"])])),
            least: 0,
            most: Some(LANE_COUNT),
        }
    }

    /// The classes as a list; behind the last that changes, nothing is written.
    fn show(&self) -> String {
        let changed = self.0.iter().zip(NextClasses::IDENTITY.0).rposition(|(a, b)| *a != b);
        let words = self.0[..changed.map_or(LANE_COUNT, |last| last + 1)].iter();
        let words = words.map(|class| match *class {
            ClassTable::DROP => "\"drop\"".to_string(),
            class => class.to_string(),
        });
        format!("[{}]", Vec::from_iter(words).join(", "))
    }
}

/// Reports flows that can get into a class that the switches do not have.
pub(crate) fn check_count(
    map: &ClassMap,
    place: &Place,
    plans: &[Plan],
    class_count: u8,
    sink: &Sink,
) {
    let lanes = BTreeSet::from_iter(plans.iter().map(|plan| plan.terms.lane()));
    let reach = |lane: &Lane| map.reachable(lane.label, lane.class);
    let reached = lanes.iter().fold(0, |reached, lane| reached | reach(lane));
    let needed = u16::BITS - reached.leading_zeros();
    if needed > u32::from(class_count) {
        let problem = place.problem(format!("flows get into class {} by this", needed - 1));
        let problem =
            problem.expected(format!("classes below {class_count}, as the switches have"));
        sink.push(if needed as usize <= Class::COUNT_MAX {
            problem.help(format!("write switch.classes = {needed}"))
        } else {
            problem.help(format!("a run has at most {} classes", Class::COUNT_MAX))
        });
    }
    if let ClassMap::Hops(hops) = map
        && let Some(plan) = plans.iter().find(|plan| plan.terms.class >= hops.count)
    {
        let problem = plan.place.problem(format!("class {} counts no hops", plan.terms.class));
        sink.push(
            problem.expected(format!("a class below {}, which is classes.count", hops.count)),
        );
    }
}

/// Reads texts such as `S1: S2 > S3`.
struct Passages<'p> {
    topology: &'p Topology,
    sink: &'p Sink,
}

impl Passages<'_> {
    fn read(&self, text: &At<String>, mut found: impl FnMut(Passage)) {
        let parts = text.value.split_once(':').and_then(|(switch, way)| {
            let (ingress, egress) = way.split_once('>')?;
            Some((switch.trim(), ingress, egress))
        });
        let Some((switch, ingress, egress)) = parts else {
            let message = format!("{:?} is no way through a switch", text.value);
            let problem = text.place.problem(message);
            self.sink.push(problem.expected("SWITCH: FROM > TO, with * for all"));
            return;
        };
        let switches = match switch {
            "*" => self.topology.switches().to_vec(),
            name => {
                let name = At { value: name.to_string(), place: text.place.clone() };
                match find_switch(self.topology, self.sink, &name) {
                    Some(switch) => vec![switch],
                    None => return,
                }
            }
        };
        for node in switches {
            let ingress = self.ports(text, node, ingress);
            let Some((ingress, egress)) = ingress.zip(self.ports(text, node, egress)) else {
                return;
            };
            for &ingress in &ingress {
                for &egress in &egress {
                    found(Passage { node, ingress, egress });
                }
            }
        }
    }

    /// The ports of `node` towards the neighbours that `names` lists.
    fn ports(&self, text: &At<String>, node: NodeId, names: &str) -> Option<Vec<PortId>> {
        let all = (0..self.topology.ports(node).len()).map(|port| PortId(port as u16));
        let mut ports = Vec::new();
        for name in names.split_whitespace() {
            if name == "*" {
                ports.extend(all.clone());
                continue;
            }
            let name = format!("{}:{name}", self.topology.node(node).name);
            match self.topology.port_named(&name) {
                Ok((_, port)) => ports.push(port),
                Err(error) => {
                    self.sink.push(text.place.problem(error.to_string()));
                    return None;
                }
            }
        }
        if ports.is_empty() {
            let problem = text.place.problem("no neighbour stands on one side of the >");
            self.sink.push(problem.help("write * for all neighbours"));
            return None;
        }
        Some(ports)
    }
}
