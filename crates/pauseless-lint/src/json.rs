//! JSON in one pass, every value with its place.
//!
//! The configurations of a thousand switches are 200 MB, and a rule points at the characters of a
//! value: so the text is cut once, and a value is its place in it. `serde_json` knows no places, and
//! unparsed values of it would read every level of the text again.

use std::ops::Range;

use pauseless_text::problem::Problem;

/// A place in a text, in bytes. Texts are below 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte of the place.
    pub start: u32,
    /// The byte behind the last one.
    pub end: u32,
}

impl Span {
    /// The place as a range of bytes.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An object, its members in the order of the file.
    Object(Vec<Member>),
    /// An array with its items.
    Array(Vec<Value>),
    /// A string; its place is inside the quotes.
    String,
    /// A number, `true`, `false` or `null`.
    Other,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The kind of the value, with what is inside.
    pub kind: Kind,
    /// Where it stands; a string without its quotes.
    pub at: Span,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Where the name stands, without its quotes.
    pub name: Span,
    /// The value of the member.
    pub value: Value,
}

impl Value {
    /// The members of an object; none of anything else.
    pub fn members(&self) -> &[Member] {
        match &self.kind {
            Kind::Object(members) => members,
            _ => &[],
        }
    }

    /// The items of an array; none of anything else.
    pub fn items(&self) -> &[Value] {
        match &self.kind {
            Kind::Array(items) => items,
            _ => &[],
        }
    }

    /// The member of this name.
    pub fn get(&self, text: &str, name: &str) -> Option<&Value> {
        let found = self.members().iter().find(|member| &text[member.name.range()] == name);
        found.map(|member| &member.value)
    }
}

/// Reads a whole text.
///
/// # Errors
/// The first thing that is not JSON, with its place.
pub fn parse(text: &str) -> Result<Value, Problem> {
    if text.len() >= u32::MAX as usize {
        return Err(Problem::new(0..0, "larger than 4 GiB").help("is this the right file?"));
    }
    let mut parser = Parser { bytes: text.as_bytes(), next: 0 };
    parser.space();
    let value = parser.value(DEPTH_MAX)?;
    parser.space();
    if parser.next < text.len() {
        return Err(parser.problem("text behind the end of the document"));
    }
    Ok(value)
}

struct Parser<'t> {
    bytes: &'t [u8],
    next: usize,
}

impl Parser<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.next).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.next += 1;
        }
    }

    fn problem(&self, message: &str) -> Problem {
        if self.bytes.iter().all(u8::is_ascii_whitespace) {
            return Problem::new(0..0, "the file is empty").help("is the file complete?");
        }
        if self.next >= self.bytes.len() {
            let end = self.bytes.trim_ascii_end().len();
            let problem = Problem::new(end - 1..end, "the file ends in the middle of a value");
            return problem.help("is the file complete?");
        }
        Problem::new(self.next..self.next + 1, format!("not JSON: {message}"))
    }

    fn value(&mut self, depth: u32) -> Result<Value, Problem> {
        match self.peek() {
            b'{' | b'[' if depth == 0 => Err(self.problem("nested too deeply")),
            b'{' => self.object(depth - 1),
            b'[' => self.array(depth - 1),
            b'"' => Ok(Value { at: self.string()?, kind: Kind::String }),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: u32) -> Result<Value, Problem> {
        let start = self.next;
        let mut members = Vec::new();
        self.next += 1;
        self.space();
        while self.peek() != b'}' {
            if !members.is_empty() {
                self.take(b',', "expected a comma or a closing brace")?;
                self.space();
            }
            if self.peek() != b'"' {
                return Err(self.problem("expected a name in quotes"));
            }
            let name = self.string()?;
            self.space();
            self.take(b':', "expected a colon")?;
            self.space();
            members.push(Member { name, value: self.value(depth)? });
            self.space();
        }
        self.next += 1;
        Ok(Value { kind: Kind::Object(members), at: self.since(start) })
    }

    fn array(&mut self, depth: u32) -> Result<Value, Problem> {
        let start = self.next;
        let mut items = Vec::new();
        self.next += 1;
        self.space();
        while self.peek() != b']' {
            if !items.is_empty() {
                self.take(b',', "expected a comma or a closing bracket")?;
                self.space();
            }
            items.push(self.value(depth)?);
            self.space();
        }
        self.next += 1;
        Ok(Value { kind: Kind::Array(items), at: self.since(start) })
    }

    fn take(&mut self, byte: u8, message: &str) -> Result<(), Problem> {
        if self.peek() != byte {
            return Err(self.problem(message));
        }
        self.next += 1;
        Ok(())
    }

    /// The inside of a string that begins here.
    fn string(&mut self) -> Result<Span, Problem> {
        let start = self.next + 1;
        self.next = start;
        loop {
            match self.bytes.get(self.next) {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(0..0x20) => return Err(self.problem("a control character in a string")),
                Some(_) => self.next += 1,
                None => return Err(self.problem("a string without end")),
            }
        }
        let at = self.since(start);
        self.next += 1;
        Ok(at)
    }

    fn escape(&mut self) -> Result<(), Problem> {
        let length = match self.bytes.get(self.next + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') => 6,
            _ => return Err(self.problem("an unknown escape sequence")),
        };
        let digits = self.bytes.get(self.next + 2..self.next + length);
        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            return Err(self.problem("an unknown escape sequence"));
        }
        self.next += length;
        Ok(())
    }

    fn word(&mut self) -> Result<Value, Problem> {
        let start = self.next;
        while matches!(self.peek(), b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') {
            self.next += 1;
        }
        let at = self.since(start);
        let word = &self.bytes[at.range()];
        let is_word = matches!(word, b"true" | b"false" | b"null");
        if is_word || is_number(word) {
            return Ok(Value { kind: Kind::Other, at });
        }
        self.next = start;
        Err(self.problem("expected a value"))
    }

    fn since(&self, start: usize) -> Span {
        // `parse` refuses longer texts.
        Span { start: start as u32, end: self.next as u32 }
    }
}

