//! What the expansion of [`section!`](crate::section) calls; nobody else needs it.

use super::describe::Fallback;
use super::field::Field;
use super::value::FileValue;
use crate::scenario::file::File;
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
        (None, Some(example)) => section.missing(name, example),
        (None, None) => {}
    }
}

/// A key with its value as it would be written, unless it is left out or a section of its own.
pub fn show_key<F: Field>(name: &'static str, field: &F) -> Option<(&'static str, String)> {
    if F::Value::IS_SECTION {
        return None;
    }
    field.value().map(|value| (name, value.show()))
}

/// Writes a key that is no section of its own, unless it is left out.
pub fn write_key<F: Field>(name: &str, field: &F, file: &mut File) {
    if !F::Value::IS_SECTION
        && let Some(value) = field.value()
    {
        value.write(name, file);
    }
}

/// Writes a key that is a section of its own.
pub fn write_section<F: Field>(name: &str, field: &F, file: &mut File) {
    if F::Value::IS_SECTION
        && let Some(value) = field.value()
    {
        // The next section inside this one stands beside it, not in it.
        let path = file.path.clone();
        value.write(name, file);
        file.path = path;
    }
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
