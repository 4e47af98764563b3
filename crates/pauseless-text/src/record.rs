//! Records of JSON documents, each field declared once: what it is, its type, and its value.

use serde::Serialize;

/// The version of the documents; it changes when a field changes its meaning or goes away.
pub const SCHEMA: u32 = 1;

/// A document as indented text that ends with a line feed.
pub fn to_text(document: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(document);
    text.expect("documents have string keys and no I/O") + "\n"
}

/// Declares records of a JSON document, each with its `new` from what its fields take their values
/// from. Statements that several fields need stand before them, behind `after`.
#[macro_export]
macro_rules! records {
    ($(
        $(#[$about:meta])*
        $vis:vis struct $name:ident $(<$life:lifetime>)? ($($argument:ident: $of:ty),+)
            $(after { $($before:tt)* })?
        {
            $($(#[$meta:meta])* $field:ident: $type:ty = $value:expr;)+
        }
    )+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
        $vis struct $name $(<$life>)? {
            $($(#[$meta])* pub $field: $type,)+
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// The record of this.
            $vis fn new($($argument: $of),+) -> Self {
                $($($before)*)?
                $name { $($field: $value),+ }
            }
        }
    )+};
}
