//! Patterns of names, in which `*` stands for any text.

/// Whether `name` is `pattern` with any text for each `*`.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where the last `*` was, and how much of the name it has taken so far.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && pattern[p] == name[n] {
            p += 1;
            n += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            n = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let cases = [
            ("S*:H*", "S1:H1", true),
            ("S*:H*", "S1:S2", false),
            ("*", "", true),
            ("*", "A1:C2", true),
            ("*:C*", "A1:C2", true),
            ("A*1:C*", "A11:C2", true),
            ("A*1:C*", "A12:C2", false),
            ("**a*", "bba", true),
            ("a*b*c", "abcbc", true),
            ("a*b*c", "abcb", false),
            ("S1:S2", "S1:S2#2", false),
            ("S1:S2*", "S1:S2#2", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
