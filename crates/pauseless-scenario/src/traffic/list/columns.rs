//! The columns that a list of flows can have, each declared once.

use pauseless_core::unit::{Bytes, Span};

use super::super::super::flows::{SIZES, TIMES};
use super::rows::{Parser, Row, Rows};
use pauseless_text::declare::{Fallback, KeyInfo, Kind};
use pauseless_text::lex::Word;

/// A column of a list.
pub struct Column {
    /// What the header calls it, but for the unit of its numbers.
    pub name: &'static str,
    /// A sentence that says what the column means.
    about: &'static str,
    /// What holds for a list or a row without it.
    default: &'static str,
    /// Whether every list has it, and every row says something there.
    pub is_required: bool,
    /// The unit of its words, if they are numbers.
    pub numbers: Numbers,
    /// Puts a word into a row.
    pub fill: for<'t> fn(&mut Parser<'t>, &mut Row, Cell<'t>),
    /// Whether a row has something there that must be written.
    pub is_needed: fn(&Row) -> bool,
    /// What a row has there, as it is written.
    pub show: fn(&Rows, &Row) -> String,
}

impl Column {
    /// Words that every row may leave out, with nothing done about them.
    const WORDS: Column = Column {
        name: "",
        about: "",
        default: "",
        is_required: false,
        numbers: Numbers::None,
        fill: |_, _, _| {},
        is_needed: |_| true,
        show: |_, _| String::new(),
    };
}

/// What the words of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Texts, or plain numbers.
    None,
    Sizes,
    Times,
}

impl Numbers {
    /// What stands behind the `_` of a column, and the unit that its numbers are in then; the
    /// smallest first.
    fn units(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Numbers::None => &[],
            Numbers::Sizes => &[("bytes", "B"), ("kb", "KB"), ("mb", "MB")],
            Numbers::Times => &[("ps", "ps"), ("ns", "ns"), ("us", "us"), ("ms", "ms"), ("s", "s")],
        }
    }

    /// What stands behind the `_` for the unit that suits most; empty where there is none.
    pub fn usual(self) -> &'static str {
        match self {
            Numbers::None => "",
            Numbers::Sizes => "bytes",
            Numbers::Times => "ns",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Numbers::None => Kind::Text("a word"),
            Numbers::Sizes => Kind::quantity::<Bytes>(&Some(SIZES)),
            Numbers::Times => Kind::quantity::<Span>(&Some(TIMES)),
        }
    }
}

/// All columns, in the order in which they are written.
pub(super) static COLUMNS: [Column; 10] = [
    Column {
        name: "source",
        about: "The host that sends.",
        is_required: true,
        fill: |parser, row, cell| row.source = parser.host(cell.word.text),
        show: |rows, row| rows.hosts[row.source as usize].clone(),
        ..Column::WORDS
    },
    Column {
        name: "target",
        about: "The host that receives.",
        is_required: true,
        fill: |parser, row, cell| row.target = parser.host(cell.word.text),
        show: |rows, row| rows.hosts[row.target as usize].clone(),
        ..Column::WORDS
    },
    Column {
        name: "size",
        about: "Frame bytes to send, with a unit, such as `2MB`; `size_bytes`, `size_kb` and \
                `size_mb` have plain numbers.",
        default: "the section's `size`",
        numbers: Numbers::Sizes,
        fill: |parser, row, cell| row.size = parser.quantity(cell, SIZES),
        is_needed: |row| row.size.is_some(),
        show: |_, row| row.size.map_or("-".into(), |size| size.get().to_string()),
        ..Column::WORDS
    },
    Column {
        name: "start",
        about: "When it starts, counted from the section's `start`, with a unit; `start_ps`, \
                `start_ns`, `start_us`, `start_ms` and `start_s` have plain numbers.",
        default: "0",
        numbers: Numbers::Times,
        fill: |parser, row, cell| row.start = parser.quantity(cell, TIMES).unwrap_or(Span::ZERO),
        show: |_, row| row.start.as_ps().to_string(),
        ..Column::WORDS
    },
    Column {
        name: "class",
        about: "The traffic class.",
        default: "the section's",
        fill: |parser, row, cell| row.class = class(parser, cell.word),
        is_needed: |row| row.class.is_some(),
        show: |_, row| row.class.map_or("-".into(), |class| class.to_string()),
        ..Column::WORDS
    },
    Column {
        name: "name",
        about: "What the flow is called, as it stands.",
        default: "`NAME/SOURCE->TARGET`, from the second on with `#NUMBER`",
        fill: |parser, row, cell| row.name = name(parser, cell.word),
        is_needed: |row| row.name.is_some(),
        show: |_, row| word(&row.name),
        ..Column::WORDS
    },
    Column {
        name: "after",
        about: "Names of rows of this list that must be finished before it starts, with commas \
                between them.",
        default: "none",
        fill: |_, row, cell| row.after = Some(cell.word.text.into()),
        is_needed: |row| row.after.is_some(),
        show: |_, row| word(&row.after),
        ..Column::WORDS
    },
    Column {
        name: "delay",
        about: "How long after the last of them it starts; with units as `start`.",
        default: "0",
        numbers: Numbers::Times,
        fill: |parser, row, cell| row.delay = parser.quantity(cell, TIMES).unwrap_or(Span::ZERO),
        is_needed: |row| row.delay != Span::ZERO,
        show: |_, row| row.delay.as_ps().to_string(),
        ..Column::WORDS
    },
    Column {
        name: "path",
        about: "The switches from source to target, with commas between them; `NODE#2` for the \
                second of parallel links.",
        default: "by `[routing]`",
        fill: |_, row, cell| row.path = Some(cell.word.text.into()),
        is_needed: |row| row.path.is_some(),
        show: |_, row| word(&row.path),
        ..Column::WORDS
    },
    Column {
        name: "return_path",
        about: "The switches from target to source, for what the source is told, as `path`.",
        default: "by `[routing]`",
        fill: |_, row, cell| row.return_path = Some(cell.word.text.into()),
        is_needed: |row| row.return_path.is_some(),
        show: |_, row| word(&row.return_path),
        ..Column::WORDS
    },
];

