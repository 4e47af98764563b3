//! `kind = "dcqcn"`, with its marks.

use pauseless_core::congestion::CongestionControl;
use pauseless_core::congestion::dcqcn::{Clamp, CnpCheck, Config, Style};
use pauseless_core::congestion::marking::{LEVELS_MAX, Level, Levels, MarkAt};
use pauseless_core::unit::{Bytes, Rate, Span};

use super::{BYTES, COUNTS, Chosen, RATES_ANY, SHARES, SPANS, refuse_alone, scheme};
use pauseless_text::declare::{Key, Section, Tables};
use pauseless_text::section;
use pauseless_text::unit::Quantity;

/// The speed that the defaults of rates and thresholds are for.
const SPEED: Rate = Rate::gbps(40);
/// Thresholds of one speed are kept in 32 bits.
const LEVEL_BYTES: std::ops::RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::mb(4_000);

section! {
    /// DCQCN (SIGCOMM 2015): switches mark, targets send CNPs, sources cut and recover; the defaults
    /// are for 40 Gbps, with `rate_hai` and `rate_min` of public code.
    pub struct Dcqcn for Config = Config::default(), {
        /// Whose DCQCN it is. `"nic"` is that of NICs: marks come back with acknowledgements and there
        /// are no CNPs; `cnp_interval` is how often a source looks whether one has, `alpha_timer` how often
        /// alpha changes; there is no `byte_counter`, alpha starts at 1, and `clamp` is
        /// `"after-stage"` by default.
        style: Style, source "dcqcn15 3.1", written if_changed;
        /// No packet is marked up to this queue. One above 200 KB needs a `kmax`, too.
        kmin: Bytes, within BYTES, field marking.kmin, source "dcqcn15 3.1";
        /// Every packet is marked above this queue; equal to `kmin` for a step.
        kmax: Bytes, within BYTES, field marking.kmax, source "dcqcn15 3.1";
        /// The probability of a mark just below `kmax`, growing from 0 at `kmin`.
        pmax: f64, within SHARES, field marking.pmax, source "dcqcn15 3.1";
        /// Marks follow a virtual queue that drains at this share of the line, such as `0.95`; only
        /// at departure.
        phantom: f64, within 0.01..=1.0,
            get |config| config.marking.phantom,
            set |config, share| config.marking.phantom = Some(share),
            derived "none";
        /// By which queue packets are marked; on `"departure"` by the one that is left behind, as in
        /// public code, on `"arrival"` by the one that a packet finds, as in the paper.
        mark_at: MarkAt, field marking.mark_at, source "public code";
        /// N, at most one CNP per flow in this time.
        cnp_interval: Span, within SPANS, source "dcqcn15 3.1";
        /// When the target looks for marks; `"on-mark"`, at each packet, and a marked one is answered
        /// at once, or `"periodic"`, at the first packet and every `cnp_interval` from it, with one
        /// CNP for all that came since, as in public code.
        cnp_check: CnpCheck, source "dcqcn15 3.1", when is_paper, written if_changed;
        /// K, alpha decays after so long without a CNP.
        alpha_timer: Span, within SPANS, source "dcqcn15 3.1";
        /// alpha at the start.
        alpha_initial: f64, within SHARES, source "dcqcn15 3.1", when is_paper;
        /// g, the gain of alpha.
        g: f64, within SHARES, source "dcqcn15 3.1";
        /// T, time per stage of recovery.
        increase_timer: Span, within SPANS, source "dcqcn15 3.1";
        /// B, bytes sent per stage.
        byte_counter: Bytes, within BYTES, source "dcqcn15 3.1", when is_paper;
        /// F, stages of fast recovery.
        threshold: u32, within COUNTS, source "dcqcn15 3.1";
        /// R_AI, the step of additive increase.
        rate_ai: Rate, within RATES_ANY, source "dcqcn15 3.1";
        /// R_HAI, the step of hyper increase.
        rate_hai: Rate, within RATES_ANY, source "public code";
        /// The least rate that a flow is ever limited to.
        rate_min: Rate, within RATES_ANY, source "public code";
        /// When a CNP lowers the target rate, too; `"always"`, `"after-stage"` (if a stage has advanced
        /// since the last cut) or `"after-byte-stage"` (the same of the byte counter).
        clamp: Clamp, source "dcqcn15 3.1";
        /// Whether rates and thresholds grow with the speed of the link; `rate_ai` and `rate_hai`
        /// are multiplied by the rate of the host's link over 40 Gbps, `kmin` and `kmax` by that of the
        /// egress.
        scale_with_speed: bool,
            get |config| Some(config.reference.is_some()),
            set |config, is_scaled: bool| config.reference = is_scaled.then_some(SPEED),
            source "our choice";
        /// Thresholds of the egresses of one speed, which are not scaled; up to six of them.
        at_rate: Tables<AtRate>,
            get |config| levels_of(&config.marking.levels),
            set |_, _| {};
    }
}

