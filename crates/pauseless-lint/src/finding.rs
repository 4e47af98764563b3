//! What a rule has found: where, what, what to do, and, where that is mechanical, the patch.

use crate::database::{Row, Text};
use crate::fix::Op;
use crate::json::Span;
use crate::rule::Rule;
use crate::switch::{Port, Switch};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the exit status stays 0.
    Note,
    /// Loses or stalls under load or after a fault.
    Warning,
    /// Loses or stalls as configured.
    Error,
}

impl Severity {
    /// The word for it, in every report.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Where something is configured: a place in a file, and its name in the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Which file, among those that were read.
    pub file: usize,
    /// The characters that are pointed at.
    pub at: Span,
    /// The table, such as `PORT_QOS_MAP`; empty where there is none.
    pub table: String,
    /// The key in the table, such as `Ethernet0|3-4`.
    pub key: String,
    /// The field of the row; empty for the row itself.
    pub field: String,
    /// The value of the field; empty for the row itself.
    pub value: String,
}

impl Place {
    /// A field of a row, or the row where it has no such field.
    pub fn of(row: Row, field: &str) -> Place {
        let value = row.get(field);
        let place = Place {
            file: row.file(),
            at: row.key().at,
            table: row.table().to_string(),
            key: row.key().text.to_string(),
            field: field.to_string(),
            value: String::new(),
        };
        match value {
            Some(Text { text, at }) => Place { at, value: text.to_string(), ..place },
            None => place,
        }
    }

    /// The place of the row itself.
    pub fn row(row: Row) -> Place {
        Place { field: String::new(), ..Place::of(row, "") }
    }

    /// A part of a file that is no database.
    pub fn in_file(file: usize, at: Span) -> Place {
        Place { file, at, ..Place::default() }
    }

    /// Table, key and field, such as `PORT_QOS_MAP|Ethernet0|pfc_enable`.
    pub fn name(&self) -> String {
        let table = self.table.split(['|', ':']).next().unwrap_or_default();
        let parts = [table, self.key.as_str(), self.field.as_str()];
        Vec::from_iter(parts.into_iter().filter(|part| !part.is_empty())).join("|")
    }
}

/// Something that a rule has found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that has found it.
    pub rule: &'static Rule,
    /// How bad it is here.
    pub severity: Severity,
    /// The device that it is about; empty for the fabric.
    pub device: String,
    /// The port, profile or other thing that it is about; the message starts with it.
    pub subject: String,
    /// What is wrong, without the subject.
    pub message: String,
    /// The sentence that says what to do.
    pub fix: String,
    /// Where it is configured.
    pub place: Place,
    /// The other places that have to do with it.
    pub related: Vec<Place>,
    /// The priority group that it is about, where one finding hides another by it.
    pub group: Option<u8>,
    /// What to change, if a machine can.
    pub patch: Vec<Op>,
}

impl Finding {
    /// The sentence, with what it is about.
    pub fn sentence(&self) -> String {
        match self.subject.as_str() {
            "" => self.message.clone(),
            subject => format!("{subject}: {}", self.message),
        }
    }

    /// Says it more or less strongly than the rule does.
    pub fn severity(mut self, severity: Severity) -> Finding {
        self.severity = severity;
        self
    }

    /// Says which group it is about.
    pub fn group(mut self, group: u8) -> Finding {
        self.group = Some(group);
        self
    }

    /// Says what else has to do with it.
    pub fn beside(mut self, place: Place) -> Finding {
        self.related.push(place);
        self
    }

    /// Says what would repair it.
    pub fn patch(mut self, ops: impl IntoIterator<Item = Op>) -> Finding {
        self.patch.extend(ops);
        self
    }
}

/// Where the findings of one rule go.
#[derive(Debug)]
pub struct Found<'f> {
    rule: &'static Rule,
    list: &'f mut Vec<Finding>,
}

impl<'f> Found<'f> {
    /// What this rule finds goes to that list.
    pub fn new(rule: &'static Rule, list: &'f mut Vec<Finding>) -> Found<'f> {
        Found { rule, list }
    }

    /// Adds a finding to the list.
    pub fn push(&mut self, finding: Finding) {
        self.list.push(finding);
    }

    /// A finding about a port.
    pub fn at_port(&self, switch: &Switch, port: &Port, place: Place, message: String) -> Finding {
        self.about(switch, port.name, place, message)
    }

    /// A finding about something of a switch.
    pub fn about(&self, switch: &Switch, subject: &str, place: Place, message: String) -> Finding {
        Finding { device: switch.name.clone(), ..self.of(subject, place, message) }
    }

    /// A finding about something that no switch has for itself.
    pub fn of(&self, subject: &str, place: Place, message: String) -> Finding {
        Finding {
            rule: self.rule,
            severity: self.rule.severity,
            device: String::new(),
            subject: subject.to_string(),
            message,
            fix: self.rule.fix.to_string(),
            place,
            related: Vec::new(),
            group: None,
            patch: Vec::new(),
        }
    }
}