/// The columns, for documents.
pub(super) fn columns() -> Vec<KeyInfo> {
    let columns = COLUMNS.iter().map(|column| KeyInfo {
        name: column.name,
        about: column.about.to_string(),
        kind: column.numbers.kind(),
        fallback: if column.is_required {
            Fallback::Required(column.name)
        } else {
            Fallback::Derived(column.default)
        },
        source: "",
    });
    columns.collect()
}

/// A column of a header: its numbers have a unit; an empty one where each value has its own.
#[derive(Clone, Copy)]
pub struct Titled {
    pub column: &'static Column,
    pub unit: &'static str,
}

/// A word of a row and its column.
#[derive(Clone, Copy)]
pub struct Cell<'t> {
    pub titled: Titled,
    pub word: Word<'t>,
}

impl Titled {
    /// The column called `word`.
    pub fn named(word: &str) -> Option<Titled> {
        let find = |name: &str| COLUMNS.iter().find(|column| column.name == name);
        if let Some(column) = find(word) {
            return Some(Titled { column, unit: "" });
        }
        let (name, suffix) = word.rsplit_once('_')?;
        let column = find(name)?;
        let units = column.numbers.units();
        let (_, unit) = units.iter().find(|(name, _)| *name == suffix)?;
        Some(Titled { column, unit })
    }

    /// A column in its smallest unit, in which every value is a whole number.
    pub fn exactly(column: &'static Column) -> Titled {
        let unit = column.numbers.units().first().map_or("", |(_, unit)| unit);
        Titled { column, unit }
    }

    /// What this column is called.
    pub fn title(self) -> String {
        let name = self.column.name;
        match self.column.numbers.units().iter().find(|(_, unit)| *unit == self.unit) {
            Some((suffix, _)) => format!("{name}_{suffix}"),
            None => name.to_string(),
        }
    }
}

/// All columns that there could be, with the units that suit most.
pub(super) fn titles() -> Vec<String> {
    let titles = COLUMNS.iter().map(|column| match column.numbers.usual() {
        "" => column.name.to_string(),
        unit => format!("{}_{unit}", column.name),
    });
    titles.collect()
}

/// What to do about a line that should have been a header.
pub(super) fn header_help() -> String {
    let example = titles()[..4].join(" ");
    format!("the first line names the columns, for example {example:?}")
}

fn class(parser: &mut Parser<'_>, word: Word<'_>) -> Option<u8> {
    let class = word.text.parse().ok();
    let class = class.filter(|class| *class < parser.class_count);
    if class.is_none() {
        let most = parser.class_count.saturating_sub(1);
        let problem = word.problem(format!("class: {:?} is no class", word.text));
        parser.report(problem.expected(format!("a whole number from 0 to {most}")));
    }
    class
}

fn name(parser: &mut Parser<'_>, word: Word<'_>) -> Option<Box<str>> {
    if word.text.contains([',', '\u{7f}']) || word.text.contains(char::is_control) {
        let problem = word.problem("name: it has a comma or a control character");
        parser.report(problem.help("choose another name"));
    }
    Some(word.text.into())
}

fn word(text: &Option<Box<str>>) -> String {
    text.as_deref().unwrap_or("-").to_string()
}
