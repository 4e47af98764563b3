//! Files with one thing wrong in each.

/// A file with a mistake, and a name that says which one on which line.
pub struct Mutant {
    /// Unique among the mutants of a file.
    pub name: String,
    /// The whole file with its mistake.
    pub text: String,
}

/// A mistake in one line of TOML.
#[derive(Clone, Copy)]
enum Mistake {
    /// The line is not there.
    Missing,
    /// The key, or the name of the section, has a letter more.
    Unknown,
    /// The unit of a quantity is another one, or a plain number has one.
    Unit,
    /// The number is zero.
    Zero,
    /// The number is negative.
    Negative,
    /// The number is huge.
    Huge,
    /// The value is a list.
    List,
    /// The line is there twice.
    Twice,
}

/// The mistakes, with the names that they have in names of cases.
const MISTAKES: [(&str, Mistake); 8] = [
    ("missing", Mistake::Missing),
    ("unknown", Mistake::Unknown),
    ("unit", Mistake::Unit),
    ("zero", Mistake::Zero),
    ("negative", Mistake::Negative),
    ("huge", Mistake::Huge),
    ("list", Mistake::List),
    ("twice", Mistake::Twice),
];

/// How many mistakes are made.
#[derive(Clone, Copy)]
pub enum Density {
    /// Every mistake on every line.
    All,
    /// One mistake on every line, another one on each.
    OnePerLine,
}

/// A TOML file with mistakes, and with a section that nobody knows.
pub fn toml(text: &str, density: Density) -> Vec<Mutant> {
    let mut mutants = vec![Mutant {
        name: "section".to_owned(),
        text: format!("{text}\n[no_such_section]\nkey = 1\n"),
    }];
    let lines: Vec<&str> = text.lines().collect();
    for (place, line) in lines.iter().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let chosen = match density {
            Density::All => &MISTAKES[..],
            Density::OnePerLine => &MISTAKES[place % MISTAKES.len()..][..1],
        };
        for (name, mistake) in chosen {
            if let Some(wrong) = mistake.made_in(line) {
                mutants.push(replaced(&lines, place, name, &wrong));
            }
        }
    }
    mutants
}

/// A file of words and numbers with mistakes on some lines, of which a long file has many alike.
pub fn words(text: &str) -> Vec<Mutant> {
    let lines: Vec<&str> = text.lines().collect();
    let mut mutants = Vec::new();
    let stride = lines.len().div_ceil(LINES_OF_WORDS).max(1);
    for (place, line) in lines.iter().enumerate() {
        let is_chosen = place < LINES_OF_WORDS || place % stride == 0;
        let line = line.trim_end();
        if !is_chosen || line.is_empty() {
            continue;
        }
        let head = line.rsplit_once(' ').map_or("", |(head, _)| head);
        for (name, wrong) in [
            ("missing", String::new()),
            ("short", head.to_owned()),
            ("word", format!("{head} nonsense")),
            ("negative", format!("{head} -1")),
            ("huge", format!("{head} 99999999999999999999")),
            ("more", format!("{line} 7")),
            ("unknown", format!("x{line}")),
            ("twice", format!("{line}\n{line}")),
        ] {
            mutants.push(replaced(&lines, place, name, &wrong));
        }
    }
    mutants
}

impl Mistake {
    /// The line with the mistake; `None` if it cannot be made there.
    fn made_in(self, line: &str) -> Option<String> {
        match self {
            Mistake::Missing => return Some(String::new()),
            Mistake::Twice => return Some(format!("{line}\n{line}")),
            _ => {}
        }
        if line.starts_with('[') {
            let name = line.trim_end_matches(']');
            let end = &line[name.len()..];
            return matches!(self, Mistake::Unknown).then(|| format!("{name}x{end}"));
        }
        let (key, value) = line.split_once('=')?;
        let key = key.trim_end();
        if let Mistake::Unknown = self {
            return Some(format!("{key}x ={value}"));
        }
        if let Mistake::List = self {
            return Some(format!("{key} = [true]"));
        }
        let digits = value.find(|letter: char| letter.is_ascii_digit())?;
        let (before, rest) = value.split_at(digits);
        let is_digit = |letter: char| letter.is_ascii_digit() || letter == '.';
        let number = &rest[..rest.len() - rest.trim_start_matches(is_digit).len()];
        let after = &rest[number.len()..];
        Some(match self {
            Mistake::Zero => format!("{key} ={before}0{after}"),
            Mistake::Negative => format!("{key} ={before}-{number}{after}"),
            Mistake::Huge => format!("{key} ={before}99999999999{after}"),
            _ => format!("{key} = \"{number} parsecs\""),
        })
    }
}

fn replaced(lines: &[&str], place: usize, mistake: &str, wrong: &str) -> Mutant {
    let mut lines = lines.to_vec();
    lines[place] = wrong;
    Mutant { name: format!("{}-{mistake}", place + 1), text: lines.join("\n") + "\n" }
}

/// How many lines of a file of words get mistakes.
const LINES_OF_WORDS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_gets_every_mistake_that_can_be_made_in_it() {
        let mutants = toml("# why\n[switch]\nbuffer = \"12.5 KB\" # x\n", Density::All);
        let line = |name: &str| {
            let mutant = mutants.iter().find(|mutant| mutant.name == name);
            let mutant = mutant.unwrap_or_else(|| panic!("{name} was made"));
            let place: usize = name.split('-').next().unwrap().parse().unwrap();
            mutant.text.lines().nth(place - 1).unwrap().to_owned()
        };
        assert_eq!(line("2-unknown"), "[switchx]");
        assert_eq!(line("3-missing"), "");
        assert_eq!(line("3-unknown"), "bufferx = \"12.5 KB\" # x");
        assert_eq!(line("3-unit"), "buffer = \"12.5 parsecs\"");
        assert_eq!(line("3-zero"), "buffer = \"0 KB\" # x");
        assert_eq!(line("3-negative"), "buffer = \"-12.5 KB\" # x");
        assert_eq!(line("3-list"), "buffer = [true]");
        // The section nobody knows, three mistakes in a header, eight in a value.
        assert_eq!(mutants.len(), 1 + 3 + 8);
        let few = toml("a = 1\nb = 1\n", Density::OnePerLine);
        let names: Vec<&str> = few.iter().map(|mutant| mutant.name.as_str()).collect();
        assert_eq!(names, ["section", "1-missing", "2-unknown"]);
    }

    #[test]
    fn words_are_garbled() {
        let mutants = words("RATE 5\n\nCC 1\n");
        assert_eq!(mutants.len(), 16);
        assert_eq!(mutants[1].text, "RATE\n\nCC 1\n");
        assert_eq!(mutants[10].text, "RATE 5\n\nCC nonsense\n");
    }
}
