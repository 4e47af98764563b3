//! Records of JSON documents, each field declared once: what it is, its type, and its value.

/// Declares records of a JSON document, each with its `new` from what its fields take their values
/// from. Statements that several fields need stand before them, behind `after`.
macro_rules! records {
    ($(
        $(#[$about:meta])*
        $name:ident($($argument:ident: $of:ty),+) $(after { $($before:tt)* })? {
            $($(#[$meta:meta])* $field:ident: $type:ty = $value:expr;)+
        }
    )+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
        pub struct $name {
            $($(#[$meta])* pub $field: $type,)+
        }

        impl $name {
            /// The record of this.
            pub fn new($($argument: $of),+) -> $name {
                $($($before)*)?
                $name { $($field: $value),+ }
            }
        }
    )+};
}

pub(crate) use records;
