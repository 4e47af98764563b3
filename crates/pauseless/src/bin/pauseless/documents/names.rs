//! What documents name in code spans exists: commands and flags, sections, keys and kinds, numbers,
//! and names with an underscore, which are at least somewhere in the sources.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use pauseless_run::results::curves::CURVES;
use pauseless_run::results::{NUMBERS, Reference};
use pauseless_text::declare::{Info, Kind};

use super::{Line, Part, commands, declarations, declared, documents, files, helps, root};

/// What is named and is not ours, and why it stands there.
const FOREIGN: &[(&str, &str)] = &[
    ("--profile dev", "a flag of cargo"),
    ("--no-huge", "a flag of DPDK's testpmd"),
    ("Switch_Latency_ns", "a key of htsim's trees, which is read whatever its case"),
    ("Queue_Up", "the same"),
    ("Queue_Down", "the same"),
    ("[addresses]", "a section of a node's file, which has no declaration"),
    ("envelope = \"private\"", "a key of the same"),
    ("[[waiver]]", "a section of a file of waivers, which has no declaration"),
    ("rule = \"PL404\"", "a key of the same"),
    ("until = \"2027-05-31\"", "the same"),
    ("slowdown_p99_class0", "a column, made of a number and its parameters"),
    ("fct_mean_us_best", "a column, made of a number and its bound"),
    ("fct_mean_us_worst", "the same"),
    ("flow_control_xoff_bytes", "a column, made of a key and its unit"),
    ("delay_s", "the same"),
    ("axis.scheme = { only = [\"PFC\", \"GFC\"] }", "the name of an axis"),
];

/// Calls `see` with the path, the sentence and the kind of every key and kind below `info`.
pub fn walk(info: &Info, see: &mut dyn FnMut(&str, &str, Option<&Kind>)) {
    below(info, "", see);
}

fn below(info: &Info, path: &str, see: &mut dyn FnMut(&str, &str, Option<&Kind>)) {
    let join = |name: &str| if path.is_empty() { name.into() } else { format!("{path}.{name}") };
    for key in &info.keys {
        see(&join(key.name), &key.about, Some(&key.kind));
        within(&key.kind, &join(key.name), see);
    }
    if let Some(variants) = &info.variants {
        let words = variants.list.iter().map(|(name, _)| *name).collect();
        see(&join(variants.key), "", Some(&Kind::Word(words)));
        for (_, own) in &variants.list {
            see(path, &own.about, None);
            below(own, path, see);
        }
    }
}

fn within(kind: &Kind, path: &str, see: &mut dyn FnMut(&str, &str, Option<&Kind>)) {
    match kind {
        Kind::Table(info) | Kind::Tables(info) | Kind::TablesOrOne(info) => below(info, path, see),
        Kind::Map(of) | Kind::List { of, .. } => within(of, path, see),
        Kind::Either(kinds) => kinds.iter().for_each(|kind| within(kind, path, see)),
        Kind::Rows(keys) => {
            keys.iter().for_each(|key| see(&format!("{path}.{}", key.name), &key.about, None));
        }
        _ => {}
    }
}

static KNOWN: LazyLock<Known> = LazyLock::new(Known::new);

/// All that can be named.
struct Known {
    /// The paths of keys and sections.
    paths: BTreeSet<String>,
    /// Those of sections alone.
    sections: BTreeSet<String>,
    /// The words that can be written behind a key, by its last name; `None` if it is not only words.
    values: BTreeMap<String, Option<BTreeSet<String>>>,
    /// The flags of each command.
    flags: BTreeMap<String, BTreeSet<String>>,
    /// Every name in the sources and files of the repository.
    identifiers: HashSet<String>,
}

impl Known {
    fn new() -> Known {
        let mut paths = BTreeSet::new();
        let mut sections = BTreeSet::new();
        let mut values = BTreeMap::new();
        for (_, info) in declarations() {
            walk(&info, &mut |path, _, kind| {
                let Some(kind) = kind else { return };
                paths.insert(path.to_string());
                if is_section(kind) {
                    sections.insert(path.to_string());
                }
                let name = path.rsplit('.').next().unwrap_or(path).to_string();
                let known = values.entry(name).or_insert_with(|| Some(BTreeSet::new()));
                match (all_words(kind), known) {
                    (Some(words), Some(known)) => known.extend(words),
                    (_, known) => *known = None,
                }
            });
        }
        let flags = commands().into_iter().map(|(name, command)| {
            let flags = command.get_arguments().flat_map(|argument| argument.get_long());
            (name, flags.map(str::to_string).chain(["help".into(), "version".into()]).collect())
        });
        Known { paths, sections, values, flags: flags.collect(), identifiers: identifiers() }
    }

