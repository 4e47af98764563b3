//! The scenario, every value at the place of the user's files that it comes from.

use std::collections::BTreeSet;
use std::sync::Arc;

use pauseless_core::congestion::dcqcn::{Clamp, Style};
use pauseless_core::congestion::timely::Update;
use pauseless_core::memory::Alpha;
use pauseless_core::schedule::Scheduler;
use pauseless_core::transport::{Finish, GoBackN, Pacing, Recovery};
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::topology::NodeKind;

use super::super::flow::Flow;
use super::keys::{
    Balancing, Control, Dcqcn, Hpcc, LinkFailure, Marking, Settings, Timely, Window,
};
use super::{HEADERS, Parts, memory};
use pauseless_scenario::congestion::{self, FeedbackClass};
use pauseless_scenario::custom::{Custom, Link, Node};
use pauseless_scenario::events::{self, Converge};
use pauseless_scenario::flow_control::{self, Pfc};
use pauseless_scenario::flows::{self, Timing};
use pauseless_scenario::load_balancing::{self, DrillKeys, FlowletChoice, FlowletKeys};
use pauseless_scenario::memory::{
    Kind, Lane, LaneAt, LanePorts, Memory, SetAside, SharedMemory, SwitchMemory,
};
pub use pauseless_scenario::routing::{self, Rule};
use pauseless_scenario::switch::{self, Switch};
pub use pauseless_scenario::topology::{self, Layout, Network, Pair};
use pauseless_scenario::traffic::{self, FlowName, List, Listed, Named, Row, Rows};
pub use pauseless_scenario::transport::{self, WindowRule};
use pauseless_scenario::verdict::{self, Verdict};
use pauseless_scenario::{General, ScenarioFile, StopOn};
use pauseless_sim::balance;
use pauseless_text::declare::{At, Entry, Filled, Key, Place, Tables, WordOr, Written, list};
use pauseless_text::source::Source;