section! {
    /// Thresholds of the egresses of one speed, which are not scaled.
    pub struct AtRate {
        /// The speed of the egresses.
        rate: Rate, within RATES_ANY, required "\"100 Gbps\"";
        /// No packet is marked up to this queue.
        kmin: Bytes, within LEVEL_BYTES, derived "that of the section";
        /// Every packet is marked above this queue.
        kmax: Bytes, within LEVEL_BYTES, derived "that of the section";
        /// The probability of a mark just below `kmax`.
        pmax: f64, within SHARES, derived "that of the section";
    }
}

fn is_paper(config: &Config) -> bool {
    config.style == Style::Paper
}

fn levels_of(levels: &Levels) -> Option<Tables<AtRate>> {
    let levels = levels.iter().flatten().map(|level| AtRate {
        rate: Key::of(Rate::mbps(level.mbps.into())),
        kmin: Key::of(Bytes::new(level.kmin.into())),
        kmax: Key::of(Bytes::new(level.kmax.into())),
        pmax: Key::of(level.pmax.into()),
        ..AtRate::default()
    });
    let levels = Vec::from_iter(levels);
    (!levels.is_empty()).then_some(Tables(levels))
}

scheme! {
    pub static DCQCN = "dcqcn": Dcqcn in CongestionControl::Dcqcn, |section| {
        let mut config = Config::default();
        let keys = Dcqcn::fill(section, &mut config);
        if !is_paper(&config) {
            section.set_context(" with style = \"nic\"".to_string());
            refuse_byte_stages(section, &keys);
            config.clamp = keys.clamp.or(Clamp::AfterStage);
        }
        check_marks(section, &keys, &config);
        config.marking.reference = config.reference;
        add_levels(section, keys.at_rate.get(), &mut config);
        Some(Chosen::new(CongestionControl::Dcqcn(config)))
    }
}

/// NICs count no bytes, so there are no stages of bytes.
fn refuse_byte_stages(section: &Section<'_>, keys: &Dcqcn) {
    if let Some(Clamp::AfterByteStage) = keys.clamp.copied()
        && let Some(place) = keys.clamp.place()
    {
        let problem = place.problem("unknown value \"after-byte-stage\"");
        section.report(problem.expected("one of \"always\", \"after-stage\""));
    }
}

/// What the keys of marking must be to each other.
fn check_marks(section: &Section<'_>, keys: &Dcqcn, config: &Config) {
    let marking = &config.marking;
    if marking.kmax < marking.kmin {
        if let Some(place) = keys.kmax.place() {
            let problem = place.problem("kmax is less than kmin");
            let problem = problem.expected(format!("at least {}", marking.kmin.exact()));
            section.report(problem.help("let both be equal to mark above one threshold"));
        } else if !keys.kmax.is_written
            && let Some(place) = keys.kmin.place()
        {
            refuse_alone(section, place, "kmax", marking.kmax.exact());
        }
    }
    if let Some(place) = keys.phantom.place()
        && marking.mark_at == MarkAt::Arrival
    {
        let problem = place.problem("a phantom queue knows only what leaves");
        section.report(problem.help("write mark_at = \"departure\""));
    }
}

/// Takes the thresholds of single speeds.
fn add_levels(section: &Section<'_>, written: Option<&Tables<AtRate>>, config: &mut Config) {
    let base = config.marking;
    for table in written.into_iter().flat_map(|tables| &tables.0) {
        let (kmin, kmax) = (table.kmin.or(base.kmin), table.kmax.or(base.kmax));
        if kmax < kmin {
            let problem = table.place.problem("kmax is less than kmin");
            section.report(problem.expected(format!("at least {}", kmin.exact())));
        }
        let Some(rate) = table.rate.copied() else {
            continue;
        };
        let level = Level {
            mbps: (rate.as_bps() / 1_000_000) as u32,
            kmin: kmin.get() as u32,
            kmax: kmax.get() as u32,
            pmax: table.pmax.or(base.pmax) as f32,
        };
        match config.marking.levels.iter_mut().find(|level| level.is_none()) {
            Some(free) => *free = Some(level),
            None => {
                let message = format!("more than {LEVELS_MAX} speeds have thresholds of their own");
                section.report(table.place.problem(message));
            }
        }
    }
}