    /// Why `span` cannot be, if it has the form of something that must exist and does not.
    fn wrong(&self, span: &str) -> Option<String> {
        let words = Vec::from_iter(span.split_whitespace());
        let first = *words.first()?;
        if FOREIGN.iter().any(|(name, _)| *name == span) {
            return None;
        }
        if first == "cargo" {
            return wrong_cargo(&words);
        }
        if first == "pauseless" || first.starts_with("--") || self.is_command(&words) {
            return self.wrong_command(&words);
        }
        if let Some(section) = section(span) {
            let is_known = self.sections.iter().any(|path| has_section(path, section));
            return (!is_known).then(|| format!("no file has the section [{section}]"));
        }
        if span.starts_with("pauseless_") && span.contains("::") {
            return wrong_item(span);
        }
        if let Some((key, value)) = span.split_once(" = ") {
            return self.wrong_value(key, value);
        }
        if let Some((name, rest)) = span.split_once('{').filter(|(name, _)| is_name(name)) {
            let is_number = NUMBERS.iter().any(|number| number.name == name);
            let is_curve = CURVES.iter().any(|curve| curve.name == name);
            return match Reference::parse(span) {
                _ if is_curve => None,
                Err(why) if rest.contains('=') && !rest.contains("group=") => Some(why),
                _ if is_number => None,
                _ => Some(format!("no number is called {name}")),
            };
        }
        if span.contains('.') && span.split('.').all(is_step) {
            return self.wrong_path(span);
        }
        let is_long = is_name(span) && span.trim_start_matches('_').contains('_');
        let is_unknown = is_long && !self.identifiers.contains(span);
        is_unknown.then(|| format!("{span} is nowhere in the sources"))
    }

    fn is_command(&self, words: &[&str]) -> bool {
        let has_flag = words.len() > 1 && words[1..].iter().any(|word| word.starts_with("--"));
        has_flag && self.flags.contains_key(&format!("pauseless {}", words[0]))
    }

    fn wrong_command(&self, words: &[&str]) -> Option<String> {
        let mut name = "pauseless".to_string();
        let mut is_open = false;
        for word in words.iter().skip_while(|word| **word == "pauseless") {
            let longer = format!("{name} {word}");
            if self.flags.contains_key(&longer) {
                name = longer;
            } else {
                is_open = word.starts_with("--");
                break;
            }
        }
        if name == "pauseless" && !is_open && words.len() > 1 {
            return Some(format!("there is no command {}", words[1]));
        }
        let flags = words.iter().take_while(|word| **word != "--");
        let flags = flags.filter_map(|word| word.strip_prefix("--"));
        for flag in flags {
            let flag = flag.split(['=', ',', '[']).next().unwrap_or_default();
            let mut commands = self.flags.iter();
            // A flag alone is of some command that the sentence is about.
            let is_known = match name.as_str() {
                "pauseless" => commands.any(|(_, flags)| flags.contains(flag)),
                _ => self.flags[&name].contains(flag),
            };
            if !is_known {
                return Some(format!("{name} has no flag --{flag}"));
            }
        }
        None
    }

    fn wrong_value(&self, key: &str, value: &str) -> Option<String> {
        let key = key.trim().rsplit(['.', ' ']).next().unwrap_or_default();
        // Names of nodes and the like begin with a capital.
        if !is_name(key) || key.starts_with(|char: char| char.is_ascii_uppercase()) {
            return None;
        }
        let Some(values) = self.values.get(key) else {
            let is_known = self.identifiers.contains(key);
            return (!is_known).then(|| format!("no file has the key {key}"));
        };
        let word = value.strip_prefix('"')?.split('"').next()?;
        let values = values.as_ref()?;
        let is_known = values.contains(word) || word.chars().all(|char| char.is_ascii_uppercase());
        (!is_known).then(|| format!("{key} cannot be {word:?}"))
    }