impl Parts<'_> {
    /// The whole scenario, section by section.
    pub(super) fn scenario(&self, sources: Arc<[Source]>) -> ScenarioFile {
        let comment = "Made from the files of an ns-3 simulator, as docs/hpcc.md says; sizes have headers in them.";
        let mut file = ScenarioFile::new(comment, sources);
        file.keys(&self.general());
        file.table(topology::NAME, &self.network().entries());
        file.table(routing::NAME, &Rule::Ecmp.entries());
        file.table(switch::SECTION, &self.switch());
        file.table(flow_control::SECTION, &self.flow_control());
        file.table(congestion::SECTION, &self.congestion());
        file.table(transport::SECTION, &self.transport());
        if let Some(balanced) = self.load_balancing() {
            file.one_of(load_balancing::SECTION, &balanced);
        }
        file.one_of(traffic::SECTION, &self.traffic());
        file.table(flows::TIMING, &self.timing());
        if let Some(failure) = self.settings.failure {
            file.one_of(events::EVENT, &self.failure(failure));
            // All routes are found anew in that instant, so that no switch is late.
            file.table(events::CONVERGE, &Converge::default());
        }
        file.table(
            verdict::SECTION,
            &Verdict {
                // What happens after the last flow has no part in any file.
                stop_on: Key::of(StopOn { done: true, ..StopOn::NONE }),
                ..Verdict::default()
            },
        );
        file
    }

    /// Where a key of the configuration stands.
    fn place(&self, key: &str) -> Place {
        let entry = self.config.entry(key);
        entry.map_or(Place::default(), |entry| entry.place())
    }

    /// A value that a key of the configuration says.
    fn key<T>(&self, key: &str, value: T) -> Key<T> {
        Key::at(value, &self.place(key))
    }

    /// Frame bytes of a full packet.
    fn packet(&self) -> u64 {
        self.settings.payload + self.overhead()
    }

    fn overhead(&self) -> u64 {
        HEADERS + self.settings.stamps()
    }

    fn general(&self) -> General {
        let Settings { seed, stop, .. } = *self.settings;
        let stop_key = if self.is_conweave { "FLOWGEN_STOP_TIME" } else { "SIMULATOR_STOP_TIME" };
        General {
            title: Key::of("imported from the files of an ns-3 simulator".to_string()),
            seed: Filled::at(seed, &self.place("RANDOM_SEED")),
            duration: self.key(stop_key, Span::ns(stop)),
            mtu: Filled::at(Bytes::new(self.packet()), &self.place("PACKET_PAYLOAD_SIZE")),
            ..General::default()
        }
    }

    fn timing(&self) -> Timing {
        Timing {
            start_jitter: Filled::new(Span::ZERO),
            wire_loss: Filled::at(self.settings.loss, &self.place("ERROR_RATE_PER_LINK")),
            ..Timing::default()
        }
    }

    fn failure(&self, failure: LinkFailure) -> Vec<Entry> {
        let [a, b] = failure.ends.map(|end| end.to_string());
        let at = self.key("LINK_DOWN", Span::ns(failure.at));
        events::link_down(at, self.key("LINK_DOWN", Pair::of([&a, &b])))
    }

    fn network(&self) -> Network {
        let topology = self.topology;
        let nodes = topology.is_switch.iter().enumerate().map(|(node, is_switch)| Node {
            name: Key::of(node.to_string()),
            kind: Key::of(if *is_switch { NodeKind::Switch } else { NodeKind::Host }),
            ..Node::default()
        });
        let links = topology.links.iter().map(|link| {
            let [a, b] = link.ends.map(|end| end.to_string());
            Link {
                between: Key::at(Pair::of([&a, &b]), &link.place),
                rate: Key::at(link.rate, &link.place),
                delay: Key::at(link.delay, &link.place),
                place: link.place.clone(),
                ..Link::default()
            }
        });
        let custom = Custom {
            node: Key::of(Tables(nodes.collect())),
            link: Key::of(Tables(links.collect())),
            ..Custom::default()
        };
        Network { common: topology::Common::default(), layout: Some(Layout::Custom(custom)) }
    }

    fn switch(&self) -> Switch {
        Switch {
            classes: Filled::new(self.groups().len() as u8),
            scheduler: Filled::new(Scheduler::RoundRobin { express: 0 }),
            processing: Filled::new(Span::ZERO),
            memory: self.memory().map_or(Key::default(), Key::of),
            ..Switch::default()
        }
    }

    /// The memory of every switch; `None` if there is none.
    fn memory(&self) -> Option<Memory> {
        let buffer = self.key("BUFFER_SIZE", Bytes::new(self.settings.buffer));
        let whole = SwitchMemory {
            total: buffer.clone(),
            set_aside: Filled::new(SetAside::PerPort),
            ..SwitchMemory::default()
        };
        let ports = memory::ports(self.topology);
        let (base, _) = ports.iter().max_by_key(|(_, ports)| ports.len())?;
        let others = ports.iter().filter(|(memory, _)| *memory != base);
        let others = others.map(|(memory, ports)| LaneAt {
            at: LanePorts { ports: Key::of(list(ports.iter().cloned())), ..LanePorts::default() },
            lane: lane(*memory),
        });
        let lane = Lane {
            reserve: Key::of(Bytes::new(memory::RESERVE)),
            resume_offset: Key::of(Bytes::new(3_072)),
            ..lane(*base)
        };
        Some(Memory::Shared(Box::new(SharedMemory {
            total: buffer.given?,
            whole,
            lane,
            others: others.collect(),
        })))
    }

    fn flow_control(&self) -> impl Written + Default + use<> {
        let common = flow_control::Common {
            // Headroom of three times what is under way one way may be too little.
            unsafe_parameters: Filled::new(true),
            ..flow_control::Common::default()
        };
        let kind = flow_control::schemes().kind(&flow_control::PFC, &Place::default());
        (vec![kind], (common, Pfc::default()))
    }

    /// How switches choose among next hops; `None` by the hash of flows.
    fn load_balancing(&self) -> Option<load_balancing::Balanced> {
        let least_loaded = FlowletKeys {
            choice: Filled::new(FlowletChoice(balance::FlowletChoice::LeastLoaded)),
            ..FlowletKeys::default()
        };
        let (value, kind) = match self.settings.balancing {
            Balancing::FlowHash => return None,
            Balancing::Drill => ("drill", load_balancing::Kind::Drill(DrillKeys::default())),
            Balancing::Conga => ("flowlet", load_balancing::Kind::Flowlet(least_loaded)),
            Balancing::LetFlow => {
                ("flowlet", load_balancing::Kind::Flowlet(FlowletKeys::default()))
            }
        };
        Some(load_balancing::Balanced {
            common: load_balancing::Common::default(),
            kind,
            word: At { value, place: self.place("LB_MODE") },
        })
    }

    fn transport(&self) -> transport::Keys {
        let settings = self.settings;
        let pacing = if settings.is_rate_bound { Pacing::Strict } else { Pacing::Pace };
        let mut keys = transport::Keys {
            finish: Filled::new(Finish::Source),
            recovery: Filled::new(Recovery::GoBackN(GoBackN::default())),
            pacing: Filled::at(pacing, &self.place("RATE_BOUND")),
            ack_size: Filled::new(Bytes::new(settings.acknowledgement())),
            // That simulator lets packets overtake each other, too.
            allow_reordering: Filled::new(settings.balancing != Balancing::FlowHash),
            ..transport::Keys::default()
        };
        if let Window::Product { is_global, follows_rate } = settings.window {
            let size = if is_global {
                WordOr::Value(Bytes::new(self.window()))
            } else {
                WordOr::Word(WindowRule::Bdp)
            };
            keys.window = self.key("GLOBAL_T", size);
            keys.window_follows_rate = self.key("VAR_WIN", follows_rate);
        }
        keys
    }

    /// The largest product of all pairs of hosts, in whole frames instead of their payloads.
    fn window(&self) -> u64 {
        let (_, largest) = self.ways.largest();
        largest.div_ceil(self.settings.payload).max(1) * self.packet()
    }

    fn congestion(&self) -> Vec<Entry> {
        let settings = self.settings;
        let mut common =
            congestion::Common { ack_every: Key::of(1), ..congestion::Common::default() };
        if !settings.acks_first {
            common.feedback_class = Filled::at(FeedbackClass::Data, &self.place("ACK_HIGH_PRIO"));
        }
        let (kind, keys) = match &settings.control {
            Control::Dcqcn(dcqcn) => (&congestion::DCQCN, self.dcqcn(dcqcn).entries()),
            Control::Hpcc(hpcc) => (&congestion::HPCC, self.hpcc(hpcc).entries()),
            Control::Timely(timely) => (&congestion::TIMELY, self.timely(timely).entries()),
            Control::None => (&congestion::NONE, Vec::new()),
        };
        let kind = congestion::schemes().kind(kind, &self.place("CC_MODE"));
        [vec![kind], common.entries(), keys].concat()
    }

    fn dcqcn(&self, dcqcn: &Dcqcn) -> congestion::Dcqcn {
        let at_rates = self.settings.marking.iter().map(|(rate, at)| congestion::AtRate {
            rate: self.key("KMIN_MAP", Rate::bps(*rate)),
            kmin: self.key("KMIN_MAP", threshold(at.kmin)),
            kmax: self.key("KMAX_MAP", threshold(at.kmax)),
            pmax: self.key("PMAX_MAP", at.pmax.max(1e-9)),
            ..congestion::AtRate::default()
        });
        let at_rates = Vec::from_iter(at_rates);
        let marking = self.settings.marking.values().next();
        // Where nothing is marked, no queue is so long.
        let bytes = |of: fn(&Marking) -> u64| threshold(marking.map_or(1_000_000_000, of));
        let clamp = if dcqcn.clamps { Clamp::Always } else { Clamp::AfterStage };
        congestion::Dcqcn {
            style: Key::of(Style::Nic),
            scale_with_speed: Key::of(false),
            kmin: self.key("KMIN_MAP", bytes(|at| at.kmin)),
            kmax: self.key("KMAX_MAP", bytes(|at| at.kmax)),
            pmax: marking.map_or(Key::default(), |at| self.key("PMAX_MAP", at.pmax.max(1e-9))),
            alpha_timer: self.key("ALPHA_RESUME_INTERVAL", timer(dcqcn.alpha_us)),
            cnp_interval: self.key("RATE_DECREASE_INTERVAL", timer(dcqcn.decrease_us)),
            increase_timer: self.key("RP_TIMER", timer(dcqcn.increase_us)),
            g: self.key("EWMA_GAIN", dcqcn.gain),
            threshold: self.key("FAST_RECOVERY_TIMES", dcqcn.stages as u32),
            clamp: self.key("CLAMP_TARGET_RATE", clamp),
            rate_ai: self.key("RATE_AI", dcqcn.rate_ai),
            rate_hai: self.key("RATE_HAI", dcqcn.rate_hai),
            rate_min: self.key("MIN_RATE", dcqcn.rate_min),
            at_rate: match at_rates.len() {
                0 | 1 => Key::default(),
                _ => Key::of(Tables(at_rates)),
            },
            ..congestion::Dcqcn::default()
        }
    }

    fn hpcc(&self, hpcc: &Hpcc) -> congestion::Hpcc {
        let mut keys = congestion::Hpcc {
            eta: self.key("U_TARGET", hpcc.target),
            stage_max: self.key("MI_THRESH", hpcc.stages as u32),
            rate_ai: self.key("RATE_AI", hpcc.rate_ai),
            rate_min: self.key("MIN_RATE", hpcc.rate_min),
            fast_react: self.key("FAST_REACT", hpcc.is_fast),
            per_hop: self.key("MULTI_RATE", hpcc.is_per_hop),
            sample_feedback: self.key("SAMPLE_FEEDBACK", hpcc.is_sampling),
            ..congestion::Hpcc::default()
        };
        if let Window::Product { is_global: true, .. } = self.settings.window {
            let (longest, _) = self.ways.largest();
            keys.base_rtt = self.key("GLOBAL_T", Span::ns(longest));
        }
        keys
    }

    /// With the values that stand in the source of that simulator, and in no file.
    fn timely(&self, timely: &Timely) -> congestion::Timely {
        let (ai, hai) = (timely.rate_ai.as_bps(), timely.rate_hai.as_bps());
        let factor = (hai as f64 / ai as f64).clamp(1.0, 1_000.0);
        congestion::Timely {
            update: Key::of(Update::PerRoundTrip),
            scale_with_speed: Key::of(false),
            ewma_weight: Key::of(0.875),
            beta: Key::of(0.8),
            t_low: Key::of(Span::us(50)),
            t_high: Key::of(Span::us(500)),
            min_rtt: Key::of(Span::us(20)),
            hai_threshold: Key::of(5),
            delta: self.key("RATE_AI", timely.rate_ai),
            hai_factor: self.key("RATE_HAI", factor),
            rate_min: self.key("MIN_RATE", timely.rate_min),
            ..congestion::Timely::default()
        }
    }

    /// The priority groups that flows use; each is a class, in this order.
    fn groups(&self) -> BTreeSet<u8> {
        self.flows.iter().map(|flow| flow.group).collect()
    }

    fn traffic(&self) -> Vec<Entry> {
        let groups = Vec::from_iter(self.groups());
        let rows = self.flows.iter().zip(self.lines).zip(1..).map(|((flow, line), number)| {
            let Flow { source, target, .. } = *flow;
            // Sizes are frame bytes: payload and headers.
            let packets = u64::from(flow.size).div_ceil(self.settings.payload);
            let size = u64::from(flow.size) + packets * self.overhead();
            let class = groups.iter().position(|group| *group == flow.group);
            Row {
                line: number,
                at: flow.at,
                source: source as u32,
                target: target as u32,
                size: Some(Bytes::new(size)),
                start: Span::ns(flow.start),
                class: class.map(|class| class as u8),
                name: Some(line.name.as_str().into()),
                ..Row::default()
            }
        });
        let nodes = 0..self.topology.is_switch.len();
        let rows =
            Rows { list: rows.collect(), hosts: nodes.map(|node| node.to_string()).collect() };
        let name = Named { name: Key::of(FlowName("flows".to_string())), ..Named::default() };
        let list = List {
            rows: Key::of(Listed::imported(rows, self.flow_file, Vec::new())),
            ..List::default()
        };
        let list: traffic::AnyKind = Box::new(list);
        [name.entries(), traffic::kinds().entries(&list)].concat()
    }
}

/// No threshold of a queue is less than a byte.
fn threshold(bytes: u64) -> Bytes {
    Bytes::new(bytes.max(1))
}

/// In whole nanoseconds, as the simulator's timers have them.
fn timer(microseconds: f64) -> Span {
    Span::ns(((microseconds * 1e3).floor() as u64).max(1))
}

fn lane(memory: memory::PortMemory) -> Lane {
    Lane {
        alpha: Key::of(Alpha::new(1, 1 << memory.shift).expect("1 / 2^shift is an alpha")),
        headroom: Key::of(Bytes::new(memory.headroom)),
        kind: Kind::Shared,
        ..Lane::default()
    }
}
