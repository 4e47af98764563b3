//! What the expansion of [`section!`](crate::section) calls; nobody else needs it.

use super::describe::{Declared, Fallback, KeyInfo};
use super::entry::{Entry, Written};
use super::field::Field;
use super::value::FileValue;
use crate::scenario::reader::Section;

/// Takes one key out of a section; reports it as missing if it is required.
pub fn read_key<F: Field>(
    section: &mut Section<'_>,
    name: &'static str,
    field: &mut F,
    limit: &<F::Value as FileValue>::Limit,
    required: Option<&str>,
) {
    match (section.take(name), required) {
        (Some(item), _) => field.take(F::Value::take(item, limit)),
        (None, Some(example)) if F::Value::IS_SECTION => {
            let problem = section.place.inner(name).problem("this section is missing");
            section.report(problem.help(format!("add {example}")));
        }
        (None, Some(example)) => section.missing(name, example),
        (None, None) => {}
    }
}

/// Reports a key that the others make necessary, unless it was written.
pub fn need<F: Field>(section: &Section<'_>, name: &str, field: &F, example: &str) {
    if !field.is_written() {
        section.missing(name, example);
    }
}

/// Takes the keys of another section, but for some, out of this one.
pub fn read_inline<T: Declared>(section: &mut Section<'_>, except: &[&'static str]) -> T {
    section.without(except, T::read)
}

/// The keys of another section, but for some.
pub fn inline_keys<T: Declared>(except: &[&str]) -> Vec<KeyInfo> {
    let (out, keys): (Vec<KeyInfo>, _) =
        T::keys().into_iter().partition(|key| except.contains(&key.name));
    assert_eq!(out.len(), except.len(), "{except:?} are keys");
    keys
}

/// What holds if a key is left out.
pub fn fallback<F: Field>(
    required: Option<&'static str>,
    formula: Option<&'static str>,
    default: &F,
) -> Fallback {
    match (required, formula, default.value()) {
        (Some(example), _, _) => Fallback::Required(example),
        (_, Some(formula), _) => Fallback::Derived(formula),
        (_, _, Some(value)) if !F::Value::IS_SECTION => Fallback::Value(value.show()),
        _ => Fallback::Absent,
    }
}

/// Whether a condition holds; a function, so that the type of its argument is known.
pub fn holds<K>(keys: &K, condition: impl Fn(&K) -> bool) -> bool {
    condition(keys)
}

/// What the set of keys depends on, for messages.
pub fn context_of<K>(keys: &K, context: impl Fn(&K) -> String) -> String {
    context(keys)
}

/// What a getter finds in a configuration.
pub fn look<C, T>(config: &C, get: impl Fn(&C) -> Option<T>) -> Option<T> {
    get(config)
}

/// Puts a value into a configuration.
pub fn put<C, T>(config: &mut C, value: T, set: impl Fn(&mut C, T)) {
    set(config, value);
}

/// The keys of another section with their values, but for some.
pub fn entries_inline(keys: &impl Written, except: &[&str]) -> Vec<Entry> {
    let mut entries = keys.entries();
    entries.retain(|entry| !except.contains(&&*entry.key));
    entries
}
