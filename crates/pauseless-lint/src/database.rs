//! A database of SONiC as rows of tables, each field with its place, whatever form the dump has.
//!
//! Nested (`{"PORT": {"Ethernet0": {..}}}`), flat (`"PORT|Ethernet0"`), the state databases
//! (`"BUFFER_PG_TABLE:Ethernet0:3-4"`) and `sonic-db-dump -y`, which wraps every row, become the same.

use std::collections::HashMap;
use std::ops::Range;

use pauseless_text::problem::Problem;

use crate::json::{self, Kind, Member, Span};

/// The rows of a file.
#[derive(Debug)]
pub struct Database<'t> {
    /// Which file it is, among those that were read.
    pub file: usize,
    /// The text of the file.
    text: &'t str,
    rows: Vec<RowData>,
    fields: Vec<FieldData>,
    /// The rows of each table, one range after the other.
    tables: HashMap<&'t str, Vec<Range<u32>>>,
    /// Strings that the text does not have as they are, by their place: escaped ones, and keys.
    rewritten: HashMap<u32, String>,
    /// Whether the rows are in the form of the state databases.
    pub is_state: bool,
}

#[derive(Debug)]
struct RowData {
    table: Span,
    key: Span,
    at: Span,
    fields: Range<u32>,
}

#[derive(Debug)]
struct FieldData {
    name: Span,
    value: Span,
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Row<'d> {
    database: &'d Database<'d>,
    index: u32,
}

/// A string of a file, with its place.
#[derive(Clone, Copy, Debug)]
pub struct Text<'d> {
    /// The string that stands there.
    pub text: &'d str,
    /// The place at which it stands.
    pub at: Span,
}

impl<'t> Database<'t> {
    /// Reads a file of this number.
    ///
    /// # Errors
    /// What is no JSON, no table, or there twice.
    pub fn read(file: usize, text: &'t str) -> Result<Database<'t>, Problem> {
        let root = json::parse(text)?;
        if !matches!(root.kind, Kind::Object(_)) {
            let problem = Problem::new(root.at.range(), "a database is an object");
            return Err(problem.expected("tables by name, {..}"));
        }
        let mut database = Database {
            file,
            text,
            rows: Vec::new(),
            fields: Vec::new(),
            tables: HashMap::new(),
            rewritten: HashMap::new(),
            is_state: false,
        };
        database.no_twice(root.members())?;
        for member in root.members() {
            database.top(member)?;
        }
        Ok(database)
    }

    /// A member of the document: a table, or a row with a flat key.
    fn top(&mut self, member: &Member) -> Result<(), Problem> {
        let name = &self.text[member.name.range()];
        let Some(split) = name.find(['|', ':']) else {
            if !matches!(member.value.kind, Kind::Object(_)) {
                // A remark, such as the "_comment" of some templates.
                return Ok(());
            }
            self.no_twice(member.value.members())?;
            let first = self.rows.len() as u32;
            for row in member.value.members() {
                self.row(member.name, row.name, row)?;
            }
            self.note_rows(name, first);
            return Ok(());
        };
        let table = Span { start: member.name.start, end: member.name.start + split as u32 };
        let key = Span { start: table.end + 1, end: member.name.end };
        let first = self.rows.len() as u32;
        if name[split..].starts_with(':') {
            self.is_state = true;
            let key_text = &self.text[key.range()];
            if key_text.contains(':') {
                self.rewritten.insert(key.start, key_text.replace(':', "|"));
            }
        }
        self.row(table, key, member)?;
        let table = self.text[table.range()].trim_end_matches("_TABLE");
        let table = if table == "FLEX_COUNTER" { "FLEX_COUNTER_TABLE" } else { table };
        self.note_rows(table, first);
        Ok(())
    }

    fn note_rows(&mut self, table: &'t str, first: u32) {
        let ranges = self.tables.entry(table).or_default();
        let end = self.rows.len() as u32;
        match ranges.last_mut() {
            Some(last) if last.end == first => last.end = end,
            _ => ranges.push(first..end),
        }
    }

    fn row(&mut self, table: Span, key: Span, member: &Member) -> Result<(), Problem> {
        let mut value = &member.value;
        let is_wrapped = value.get(self.text, "type").is_some();
        if let Some(inner) = value.get(self.text, "value").filter(|_| is_wrapped)
            && matches!(inner.kind, Kind::Object(_))
        {
            value = inner;
        }
        if !matches!(value.kind, Kind::Object(_)) {
            let name = &self.text[member.name.range()];
            let problem =
                Problem::new(value.at.range(), format!("the row {} is no object", quoted(name)));
            return Err(problem.expected("fields by name, {..}"));
        }
        self.no_twice(value.members())?;
        self.note_escapes(key);
        let first = self.fields.len() as u32;
        for field in value.members() {
            self.note_escapes(field.name);
            self.note_escapes(field.value.at);
            self.fields.push(FieldData { name: field.name, value: field.value.at });
        }
        let fields = first..self.fields.len() as u32;
        self.rows.push(RowData { table, key, at: member.name, fields });
        Ok(())
    }

    fn note_escapes(&mut self, at: Span) {
        let text = &self.text[at.range()];
        if text.as_bytes().contains(&b'\\') && !text.starts_with(['[', '{']) {
            self.rewritten.insert(at.start, json::unescaped(text));
        }
    }

    /// Of two equal names only one can be meant.
    fn no_twice(&self, members: &[Member]) -> Result<(), Problem> {
        let name = |member: &Member| &self.text[member.name.range()];
        let twice = if members.len() < 16 {
            let mut pairs = members.iter().enumerate();
            pairs.find(|(at, one)| members[..*at].iter().any(|other| name(other) == name(one)))
        } else {
            let mut seen = std::collections::HashSet::with_capacity(members.len());
            members.iter().enumerate().find(|(_, one)| !seen.insert(name(one)))
        };
        let Some((_, member)) = twice else {
            return Ok(());
        };
        let message = format!("{} is there twice", quoted(name(member)));
        let problem = Problem::new(member.name.range(), message);
        Err(problem.help("delete one of them: only one can be meant"))
    }

    /// The rows of a table, in the order of the file.
    pub fn rows(&self, table: &str) -> impl Iterator<Item = Row<'_>> {
        let ranges = self.tables.get(table).map_or(&[][..], |ranges| ranges);
        ranges.iter().flat_map(Range::clone).map(|index| Row { database: self, index })
    }

