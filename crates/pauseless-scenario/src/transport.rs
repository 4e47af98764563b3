//! The section `[transport]`: what sources and targets do beside congestion control.

use std::ops::RangeInclusive;

use pauseless_core::congestion::CongestionControl;
use pauseless_core::entropy::EntropyConfig;
use pauseless_core::flow_control::FlowControl;
use pauseless_core::transport::{
    AnswerSizes, Finish, GoBackN, Pacing, Receiver, Recovery, Transport, Window,
};
use pauseless_core::unit::{Bytes, Span};
use pauseless_sim::Config;

use super::{congestion, entropy, observe};
use pauseless_text::declare::{Declared, Info, Key, WordOr};
use pauseless_text::file::File;
use pauseless_text::reader::{At, Section};
use pauseless_text::{section, words};

/// The name of the section.
pub const SECTION: &str = "transport";
const NO_WINDOW: WindowSize = WordOr::Word(WindowRule::None);
const SPANS: RangeInclusive<Span> = Span::ns(1)..=Span::s(10);
const WINDOWS: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::mb(1_000_000);
/// From less than any Ethernet frame to far more than any answer needs.
const ANSWERS: RangeInclusive<Bytes> = Bytes::new(20)..=Bytes::new(1_000);
const BITS: RangeInclusive<u64> = 1..=Receiver::BITS_MAX as u64;

section! {
    /// What sources and targets do beside congestion control; without this section a source sends
    /// and forgets.
    pub struct Keys {
        /// Who decides that a flow is finished; when its target has the last byte, or when its
        /// `"source"` has been told. Flows that come `after` it wait for the same.
        finish: Finish, default Finish::Target;
        /// When the next frame of a flow may start. With `"catch-up"` a frame that had to wait makes up
        /// for that, but for one frame at the most. `"strict"`: the next one starts no earlier than the
        /// last one's start plus its time at the rate of then. `"own-pace"`: the same at the flow's
        /// `rate`, so that congestion control rules the window only.
        pacing: Pacing, default Pacing::CatchUp;
        /// The frames that carry acknowledgements of either kind.
        ack_size: Bytes, within ANSWERS, default AnswerSizes::default().ack;
        /// The frames that carry CNPs or PCN's notifications.
        cnp_size: Bytes, within ANSWERS, default AnswerSizes::default().cnp;
        /// What is done about packets that are missing. With `"go-back-n"` a target takes packets in
        /// order only and asks for the one that is missing; the source goes on from there.
        recovery: Recovery, default Recovery::None;
        /// With `"go-back-n"`: at most one request for the same packet in this time.
        nack_interval: Span, within SPANS, default GoBackN::default().nack_interval,
            when Keys::is_going_back;
        /// With `"go-back-n"`: a source that has heard nothing new for so long sends again what is not
        /// acknowledged. Without it, a flow that has lost its last packets does not finish.
        timeout: WordOr<Never, Span>, within SPANS, default WordOr::Word(Never),
            when Keys::is_going_back;
        /// What targets do with packets that overtake earlier ones. `"in-order"`: with `"go-back-n"` they
        /// throw them away, and without recovery do not look at the order. `"tolerant"`: they take them.
        /// `"hold"`: they keep them until those before them are there, and hand them on in order.
        receiver: Receiver, default Receiver::InOrder;
        /// With `"tolerant"` and `"hold"`: how many packets from the first missing one on are taken; what
        /// is beyond is thrown away, and asked for again with `"go-back-n"`.
        bits: WordOr<Unlimited, u32>, within BITS, default WordOr::Word(Unlimited),
            when Keys::takes_any_order;
        /// Lets packets of a flow take several paths although that cannot work: with `"go-back-n"` and
        /// `"in-order"` flows may never finish, and HPCC compares the links of one path.
        allow_reordering: bool, default false;
        /// No packet starts while so many bytes are unacknowledged; a size, `"bdp"` (what fits on the
        /// flow's own way: its round-trip time without queues at its lowest rate) or `"largest-bdp"`
        /// (the largest of all controlled flows, whose round-trip time congestion control takes then,
        /// too).
        window: WindowSize, within WINDOWS,
            derived "`\"none\"`; `\"bdp\"` if the congestion control has a window";
        /// Whether the window is multiplied by the rate over that of the line.
        window_follows_rate: bool, derived "`false`; `true` if the congestion control has a window";
    }
}

