//! `config.txt`: words, of which some are keys and the next ones their values.

use std::collections::BTreeMap;

use pauseless_core::unit::Rate;

use super::units;
use pauseless_text::foreign::{HPCC_KEYS, Values, is_hpcc_key};
use pauseless_text::lex::{Text, Word, Words, line_number};
use pauseless_text::problem::{Problem, Sink};
use pauseless_text::reader::{Place, did_you_mean};

/// The values of a text by their keys. Where a key stands twice, the last one counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Config<'t> {
    values: BTreeMap<&'static str, Entry<'t>>,
    /// Words that are no key and stand behind none, as the simulators skip them.
    pub unknown: Vec<Word<'t>>,
    text: &'t str,
    /// Keys that stand in the text more than once.
    pub repeated: Vec<&'static str>,
}

/// A key with its values.
#[derive(Clone, Debug)]
pub(super) struct Entry<'t> {
    pub key: Word<'t>,
    pub values: Vec<Word<'t>>,
}

impl Entry<'_> {
    /// The key and what stands behind it.
    pub(super) fn place(&self) -> Place {
        let mut place = self.key.place(self.key.text);
        if let Some(last) = self.values.last() {
            place.span.end = last.at().end;
        }
        place
    }

    /// Something wrong with what stands behind the key.
    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        self.place().problem(message)
    }
}

impl<'t> Config<'t> {
    /// Reads the text; what is wrong goes to `sink`.
    pub(super) fn parse(text: Text<'t>, sink: &Sink) -> Config<'t> {
        let mut config = Config { text: text.text, ..Config::default() };
        let mut words = Words::new(text);
        while let Some(word) = words.next() {
            let Some((key, follows)) = HPCC_KEYS.iter().find(|(key, _)| *key == word.text) else {
                config.unknown.push(word);
                continue;
            };
            let count = match follows {
                Values::Words(count) => *count,
                Values::Map => {
                    let Some(count) = words.next() else {
                        sink.push(word.problem("nothing stands behind this key"));
                        break;
                    };
                    let Some(count) = sink.take(count.integer(0..=MAP_MAX)) else {
                        continue;
                    };
                    2 * count as usize
                }
            };
            let values = Vec::from_iter(words.by_ref().take(count));
            if values.len() < count {
                let message = format!("the file ends within the values of {key}");
                sink.push(word.problem(message).expected(format!("{count} values")));
                break;
            }
            if let Some(value) = values.iter().find(|value| is_hpcc_key(value.text)) {
                let problem = value.problem(format!("this key stands where {key} has its value"));
                sink.push(problem.help(format!("write a value behind {key}")));
            }
            let entry = Entry { key: word, values };
            if config.values.insert(key, entry).is_some() {
                config.repeated.push(key);
            }
        }
        config
    }

    /// What stands behind a key, if it is there.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry<'t>> {
        debug_assert!(is_hpcc_key(key), "{key}");
        self.values.get(key)
    }

    /// What to know about words that are no keys and stand behind none, as the simulators skip them.
    pub(super) fn skipped(&self) -> Vec<String> {
        let [first, rest @ ..] = &self.unknown[..] else {
            return Vec::new();
        };
        let shown = self.unknown.iter().take(10);
        let shown = Vec::from_iter(shown.map(|word| format!("{:?}", word.text))).join(", ");
        let mut notes = vec![match rest.len() {
            0 => format!("{:?} is no key and was skipped", first.text),
            1..10 => format!("{} words are no keys and were skipped: {shown}", rest.len() + 1),
            _ => format!("{} words are no keys and were skipped: {shown}, ..", rest.len() + 1),
        }];
        let slips = self.unknown.iter().filter_map(|word| {
            let meant = did_you_mean(word.text, HPCC_KEYS.iter().map(|(key, _)| *key));
            let line = line_number(self.text, word.start);
            (word.text.len() > 3 && !meant.is_empty())
                .then(|| format!("line {line} of the configuration: {:?}; {meant}", word.text))
        });
        notes.extend(slips.take(10));
        notes
    }

