//! Tells the code of a Rust file from its comments and its literals.
//!
//! The checks look for words; without this a message that names a banned word,
//! or a test for the ban, would itself be an offence.

/// A Rust file, every byte of it classified.
pub struct Source<'a> {
    text: &'a str,
    classes: Vec<Class>,
}

impl<'a> Source<'a> {
    /// Classifies the text; one that rustc would refuse gives some classification, no panic.
    pub fn parse(text: &'a str) -> Source<'a> {
        let mut lexer = Lexer { bytes: text.as_bytes(), classes: Vec::with_capacity(text.len()) };
        while lexer.at() < lexer.bytes.len() {
            lexer.step();
        }
        let classes = lexer.classes;
        Source { text, classes }
    }

    /// The class of the byte at an offset.
    pub fn class(&self, offset: usize) -> Class {
        self.classes[offset]
    }

    /// The text with everything but one class blanked out, line by line as before.
    pub fn only(&self, class: Class) -> String {
        let keep = |(offset, char): (usize, char)| {
            if char == '\n' || self.classes[offset] == class { char } else { ' ' }
        };
        self.text.char_indices().map(keep).collect()
    }
}

/// What a byte of a Rust file belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Everything that is not one of the others.
    Code,
    /// A comment of any kind, documentation included.
    Comment,
    /// A string or character literal with its quotes.
    Literal,
}

/// Finds a word that is not part of a longer identifier.
pub fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let after = line[start + word.len()..].chars().next();
        let glued_before = word.starts_with(is_ident) && before.is_some_and(is_ident);
        let glued_after = word.ends_with(is_ident) && after.is_some_and(is_ident);
        !glued_before && !glued_after
    })
}

fn is_ident(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

struct Lexer<'a> {
    bytes: &'a [u8],
    /// One entry for each byte already consumed.
    classes: Vec<Class>,
}

impl Lexer<'_> {
    fn at(&self) -> usize {
        self.classes.len()
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.at()..]
    }

    /// Consumes one byte of code, or one whole comment or literal.
    fn step(&mut self) {
        let rest = self.rest();
        let (class, length) = if rest.starts_with(b"//") {
            (Class::Comment, line_comment(rest))
        } else if rest.starts_with(b"/*") {
            (Class::Comment, block_comment(rest))
        } else if rest[0] == b'"' {
            let length = match raw_hashes(&self.bytes[..self.at()]) {
                Some(hashes) => raw_string(rest, hashes),
                None => escaped(rest, b'"'),
            };
            (Class::Literal, length)
        } else if rest[0] == b'\'' && is_char_literal(rest) {
            (Class::Literal, escaped(rest, b'\''))
        } else {
            (Class::Code, 1)
        };
        let end = self.bytes.len().min(self.at() + length);
        self.classes.resize(end, class);
    }
}

fn line_comment(rest: &[u8]) -> usize {
    let end = rest.iter().position(|&byte| byte == b'\n');
    end.unwrap_or(rest.len())
}

/// The length of a block comment, which may contain others.
fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of a literal that ends at the first quote without a backslash.
fn escaped(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw_string(rest: &[u8], hashes: usize) -> usize {
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let end = rest[1..].windows(close.len()).position(|window| window == close);
    end.map_or(rest.len(), |start| 1 + start + close.len())
}

/// How many hashes open the raw string whose quote comes next, if it is a raw string.
fn raw_hashes(before: &[u8]) -> Option<usize> {
    let is_hash = |byte: &&u8| **byte == b'#';
    let hashes = before.iter().rev().take_while(is_hash).count();
    let prefix = &before[..before.len() - hashes];
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = prefix.iter().rposition(|byte| !is_word(byte));
    let word = &prefix[start.map_or(0, |start| start + 1)..];
    [b"r".as_slice(), b"br", b"cr"].contains(&word).then_some(hashes)
}

/// A quote opens a character literal unless it opens a lifetime or a label.
fn is_char_literal(rest: &[u8]) -> bool {
    match rest.get(1) {
        None => false,
        Some(b'\\') => true,
        Some(&lead) => {
            let width = match lead {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            rest.get(1 + width) == Some(&b'\'')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        Source::parse(text).only(Class::Code)
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(code("a // b\nc"), "a     \nc");
        assert_eq!(code("a /* b /* c */ d */ e"), format!("a{}e", " ".repeat(19)));
        let comments = Source::parse("a // b\nc").only(Class::Comment);
        assert_eq!(comments, "  // b\n ");
    }

    #[test]
    fn literals_are_not_code() {
        assert_eq!(code(r#"f("// \" b") + 1"#), format!("f({}) + 1", " ".repeat(9)));
        assert_eq!(code(r###"r##"a"# "## b"###), format!("r##{} b", " ".repeat(8)));
        assert_eq!(code(r#"br"\" b"#), format!("br{} b", " ".repeat(3)));
        assert_eq!(code(r"('\'', 'é', b'x')"), "(    ,    , b   )");
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        for text in ["fn f<'a>(x: &'a str)", "'outer: loop {}", "r#type + #[cfg(a)]"] {
            assert_eq!(code(text), text);
        }
    }

    #[test]
    fn an_unfinished_literal_reaches_the_end() {
        for text in ["\"abc\\", "r#\"abc\"", "/* abc", "'", "'\\"] {
            assert_eq!(Source::parse(text).classes.len(), text.len(), "{text}");
        }
    }

    #[test]
    fn words_are_whole_identifiers() {
        assert!(has_word("let m: HashMap<u8>", "HashMap"));
        assert!(has_word("x.exp(2)", "exp("));
        assert!(!has_word("MyHashMap::new()", "HashMap"));
        assert!(!has_word("forbid(unsafe_code)", "unsafe"));
        assert!(!has_word("vexp(2)", "exp("));
    }
}