/// The section, for documents and schemas.
pub(crate) fn info() -> Info {
    Keys::info()
}

/// What is to be said of go-back-N without a timeout where packets can get lost.
pub(crate) fn warning(config: &Config) -> Option<String> {
    let Recovery::GoBackN(GoBackN { timeout: Span::MAX, .. }) = config.transport.recovery else {
        return None;
    };
    let loses = |share: f64| share > 0.0;
    let is_lossy = loses(config.wire_loss.share)
        || config.wire_loss.ports.iter().any(|(_, _, share)| loses(*share))
        || observe::controls(config).any(|control| matches!(control, FlowControl::None));
    is_lossy.then(|| {
        "transport.recovery = \"go-back-n\" has no timeout: a flow whose last packets are lost does \
         not finish; write transport.timeout = \"100 us\", or whatever suits the round trip"
            .to_string()
    })
}

/// How many bytes a window has.
pub(crate) type WindowSize = WordOr<WindowRule, Bytes>;

/// A window whose size was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRule {
    /// There is no window.
    None,
    /// What the flow's own way holds: its round-trip time at its lowest rate.
    Bdp,
    /// The largest of those of all flows.
    LargestBdp,
}

/// Instead of a time: it does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Never;

words! { Never { "never" => Never } }

/// What stands against several paths for the packets of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conflict {
    pub why: &'static str,
    /// What to write instead.
    pub help: &'static str,
}

/// Instead of a number of bits: there are always enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlimited;

words! { Unlimited { "unlimited" => Unlimited } }
words! {
    WindowRule {
        "none" => WindowRule::None,
        "bdp" => WindowRule::Bdp,
        "largest-bdp" => WindowRule::LargestBdp,
    }
}

/// How flows are carried.
#[derive(Clone, Debug)]
pub struct Setting {
    keys: Keys,
    entropy: entropy::Keys,
    transport: Transport,
    pub(crate) window: WindowSize,
}

impl Keys {
    fn is_going_back(&self) -> bool {
        self.recovery.value != Recovery::None
    }

    fn takes_any_order(&self) -> bool {
        self.receiver.value != Receiver::InOrder
    }

    /// What targets do, with their number of bits.
    fn receiver(&self) -> Receiver {
        let bits = match self.bits.value {
            WordOr::Word(Unlimited) => Receiver::BITS_MAX,
            WordOr::Value(bits) => bits,
        };
        match self.receiver.value {
            Receiver::InOrder => Receiver::InOrder,
            Receiver::Tolerant { .. } => Receiver::Tolerant { bits },
            Receiver::Hold { .. } => Receiver::Hold { bits },
        }
    }

    /// Why packets of a flow must not take several paths; `None` if they may.
    pub(crate) fn conflict(&self, control: &CongestionControl) -> Option<Conflict> {
        if self.allow_reordering.value {
            return None;
        }
        if self.is_going_back() && !self.takes_any_order() {
            return Some(Conflict {
                why: "where they overtake each other, and with transport.recovery = \"go-back-n\" its \
                      target throws away every packet that overtakes another: sources go back for ever",
                help: "write transport.receiver = \"tolerant\" or \"hold\"; \
                       transport.allow_reordering = true shows what happens otherwise",
            });
        }
        matches!(control, CongestionControl::Hpcc(_)).then_some(Conflict {
            why: "but HPCC compares what the links of one path say of one packet after the other",
            help: "take another congestion control, such as \"dctcp\"; \
                   transport.allow_reordering = true shows what happens otherwise",
        })
    }

    /// Refuses bits that run out where nobody sends again what has none.
    fn refuse_bits(&self, section: &Section<'_>) {
        if let (Some(place), false) = (&self.bits.place, self.is_going_back())
            && self.takes_any_order()
            && self.bits.value != WordOr::Word(Unlimited)
        {
            let problem =
                place.problem("a packet that has no bit is thrown away, and nobody sends it again");
            section.report(problem.help("add recovery = \"go-back-n\""));
        }
    }