fn is_number(word: &[u8]) -> bool {
    let text = str::from_utf8(word).unwrap_or_default();
    let first = text.trim_start_matches('-').bytes().next();
    first.is_some_and(|byte| byte.is_ascii_digit())
        && text.parse::<f64>().is_ok()
        && !text.ends_with('.')
}

/// The string of which this is the inside, its escape sequences resolved.
pub fn unescaped(inside: &str) -> String {
    serde_json::from_str(&format!("\"{inside}\"")).unwrap_or_else(|_| inside.to_string())
}

/// A configuration has four levels.
const DEPTH_MAX: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_place() {
        let text = "{\"PORT\": {\"a\\n\": [1, \"x\"]}}";
        let root = parse(text).unwrap();
        let row = &root.members()[0].value.members()[0];
        assert_eq!(&text[row.name.range()], "a\\n");
        assert_eq!(unescaped(&text[row.name.range()]), "a\n");
        assert_eq!(&text[row.value.at.range()], "[1, \"x\"]");
        assert_eq!(&text[row.value.items()[1].at.range()], "x");
    }

    #[test]
    fn what_is_no_json_is_refused_with_its_place() {
        let deep = "[".repeat(100_000);
        let table = [
            ("", 0, "the file is empty"),
            ("{\"a\": ", 4, "the file ends in the middle"),
            ("{\"a\": 1,}", 8, "expected a name in quotes"),
            ("{\"a\" 1}", 5, "expected a colon"),
            ("{\"a\": 1 2}", 8, "expected a comma"),
            ("[1] 2", 4, "behind the end"),
            ("[nul]", 1, "expected a value"),
            ("[\"\\u12x4\"]", 2, "escape"),
            ("[\"a\nb\"]", 3, "control character"),
            (deep.as_str(), 64, "nested too deeply"),
        ];
        for (text, start, message) in table {
            let problem = parse(text).unwrap_err();
            assert!(problem.message.contains(message), "{text:.20}: {}", problem.message);
            assert_eq!(problem.at.map(|at| at.start), Some(start), "{text:.20}");
        }
    }

    #[test]
    fn what_is_read_is_what_serde_reads() {
        for text in ["1e5", "-0.5", "[]", "{}", " true ", "\"\\u00e9\"", "[1,[2,{\"a\":null}]]"] {
            assert!(parse(text).is_ok() && serde_json::from_str::<serde_json::Value>(text).is_ok());
        }
        for text in ["-", "1.", "+1", "inf", "NaN", "0x1", "[,]", "{,}", "tru", "\"\\x\""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