    /// All keys that are there.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.values.keys().copied()
    }

    fn word(&self, key: &str) -> Option<&Word<'t>> {
        self.entry(key)?.values.first()
    }

    /// A path or another word.
    pub(super) fn text(&self, key: &str) -> Option<&'t str> {
        self.word(key).map(|word| word.text)
    }

    /// A whole number, or `default`.
    pub(super) fn integer(&self, key: &str, default: u64, sink: &Sink) -> u64 {
        let word = self.word(key);
        word.and_then(|word| sink.take(word.integer(0..=u64::from(u32::MAX)))).unwrap_or(default)
    }

    /// A whole number that may need more than 32 bits.
    pub(super) fn long(&self, key: &str, default: u64, sink: &Sink) -> u64 {
        self.word(key).and_then(|word| sink.take(word.integer(0..=u64::MAX))).unwrap_or(default)
    }

    /// A number, or `default`.
    pub(super) fn number(&self, key: &str, default: f64, sink: &Sink) -> f64 {
        self.word(key).and_then(|word| sink.take(word.number())).unwrap_or(default)
    }

    /// Anything but 0, or `default`.
    pub(super) fn flag(&self, key: &str, default: bool, sink: &Sink) -> bool {
        self.integer(key, u64::from(default), sink) != 0
    }

    /// A rate, if it is there.
    pub(super) fn rate(&self, key: &str, sink: &Sink) -> Option<Rate> {
        sink.take(units::rate(self.word(key)?))
    }

    /// Values by the rate of a link.
    pub(super) fn by_rate(&self, key: &str, sink: &Sink) -> BTreeMap<u64, f64> {
        let pairs = self.entry(key).map_or(&[][..], |entry| &entry.values);
        let pairs = pairs.chunks_exact(2).filter_map(|pair| {
            let rate = sink.take(pair[0].integer(0..=u64::MAX));
            let value = sink.take(pair[1].number());
            rate.zip(value)
        });
        pairs.collect()
    }
}

/// The most entries of a map: more speeds than any network has.
const MAP_MAX: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_sorted_and_known_once() {
        assert!(HPCC_KEYS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn values_are_read_in_any_order_and_unknown_words_are_skipped() {
        let text = "CC_MODE 1\nfoo bar\nKMAX_MAP 2 25000000000 400 100000000000 1600 BUFFER_SIZE\n32\nCC_MODE 3\nLINK_DOWN 0 0 0";
        assert!(pauseless_text::foreign::is_hpcc(text));
        let sink = Sink::default();
        let config = Config::parse(text.into(), &sink);
        assert_eq!(config.integer("CC_MODE", 0, &sink), 3);
        assert_eq!(config.integer("BUFFER_SIZE", 16, &sink), 32);
        assert_eq!(config.integer("HAS_WIN", 1, &sink), 1);
        let map = config.by_rate("KMAX_MAP", &sink);
        assert_eq!(Vec::from_iter(map), [(25_000_000_000, 400.0), (100_000_000_000, 1600.0)]);
        let unknown = config.unknown.iter().map(|word| word.text);
        assert_eq!(Vec::from_iter(unknown), ["foo", "bar"]);
        let slip = Config::parse("CC_MODE 1\nBUFER_SIZE\n".into(), &sink);
        assert_eq!(
            slip.skipped(),
            [
                "\"BUFER_SIZE\" is no key and was skipped",
                "line 2 of the configuration: \"BUFER_SIZE\"; did you mean BUFFER_SIZE?"
            ]
        );
        assert_eq!(config.repeated, ["CC_MODE"]);
        assert!(sink.is_empty());
        assert!(!pauseless_text::foreign::is_hpcc(
            "[topology]\nkind = \"ring\"\n# CC_MODE BUFFER_SIZE HAS_WIN"
        ));
    }

    #[test]
    fn hostile_values_are_refused() {
        let problems = |text: &str| {
            let sink = Sink::default();
            let config = Config::parse(text.into(), &sink);
            config.integer("CC_MODE", 0, &sink);
            config.by_rate("KMAX_MAP", &sink);
            Vec::from_iter(sink.into_list().into_iter().map(|problem| problem.message))
        };
        assert_eq!(problems("CC_MODE"), ["the file ends within the values of CC_MODE"]);
        assert_eq!(problems("CC_MODE -1"), ["\"-1\" is out of place"]);
        assert_eq!(problems("KMAX_MAP 4000000000 1 1"), ["\"4000000000\" is out of place"]);
        assert_eq!(problems("KMAX_MAP 2 1 1"), ["the file ends within the values of KMAX_MAP"]);
        assert_eq!(
            problems("KMAX_MAP 1 x nan"),
            ["\"x\" is out of place", "\"nan\" is out of place"]
        );
    }
}