    /// The transport without its window.
    fn transport(&self) -> Transport {
        let go_back_n = GoBackN {
            nack_interval: self.nack_interval.value,
            timeout: match self.timeout.value {
                WordOr::Word(Never) => Span::MAX,
                WordOr::Value(timeout) => timeout,
            },
        };
        Transport {
            recovery: match self.recovery.value {
                Recovery::None => Recovery::None,
                Recovery::GoBackN(_) => Recovery::GoBackN(go_back_n),
            },
            window: Window::None,
            finish: self.finish.value,
            pacing: self.pacing.value,
            sizes: AnswerSizes { ack: self.ack_size.value, cnp: self.cnp_size.value },
            receiver: self.receiver(),
            entropy: EntropyConfig::default(),
        }
    }
}

impl Setting {
    /// Why packets of a flow must not take several paths; `None` if they may.
    pub(crate) fn conflict(&self, control: &CongestionControl) -> Option<Conflict> {
        self.keys.conflict(control)
    }

    /// Reads `[transport]`, and makes targets acknowledge if it needs that.
    pub(crate) fn read(root: &mut Section<'_>, congestion: &mut congestion::Written) -> Setting {
        let has_window = congestion.control.has_window();
        let usual = if has_window { WordOr::Word(WindowRule::Bdp) } else { NO_WINDOW };
        let section = root.table(SECTION);
        let Some(mut section) = section else {
            let keys = Keys::default();
            let entropy = entropy::Keys::read_with(root, &keys, congestion);
            let transport = Transport::default();
            let mut setting = Setting { keys, entropy, transport, window: usual };
            setting.entropy.apply(&mut setting.transport);
            setting.follow(has_window);
            return setting;
        };
        let keys = Keys::read(&mut section);
        if !keys.is_going_back() {
            section.set_context(" with recovery = \"none\"".to_string());
        }
        keys.refuse_bits(&section);
        let (transport, window) = (keys.transport(), keys.window.or(usual));
        let entropy = entropy::Keys::default();
        let mut setting = Setting { keys, entropy, transport, window };
        setting.refuse_windows(&section, congestion);
        setting.need_acknowledgements(&section, congestion);
        section.finish();
        setting.entropy = entropy::Keys::read_with(root, &setting.keys, congestion);
        setting.entropy.apply(&mut setting.transport);
        setting.follow(setting.keys.window_follows_rate.or(has_window));
        setting
    }

    /// Says whether windows follow rates, and completes the keys.
    fn follow(&mut self, is_following: bool) {
        self.transport.window = match self.window {
            NO_WINDOW => Window::None,
            _ if is_following => Window::FollowsRate,
            _ => Window::Fixed,
        };
        self.keys.window = Key::of(self.window);
        self.keys.window_follows_rate = match self.window {
            NO_WINDOW => Key::default(),
            _ => Key::of(is_following),
        };
    }

    fn refuse_windows(&self, section: &Section<'_>, congestion: &congestion::Written) {
        if let Some(At { value: true, place }) = &self.keys.window_follows_rate.given
            && self.window == NO_WINDOW
        {
            let problem = place.problem("there is no window to follow it");
            section.report(problem.help("add window = \"bdp\""));
        }
        if self.window != NO_WINDOW && congestion.ack_every > 1 {
            let every = congestion.ack_every;
            let problem = section.place.problem(format!(
                "a window waits for packets that are acknowledged only every {every}"
            ));
            section.report(problem.help("write congestion_control.ack_every = 1"));
        }
    }

    /// Makes targets acknowledge every packet if sources wait for that.
    fn need_acknowledgements(&self, section: &Section<'_>, congestion: &mut congestion::Written) {
        let is_waiting = self.window != NO_WINDOW || self.transport.awaits();
        if !is_waiting || congestion.ack_every > 0 {
            return;
        }
        if congestion.is_ack_written {
            let problem = section
                .place
                .problem("sources wait for acknowledgements, but congestion_control.ack_every = 0");
            section.report(problem.help("take ack_every out, or write at least 1"));
        }
        congestion.ack_every = 1;
    }

    /// The configuration that the simulator takes.
    pub(crate) fn resolved(&self) -> Transport {
        self.transport
    }

    /// Writes the section with nothing left out, unless all of it is the default.
    pub(crate) fn write(&self, file: &mut File) {
        let plain = Transport { entropy: EntropyConfig::default(), ..self.transport };
        if plain != Transport::default() {
            file.table(SECTION, &self.keys);
        }
        self.entropy.write(file);
    }
}