    /// Whether a path whose first name is a section leads to a key; names of elements of lists, as
    /// in `flow.F1.rate`, may be anything.
    fn wrong_path(&self, span: &str) -> Option<String> {
        let first = span.split('.').next()?;
        let is_section = self.paths.iter().any(|path| path.starts_with(&format!("{first}.")));
        let is_file = ["toml", "rs", "json", "csv", "parquet", "md", "html", "txt", "lst"];
        let last = span.rsplit('.').next()?;
        if !is_section || is_file.contains(&last) || self.paths.iter().any(|path| leads(path, span))
        {
            return None;
        }
        let is_number = Reference::parse(span).is_ok();
        let is_known = is_number || self.identifiers.contains(last) && span.contains("[]");
        (!is_known).then(|| format!("{span} leads to no key"))
    }
}

/// Whether a declared path is that of `named`, in which names of elements may stand between.
fn leads(path: &str, named: &str) -> bool {
    let mut steps = named.split('.');
    let all = path.split('.').all(|step| steps.any(|named| named == step));
    let ends = path.rsplit('.').next() == named.rsplit('.').next() || named.ends_with(".NAME");
    all && ends && path.split('.').next() == named.split('.').next()
}

/// Whether a declared path is that of a section, of which documents may write the last name only, or
/// in which the last name is that of an element, as in `[routing.tables.S1]`.
fn has_section(path: &str, named: &str) -> bool {
    let element = named.rsplit_once('.').map(|(before, _)| before);
    let is_inner = path.rsplit('.').next() == Some(named);
    is_inner || leads(path, named) || element.is_some_and(|map| leads(path, map))
}

/// Why a call of cargo cannot be: it names a package, test, bench or example that there is not.
fn wrong_cargo(words: &[&str]) -> Option<String> {
    let behind = |flag: &str| words.iter().skip_while(|word| **word != flag).nth(1);
    let package = behind("-p").unwrap_or(&"pauseless");
    let folder = root().join("crates").join(package);
    if !folder.is_dir() {
        return Some(format!("there is no package {package}"));
    }
    let kinds = [("--test", "tests"), ("--bench", "benches"), ("--example", "examples")];
    kinds.into_iter().find_map(|(flag, place)| {
        let name = behind(flag)?;
        let place = folder.join(place);
        let exists = place.join(format!("{name}.rs")).is_file() || place.join(name).is_dir();
        (!exists).then(|| format!("{package} has no {flag} {name}"))
    })
}

/// Why a path such as `pauseless_core::deadlock` cannot be: the crate has no source or folder for the
/// module behind it, and no item of that name in its `lib.rs`.
fn wrong_item(span: &str) -> Option<String> {
    let (name, rest) = span.split_once("::")?;
    let module = rest.split("::").next()?;
    let source = root().join("crates").join(name.replace('_', "-")).join("src");
    let is_module = source.join(module).is_dir() || source.join(format!("{module}.rs")).is_file();
    let library = fs::read_to_string(source.join("lib.rs")).unwrap_or_default();
    let is_item = ["fn ", "struct ", "enum ", "trait "]
        .iter()
        .any(|kind| library.contains(&format!("pub {kind}{module}")));
    (!is_module && !is_item).then(|| format!("{name} has no {module}"))
}

fn is_section(kind: &Kind) -> bool {
    match kind {
        Kind::Map(_) => true,
        Kind::Either(kinds) => kinds.iter().any(is_section),
        _ => kind.is_section(),
    }
}

/// The words that can be written behind a key, if nothing else can.
fn all_words(kind: &Kind) -> Option<BTreeSet<String>> {
    match kind {
        Kind::Word(words) => Some(words.iter().map(|word| word.to_string()).collect()),
        Kind::List { of, .. } => all_words(of),
        _ => None,
    }
}

fn section(span: &str) -> Option<&str> {
    let name = span.strip_prefix('[')?.strip_suffix(']')?;
    let name = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(name);
    is_path(name).then_some(name)
}

fn is_path(text: &str) -> bool {
    text.split('.').all(is_name)
}

/// Whether this may stand between the points of a path: a name, or the position of an element.
fn is_step(text: &str) -> bool {
    is_name(text) || !text.is_empty() && text.chars().all(|char| char.is_ascii_digit())
}

fn is_name(text: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    !text.is_empty() && text.chars().all(is_part) && !text.starts_with(|it: char| it.is_numeric())
}

