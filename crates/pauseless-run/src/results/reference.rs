//! References to numbers: `pauses`, `slowdown{p=99.9, size=10KB..100KB}`, `rate{flow=F1}`.
//!
//! A number of something has a parameter that says of what. Most have a short form as well, with a
//! point: `rate.F1`, `queue_max.S1:S2`, `pauses.class0`, and of flows by their size `fct_mean_us.S`.
//! Fixed percentiles have names: `fct_p99_us` is `fct_us{p=99}`.

use pauseless_core::id::Class;
use pauseless_core::unit::Bytes;
use pauseless_sim::config::Config;

use super::{Beside, Bound, Facts, NUMBERS, Number, Of, Scope, Value};
use crate::metrics::completion::SizeRange;
use crate::metrics::distribution::Percentile;
pub use pauseless_scenario::did_you_mean;
use pauseless_text::named;
use pauseless_text::quantity::parse_bytes;

/// A number, and of what.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The entry of the registry.
    pub number: &'static Number,
    percentile: Option<Percentile>,
    part: Part,
    bound: Option<Bound>,
}

/// What of a run a number is of; nothing for the whole run, or for all finite flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub class: Option<u8>,
    pub layer: Option<u8>,
    pub port: Option<String>,
    pub flow: Option<String>,
    pub size: Option<SizeRange>,
    pub group: Option<String>,
}

named! {
    /// What a number can be asked of.
    pub(super) enum Parameter {
        P = "p",
        Size = "size",
        Class = "class",
        Group = "group",
        Layer = "layer",
        Port = "port",
        Flow = "flow",
        Bound = "bound",
    }
}

impl Parameter {
    pub fn example(self) -> &'static str {
        match self {
            Parameter::P => "p=99",
            Parameter::Size => "size=10KB..100KB",
            Parameter::Class => "class=0",
            Parameter::Group => "group=NAME",
            Parameter::Layer => "layer=1",
            Parameter::Port => "port=S1:S2",
            Parameter::Flow => "flow=F1",
            Parameter::Bound => "bound=best",
        }
    }
}

impl Number {
    /// The parameter without which there is no such number.
    pub(super) fn needs(&self) -> Option<Parameter> {
        match self.of {
            Of::Run(_) | Of::Flows(_) | Of::Mean(_) => None,
            Of::Class(_) => Some(Parameter::Class),
            Of::Layer(_) => Some(Parameter::Layer),
            Of::Port(_) | Of::Queue(_) => Some(Parameter::Port),
            Of::Flow(_) => Some(Parameter::Flow),
            Of::Percentile(_) => Some(Parameter::P),
        }
    }

    /// The parameters that it can do without.
    pub(super) fn allows(&self) -> &'static [Parameter] {
        match self.of {
            Of::Flows(_) => &[Parameter::Size, Parameter::Class, Parameter::Group],
            Of::Mean(_) | Of::Percentile(_) => {
                &[Parameter::Size, Parameter::Class, Parameter::Group, Parameter::Bound]
            }
            _ => &[],
        }
    }

    fn takes(&self, parameter: Parameter) -> bool {
        self.needs() == Some(parameter) || self.allows().contains(&parameter)
    }

    /// The bound of a name that the number has; else which there are.
    fn bound_named(&self, name: &str) -> Result<Bound, String> {
        let known = self.bounds();
        known.iter().copied().find(|it| it.name() == name).ok_or_else(|| {
            let names = Vec::from_iter(known.iter().map(|it| it.name())).join(", ");
            format!("bound of {} is one of {names}, not {name:?}", self.name)
        })
    }

    /// As it is asked for: `slowdown{p=99}`.
    pub(super) fn example(&self) -> String {
        match self.needs() {
            Some(parameter) => format!("{}{{{}}}", self.name, parameter.example()),
            None => self.name.to_string(),
        }
    }
}

/// Numbers of one name, and the percentile that the name has in it.
struct Named {
    numbers: Vec<&'static Number>,
    percentile: Option<Percentile>,
}

impl Reference {
    /// Reads a reference; else says what is wrong with it.
    pub fn parse(text: &str) -> Result<Reference, String> {
        Reference::with_groups(text, &[])
    }

    /// Reads a reference where groups of flows have names.
    pub fn with_groups(text: &str, groups: &[&str]) -> Result<Reference, String> {
        let text = text.trim();
        let (head, inside) = match text.split_once('{') {
            Some((head, rest)) => (head.trim(), Some(rest)),
            None => (text, None),
        };
        if let Some(named) = Named::find(head) {
            let given = match inside {
                None => Vec::new(),
                Some(inside) => {
                    let inside = inside.strip_suffix('}');
                    named.parameters(inside.ok_or("a } is missing at its end")?)?
                }
            };
            return named.with(&given, groups);
        }
        // The part that is a name of the user's resembles nothing, and may have braces in it.
        let short = text.split_once('.');
        match short.and_then(|(what, part)| Some((Named::find(what)?, part))) {
            Some((named, part)) => named.short(part, groups),
            None => Err(unknown(short.map_or(head, |(what, _)| what))),
        }
    }

