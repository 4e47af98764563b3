//! Enums whose values are known by name.

/// Declares an enum without data, with the name that each value has in files, documents and messages.
#[macro_export]
macro_rules! named {
    (
        $(#[$about:meta])*
        $vis:vis enum $type:ident {
            $($(#[$of:meta])* $value:ident = $name:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $type {
            $($(#[$of])* $value,)+
        }

        impl $type {
            /// All of them, in their order.
            $vis const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// The name in files, documents and messages.
            $vis fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }
        }
    };
}