/// Every name in the sources of the repository and in its files, but not in documents.
fn identifiers() -> HashSet<String> {
    let mut paths = Vec::new();
    for folder in ["crates", "xtask", "fuzz", "scenarios", "papers", "testbeds", "examples"] {
        files(&root().join(folder), &[".rs", ".ts", ".toml", ".json", ".py", ".txt"], &mut paths);
    }
    let mut found = HashSet::new();
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    for path in paths.iter().filter(|path| !path.ends_with("documents/names.rs")) {
        let text = fs::read_to_string(path).unwrap_or_default();
        let names = text.split(|char| !is_part(char)).filter(|name| name.contains('_'));
        for name in names {
            if !found.contains(name) {
                found.insert(name.to_string());
            }
        }
    }
    found
}

/// The code spans of a line; a line of a file is one.
fn spans(line: &Line) -> Vec<&str> {
    match line.part {
        Part::Prose | Part::Row => line.text.split('`').skip(1).step_by(2).collect(),
        // A node's file has no declaration.
        Part::Toml if line.place.starts_with("docs/switch.md") => Vec::new(),
        Part::Toml => Vec::from_iter(line.text.split(" #").next().map(str::trim)),
        Part::Shell => line.text.find("cargo ").map(|at| &line.text[at..]).into_iter().collect(),
        Part::Block => Vec::new(),
    }
}

#[test]
fn what_documents_name_exists() {
    let known = &*KNOWN;
    let mut wrong = Vec::new();
    let mut count = 0;
    let mut unused = BTreeSet::from_iter(FOREIGN.iter().map(|(name, _)| *name));
    for line in documents().into_iter().chain(helps()).chain(declared()) {
        for span in spans(&line) {
            count += 1;
            unused.remove(span);
            wrong.extend(known.wrong(span).map(|why| format!("{}: `{span}`: {why}", line.place)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(unused.is_empty(), "nothing names these any more: {unused:?}");
    assert!(count > 2_000, "only {count} names were found");
}

/// Messages and comments name commands and flags of ours, too; those of benches are their own.
#[test]
fn commands_that_sources_name_exist() {
    let mut paths = Vec::new();
    files(&root().join("crates"), &[".rs"], &mut paths);
    let mut wrong = Vec::new();
    let mut count = 0;
    let is_bench = |path: &Path| path.iter().any(|folder| folder == "benches");
    for path in paths.iter().filter(|it| !it.ends_with("documents/names.rs") && !is_bench(it)) {
        let text = fs::read_to_string(path).expect("a source");
        for (index, line) in text.lines().enumerate() {
            let spans = line.split('`').skip(1).step_by(2);
            // What is put together from parts, or goes on in the next line, cannot be judged.
            let whole = spans.filter(|span| !span.contains(['{', '\\']));
            for span in whole.filter(|span| span.starts_with("pauseless ") || is_flag(span)) {
                count += 1;
                let why = KNOWN.wrong(span);
                wrong.extend(why.map(|why| format!("{}:{}: {why}", path.display(), index + 1)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 30, "only {count} were found");
}

fn is_flag(span: &str) -> bool {
    span.strip_prefix("--").is_some_and(|name| name.starts_with(|it: char| it.is_ascii_lowercase()))
}

#[test]
fn what_does_not_exist_is_found() {
    let known = &*KNOWN;
    for span in [
        "pauseless simulate",
        "pauseless run --fast",
        "run --fast",
        "--no-such-flag",
        "[flow_controls]",
        "[[flows]]",
        "kind = \"hpc\"",
        "no_such_key = 1",
        "switch.bufer",
        "flow_control.at.1.xof",
        "fct_us{q=99}",
        "rates{flow=F1}",
        "no_such_name_anywhere",
        "pauseless_sim::replica",
        "cargo test -p pauseless-lab",
        "cargo bench -p pauseless-sim --bench no_such_bench",
    ] {
        assert!(known.wrong(span).is_some(), "{span}");
    }
    for span in [
        "pauseless run FILE --json",
        "sweep merge",
        "--deny",
        "[[flow]]",
        "[verdict.steady]",
        "kind = \"hpcc\"",
        "flow.F1.rate",
        "switch.memory",
        "fct_us{p=99}",
        "held_ms{port}",
        "pauseless_core::deadlock",
        "a.toml",
        "cargo bench -p pauseless-sim --bench fat_tree -- 8 pfc",
    ] {
        assert_eq!(known.wrong(span), None, "{span}");
    }
}