    /// The number of a run, in its unit, if it has one.
    pub fn value(&self, facts: &Facts<'_>) -> Option<f64> {
        let value = self.number.unit.of(self.base(facts)?);
        value.is_finite().then_some(value)
    }

    fn base(&self, facts: &Facts<'_>) -> Option<Value> {
        let part = &self.part;
        match self.number.of {
            Of::Run(of) => of(facts),
            Of::Class(of) => {
                let class = Class(part.class?);
                (class.index() < facts.class_count()).then(|| of(facts, class))?
            }
            Of::Layer(of) => {
                let mut layers = facts.metrics.layers.iter();
                of(layers.find(|layer| Some(layer.layer) == part.layer)?)
            }
            Of::Port(of) => of(facts.port(part.port.as_deref()?)?),
            Of::Queue(of) => {
                let queues = facts.queues(part.port.as_deref()?);
                (!queues.is_empty()).then(|| of(&queues))?
            }
            Of::Flow(of) => {
                let name = part.flow.as_deref()?;
                of(&facts.flows().find(|it| it.flow.name == name)?)
            }
            Of::Flows(of) => of(&*facts.group(part)?),
            Of::Mean(_) | Of::Percentile(_) => {
                let bounded = self.number.bounded(&*facts.group(part)?, self.percentile)?;
                self.bound.map_or(bounded.value, |bound| bound.of(&bounded))
            }
        }
    }

    /// The port that it is about, as it was written.
    pub fn port(&self) -> Option<&str> {
        self.part.port.as_deref()
    }

    /// Whether runs of a scenario could have it: the flow, the port or the class must be there. Else
    /// what to write instead.
    pub fn check(&self, config: &Config) -> Result<(), &'static str> {
        let part = &self.part;
        let topology = &config.topology;
        // Of several ways to write a port, one is the name of the number.
        let port = || {
            let name = part.port.as_deref()?;
            let (node, port) = topology.port_named(name).ok()?;
            (topology.port_name(node, port) == name).then_some((node, port))
        };
        let is_there = match self.number.of {
            Of::Run(_) | Of::Flows(_) | Of::Mean(_) | Of::Percentile(_) => true,
            Of::Class(_) => {
                part.class.is_some_and(|class| usize::from(class) < config.ingress.class_count())
            }
            Of::Layer(_) => topology.nodes().iter().any(|node| Some(node.layer) == part.layer),
            Of::Port(_) | Of::Queue(_) => {
                let probed = &config.probes.ports;
                port().is_some_and(|at| !self.number.is_probed || probed.contains(&at))
            }
            Of::Flow(_) => config.flows.iter().any(|flow| Some(&flow.name) == part.flow.as_ref()),
        };
        if is_there { Ok(()) } else { Err(self.help()) }
    }

    fn help(&self) -> &'static str {
        let has_classes = |number: &&Number| number.name == self.number.name;
        let mut same = NUMBERS.iter().filter(has_classes);
        let has_classes = same.any(|number| number.scope() == Scope::Class);
        match self.number.scope() {
            Scope::Flow => "name one of the scenario's flows",
            Scope::Layer => "hosts are layer 0, switches next to them layer 1, and so on",
            _ if has_classes => "name a port as NODE:PEER, or a class as class0",
            _ if self.number.is_probed => {
                "name a port as NODE:PEER that [probe] of the scenario has"
            }
            _ => "name a port as NODE:PEER",
        }
    }

    /// The name of its column in tables, without signs that query languages take apart.
    pub fn column(&self) -> String {
        let part = &self.part;
        let mut name = match self.percentile {
            Some(percentile) => self.number.spelt_at(&percentile.name()),
            None => self.number.name.to_string(),
        };
        let mut add = |text: Option<String>| {
            if let Some(text) = text {
                name += &format!("_{text}");
            }
        };
        add(part.size.map(|size| size_word(size, "_to_")));
        add(part.class.map(|class| format!("class{class}")));
        add(part.layer.map(|layer| format!("layer{layer}")));
        for text in [&part.group, &part.port, &part.flow] {
            add(text.clone());
        }
        add(self.bound.map(|bound| bound.name().to_string()));
        name.replace('.', "_")
    }

    /// The reference as it is written, with all of its parameters.
    pub fn text(&self) -> String {
        let part = &self.part;
        let values = Parameter::ALL.into_iter().filter_map(|parameter| {
            let value = match parameter {
                Parameter::P => self.percentile?.percent(),
                Parameter::Size => size_word(part.size?, ".."),
                Parameter::Class => part.class?.to_string(),
                Parameter::Group => part.group.clone()?,
                Parameter::Layer => part.layer?.to_string(),
                Parameter::Port => part.port.clone()?,
                Parameter::Flow => part.flow.clone()?,
                Parameter::Bound => self.bound?.name().to_string(),
            };
            Some(format!("{}={value}", parameter.name()))
        });
        match Vec::from_iter(values).join(", ").as_str() {
            "" => self.number.name.to_string(),
            values => format!("{}{{{values}}}", self.number.name),
        }
    }

    /// What must stand beside it: how many of its flows did not finish, and what they could make of
    /// it. `None` for a number that does not depend on that, and for a bound.
    pub fn beside(&self) -> Option<Beside> {
        if !matches!(self.number.of, Of::Mean(_) | Of::Percentile(_)) || self.bound.is_some() {
            return None;
        }
        let count = |name| {
            let number = NUMBERS.iter().find(|it| it.name == name)?;
            Some(Reference { number, percentile: None, part: self.part.clone(), bound: None })
        };
        let bound = |bound| Reference { bound: Some(bound), ..self.clone() };
        Some(Beside {
            finished: count("finished")?,
            unfinished: count("unfinished")?,
            best: bound(Bound::Best),
            worst: bound(Bound::Worst),
        })
    }
}