    /// The row of a table that has this key.
    pub fn row_of(&self, table: &str, key: &str) -> Option<Row<'_>> {
        self.rows(table).find(|row| row.key().text == key)
    }

    /// The names of all tables, in the order of their first rows.
    pub fn tables(&self) -> Vec<&str> {
        let mut tables = Vec::from_iter(&self.tables);
        tables.sort_by_key(|(name, ranges)| (ranges.first().map(|range| range.start), **name));
        tables.into_iter().map(|(name, _)| *name).collect()
    }

    /// Whether the file has such a table.
    pub fn has(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    /// The same rows as tables inside of tables, whatever form the file has.
    pub fn nested(&self) -> serde_json::Value {
        let mut tables = serde_json::Map::new();
        for (table, ranges) in &self.tables {
            let rows = tables.entry(table.to_string()).or_insert_with(|| serde_json::json!({}));
            for index in ranges.iter().flat_map(Range::clone) {
                let row = Row { database: self, index };
                let fields = row.fields().map(|(name, value)| {
                    (name.text.to_string(), serde_json::Value::from(value.text))
                });
                rows[row.key().text] = serde_json::Value::Object(fields.collect());
            }
        }
        serde_json::Value::Object(tables)
    }

    fn string(&self, at: Span) -> Text<'_> {
        let plain = || &self.text[at.range()];
        let text = if self.rewritten.is_empty() {
            plain()
        } else {
            self.rewritten.get(&at.start).map_or_else(plain, String::as_str)
        };
        Text { text, at }
    }
}

impl<'d> Row<'d> {
    fn data(self) -> &'d RowData {
        &self.database.rows[self.index as usize]
    }

    /// Which file it is in.
    pub fn file(self) -> usize {
        self.database.file
    }

    /// The name of the table, as the file has it.
    pub fn table(self) -> &'d str {
        &self.database.text[self.data().table.range()]
    }

    /// The key of the row; parts of it are separated by `|`.
    pub fn key(self) -> Text<'d> {
        let data = self.data();
        Text { text: self.database.string(data.key).text, at: data.at }
    }

    /// The value of a field.
    pub fn get(self, name: &str) -> Option<Text<'d>> {
        self.fields().find(|(field, _)| field.text == name).map(|(_, value)| value)
    }

    /// All fields, in the order of the file.
    pub fn fields(self) -> impl Iterator<Item = (Text<'d>, Text<'d>)> {
        let data = self.data();
        let fields = &self.database.fields[data.fields.start as usize..data.fields.end as usize];
        let string = |at| self.database.string(at);
        fields.iter().map(move |field| (string(field.name), string(field.value)))
    }
}

