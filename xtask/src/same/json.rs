//! A JSON document as one line per value, each with its path.
//!
//! Documents that differ in one number then differ in one line, which says which number it is. The
//! order of keys is kept; only white space is not.

/// The lines of a document; `None` if the text is no JSON.
pub fn lines(text: &str) -> Option<Vec<String>> {
    let mut reader = Reader { rest: text.trim(), path: String::new(), lines: Vec::new() };
    reader.value()?;
    // One document after the other, as in a journal, is read as one.
    while !reader.rest.is_empty() {
        reader.value()?;
    }
    Some(reader.lines)
}

struct Reader<'a> {
    rest: &'a str,
    /// Where in the document the reader is, such as `.flows[2].name`.
    path: String,
    lines: Vec<String>,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Option<()> {
        match self.rest.chars().next()? {
            '{' => self.members(),
            '[' => self.elements(),
            '"' => {
                let text = self.string()?;
                self.push(text);
                Some(())
            }
            _ => {
                let end = self.rest.find([',', ']', '}', ' ', '\n', '\r', '\t']);
                let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                let is_word = matches!(word, "true" | "false" | "null");
                if !is_word && word.parse::<f64>().is_err() {
                    return None;
                }
                self.push(word);
                self.rest = rest.trim_start();
                Some(())
            }
        }
    }

    fn members(&mut self) -> Option<()> {
        self.skip('{')?;
        if self.skip('}').is_some() {
            self.push("{}");
            return Some(());
        }
        let length = self.path.len();
        loop {
            let key = self.string()?;
            self.skip(':')?;
            self.path.push('.');
            self.path.push_str(&key[1..key.len() - 1]);
            self.value()?;
            self.path.truncate(length);
            if self.skip(',').is_none() {
                return self.skip('}');
            }
        }
    }

    fn elements(&mut self) -> Option<()> {
        self.skip('[')?;
        if self.skip(']').is_some() {
            self.push("[]");
            return Some(());
        }
        let length = self.path.len();
        let mut place = 0;
        loop {
            self.path.push_str(&format!("[{place}]"));
            self.value()?;
            self.path.truncate(length);
            place += 1;
            if self.skip(',').is_none() {
                return self.skip(']');
            }
        }
    }

    /// A string with its quotes, as it is written.
    fn string(&mut self) -> Option<&'a str> {
        let bytes = self.rest.as_bytes();
        if bytes.first() != Some(&b'"') {
            return None;
        }
        let mut end = 1;
        while *bytes.get(end)? != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let text = self.rest.get(..=end)?;
        self.rest = self.rest[end + 1..].trim_start();
        Some(text)
    }

    fn skip(&mut self, letter: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(letter)?.trim_start();
        Some(())
    }

    fn push(&mut self, value: &str) {
        self.lines.push(format!("{} = {value}", self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_a_line_with_its_path() {
        let text = r#"{"a": [1, {"b": "x, \"y\""}], "c": {}, "d": [], "e": -1.5e3 , "f": null}"#;
        let expected = [
            ".a[0] = 1",
            r#".a[1].b = "x, \"y\"""#,
            ".c = {}",
            ".d = []",
            ".e = -1.5e3",
            ".f = null",
        ];
        assert_eq!(lines(text).expect("good"), expected);
        assert_eq!(lines("{\"a\":1}\n{\"a\":2}").expect("good").len(), 2);
    }

    #[test]
    fn other_text_is_no_json() {
        for text in ["", "{", "no deadlock", "{\"a\" 1}", "[1, 2", "{\"a\": b}", "\"x"] {
            assert_eq!(lines(text), None, "{text}");
        }
    }
}