impl Named {
    fn find(name: &str) -> Option<Named> {
        let plain = Vec::from_iter(NUMBERS.iter().filter(|it| it.name == name));
        if !plain.is_empty() {
            return Some(Named { numbers: plain, percentile: None });
        }
        let spelt = NUMBERS.iter().filter(|it| !it.spelt.is_empty());
        let mut pairs = spelt.flat_map(|number| {
            Percentile::NAMED.into_iter().map(move |(name, p)| (number, number.spelt_at(name), p))
        });
        let (number, _, percentile) = pairs.find(|(_, spelt, _)| spelt == name)?;
        Some(Named { numbers: vec![number], percentile: Some(percentile) })
    }

    fn name(&self) -> &'static str {
        self.numbers[0].name
    }

    /// The parameters that some number of this name takes.
    fn takes(&self) -> Vec<Parameter> {
        let is_taken = |it: &Parameter| self.numbers.iter().any(|number| number.takes(*it));
        let fixed = self.percentile.map(|_| Parameter::P);
        Parameter::ALL.into_iter().filter(is_taken).filter(|it| Some(*it) != fixed).collect()
    }

    /// Reads parameters such as `p=99, size=10KB..100KB`.
    fn parameters(&self, text: &str) -> Result<Vec<(Parameter, String)>, String> {
        let mut given: Vec<(Parameter, String)> = Vec::new();
        for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (key, value) = (key.trim(), value.trim());
            let takes = self.takes();
            let Some(parameter) = takes.iter().find(|it| it.name() == key) else {
                return Err(self.stranger(key, &takes));
            };
            if value.is_empty() {
                let example = parameter.example();
                return Err(format!("{key} has no value; write {example}"));
            }
            if given.iter().any(|(it, _)| it == parameter) {
                return Err(format!("{key} is there twice"));
            }
            given.push((*parameter, value.to_string()));
        }
        Ok(given)
    }

    fn stranger(&self, key: &str, takes: &[Parameter]) -> String {
        let names = Vec::from_iter(takes.iter().map(|it| it.name()));
        let guess = did_you_mean(key, names.iter().copied());
        let name = self.name();
        if names.is_empty() {
            format!("{name} has no parameters")
        } else if guess.is_empty() {
            format!("{name} has no parameter {key:?}; it takes {}", names.join(", "))
        } else {
            format!("{name} has no parameter {key:?}; {guess}")
        }
    }

    /// The number of this name that takes what was given.
    fn with(&self, given: &[(Parameter, String)], groups: &[&str]) -> Result<Reference, String> {
        let fixed = self.percentile.map(|_| Parameter::P);
        let fits = |number: &&&'static Number| {
            let needs = number.needs();
            let has = |it: Parameter| given.iter().any(|(key, _)| *key == it) || fixed == Some(it);
            needs.is_none_or(has) && given.iter().all(|(key, _)| number.takes(*key))
        };
        let number = self.numbers.iter().find(fits).ok_or_else(|| self.lacking())?;
        let percentile = self.percentile;
        let mut reference = Reference { number, percentile, part: Part::default(), bound: None };
        for (parameter, value) in given {
            reference.set(*parameter, value, groups)?;
        }
        Ok(reference)
    }

    fn lacking(&self) -> String {
        let examples = Vec::from_iter(self.numbers.iter().map(|number| number.example()));
        match &examples[..] {
            [one] => format!("write {one}"),
            several => format!("write one of {}", several.join(", ")),
        }
    }

    /// The number of this name for what stands behind a point.
    fn short(&self, part: &str, groups: &[&str]) -> Result<Reference, String> {
        let takes = self.takes();
        let class = part.strip_prefix("class").filter(|it| it.parse::<u8>().is_ok());
        let parameter = match class {
            _ if part.is_empty() => return Err(self.lacking()),
            Some(_) if takes.contains(&Parameter::Class) => Parameter::Class,
            _ if takes.contains(&Parameter::Port) => Parameter::Port,
            _ if takes.contains(&Parameter::Flow) => Parameter::Flow,
            _ if groups.contains(&part) => Parameter::Group,
            _ if takes.contains(&Parameter::Size) && letter(part).is_some() => Parameter::Size,
            _ if takes.contains(&Parameter::Size) => {
                return Err(format!(
                    "{part:?} is neither a size (S, M, L, XL) nor a class (class0)"
                ));
            }
            _ => return Err(format!("{} is of the whole run", self.name())),
        };
        let value = match parameter {
            Parameter::Class => class.unwrap_or(part),
            _ => part,
        };
        self.with(&[(parameter, value.to_string())], groups)
    }
}