impl<'d> Text<'d> {
    /// The items of a list: of an array, or of a string with commas.
    pub fn items(self) -> impl Iterator<Item = &'d str> {
        let inside = self.text.trim_start_matches('[').trim_end_matches(']');
        let items = inside.split(',').map(|item| item.trim().trim_matches('"'));
        items.filter(|item| !item.is_empty())
    }

    /// The whole number that is written, if it is one.
    pub fn number(self) -> Option<u64> {
        self.text.trim().parse().ok()
    }

    /// A whole number that may be below zero.
    pub fn signed(self) -> Option<i64> {
        self.text.trim().parse().ok()
    }

    /// The name that this refers to, bare or in the old style, `[TABLE|name]`.
    pub fn reference(self) -> Text<'d> {
        let inside = self.text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let name = inside.and_then(|text| text.split_once(['|', ':'])).map(|(_, name)| name);
        Text { text: name.unwrap_or(self.text), at: self.at }
    }
}

/// `name` in quotes, cut where it is too long for a message.
pub fn quoted(name: &str) -> String {
    const LENGTH_MAX: usize = 64;
    let name = Vec::from_iter(name.split_whitespace()).join(" ");
    match name.char_indices().nth(LENGTH_MAX) {
        None => format!("\"{name}\""),
        Some((cut, _)) => format!("\"{}..\"", &name[..cut]),
    }
}

/// Whether a text is meant to be such a database: it has one of the tables that count here.
pub fn looks_like(text: &str) -> bool {
    if !text.trim_start().starts_with('{') {
        return false;
    }
    let names = text.match_indices('"').map(|(quote, _)| &text[quote + 1..]);
    let mut tables = names.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
    tables.any(|name| {
        let end = name.find(['"', '|', ':']).unwrap_or(name.len());
        TABLES.contains(&name[..end].trim_end_matches("_TABLE"))
    })
}

/// The tables that say something about a lossless class, as CONFIG_DB names them, or APPL_DB without
/// the ending `_TABLE`.
const TABLES: [&str; 28] = [
    "DEVICE_METADATA",
    "PORT",
    "CABLE_LENGTH",
    "PORT_QOS_MAP",
    "DSCP_TO_TC_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "QUEUE",
    "SCHEDULER",
    "WRED_PROFILE",
    "PFC_WD",
    "FLEX_COUNTER",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "LOSSLESS_TRAFFIC_PATTERN",
    "TUNNEL",
    "DEVICE_NEIGHBOR",
    "LLDP_ENTRY",
    "BUFFER_MAX_PARAM",
    "PORTCHANNEL_MEMBER",
    "ROUTE",
    "LAG_MEMBER",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_the_same_rows() {
        let forms = [
            "{\"BUFFER_PG\": {\"Ethernet0|3-4\": {\"profile\": \"p\"}}}",
            "{\"BUFFER_PG|Ethernet0|3-4\": {\"profile\": \"p\"}}",
            "{\"BUFFER_PG_TABLE:Ethernet0:3-4\": {\"profile\": \"p\"}}",
            "{\"BUFFER_PG|Ethernet0|3-4\": {\"type\": \"hash\", \"value\": {\"profile\": \"p\"}}}",
        ];
        for text in forms {
            let database = Database::read(0, text).unwrap();
            let rows = Vec::from_iter(database.rows("BUFFER_PG"));
            assert_eq!(rows.len(), 1, "{text}");
            assert_eq!(rows[0].key().text, "Ethernet0|3-4");
            let profile = rows[0].get("profile").unwrap();
            assert_eq!(profile.text, "p");
            assert_eq!(&text[profile.at.range()], "p");
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        let refused = |text: &str| Database::read(0, text).unwrap_err().message;
        assert!(refused("[1]").contains("is an object"));
        assert!(refused("{\"PORT\": {\"a\": 1}}").contains("is no object"));
        assert!(refused("{\"PORT\": {\"a\": {}, \"a\": {}}}").contains("twice"));
        assert!(refused("{\"PORT\": {\"a\": {\"x\": \"1\", \"x\": \"2\"}}}").contains("twice"));
    }
}
