//! Words of a command line, as far as documents need it.

/// Splits a line at spaces, but not inside quotes, up to a comment.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#') if word.is_none() => break,
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// A word as one would type it.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:,=%*+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("\"{word}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_words_together_and_comments_end_them() {
        let line = "run a.toml  --duration \"20 ms\" --vary='flow 3' \"\"  # why";
        let expected = ["run", "a.toml", "--duration", "20 ms", "--vary=flow 3", ""];
        assert_eq!(words(line), expected);
        assert_eq!(words("a#b"), ["a#b"]);
        assert_eq!(quoted("20 ms"), "\"20 ms\"");
        assert_eq!(quoted("a/b.toml"), "a/b.toml");
    }
}