impl Reference {
    fn set(&mut self, parameter: Parameter, value: &str, groups: &[&str]) -> Result<(), String> {
        let part = &mut self.part;
        let small = |what: &str, below: usize| match value.parse::<u8>() {
            Ok(number) if usize::from(number) < below => Ok(Some(number)),
            _ => Err(format!("{what} is a number from 0 to {}, not {value:?}", below - 1)),
        };
        match parameter {
            Parameter::P => self.percentile = Some(Percentile::parse(value)?),
            Parameter::Size => part.size = Some(parse_size(value)?),
            Parameter::Class => part.class = small("class", Class::COUNT_MAX)?,
            Parameter::Layer => part.layer = small("layer", 256)?,
            Parameter::Port => part.port = Some(value.to_string()),
            Parameter::Flow => part.flow = Some(value.to_string()),
            Parameter::Bound => self.bound = Some(self.number.bound_named(value)?),
            Parameter::Group if groups.contains(&value) => part.group = Some(value.to_string()),
            Parameter::Group if groups.is_empty() => {
                return Err("only claims files have groups of flows".to_string());
            }
            Parameter::Group => {
                return Err(match did_you_mean(value, groups.iter().copied()).as_str() {
                    "" => format!("there is no group {value:?}, but {}", groups.join(", ")),
                    guess => format!("there is no group {value:?}; {guess}"),
                });
            }
        }
        Ok(())
    }
}

/// Says that there is no such name, and which may have been meant.
fn unknown(name: &str) -> String {
    let fixed = Vec::from_iter(NUMBERS.iter().flat_map(Number::spellings).map(|(name, ..)| name));
    let names = NUMBERS.iter().map(|it| it.name);
    match did_you_mean(name, names.chain(fixed.iter().map(String::as_str))).as_str() {
        "" => "`pauseless metrics` lists all names".to_string(),
        guess => guess.to_string(),
    }
}

/// The ranges of sizes that have a letter.
const LETTERS: [&str; 4] = ["S", "M", "L", "XL"];

fn letter(text: &str) -> Option<SizeRange> {
    let place = LETTERS.iter().position(|it| *it == text)?;
    Some(SizeRange::ALL[place])
}

/// A range of sizes as names have it: its letter, or `10KB_to_100KB`.
pub(crate) fn size_word(size: SizeRange, to: &str) -> String {
    if let Some(place) = SizeRange::ALL.iter().position(|it| *it == size) {
        return LETTERS[place].to_string();
    }
    let bytes = |bytes: Bytes| bytes.to_string().replace(' ', "");
    let below = size.below.map_or(String::new(), bytes);
    let min = match size.min {
        Bytes::ZERO => String::new(),
        min => bytes(min),
    };
    format!("{min}{to}{below}")
}

/// Reads `10KB..100KB`, `..10KB`, `1MB..` or `S`.
fn parse_size(text: &str) -> Result<SizeRange, String> {
    if let Some(range) = letter(text) {
        return Ok(range);
    }
    let wrong = |why: String| {
        format!(
            "size={text}: {why}; write a range such as 10KB..100KB, ..10KB or 1MB.., or one of S, M, L, XL"
        )
    };
    let (min, below) =
        text.split_once("..").ok_or_else(|| wrong("this is no range".to_string()))?;
    let end = |text: &str| match text.trim() {
        "" => Ok(None),
        text => parse_bytes(text).map(Some).map_err(wrong),
    };
    let range = SizeRange { min: end(min)?.unwrap_or(Bytes::ZERO), below: end(below)? };
    if range.below.is_some_and(|below| below <= range.min) {
        Err(wrong("nothing is in it".to_string()))
    } else {
        Ok(range)
    }
}
