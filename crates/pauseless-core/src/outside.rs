//! Schemes that are implemented in other crates.
//!
//! A configuration is a plain value that is copied and compared, while the parameters of an outside
//! scheme have a type that this crate does not know. [`Outside`] is the handle between the two.
//! What to implement is in [`crate::congestion::outside`] and [`crate::flow_control::outside`].

use alloc::boxed::Box;
use core::any::Any;
use core::fmt;
use core::ops::Deref;
use core::panic::{RefUnwindSafe, UnwindSafe};

/// A scheme of another crate with its parameters, as a value that can be copied and compared.
///
/// The parameters live as long as the process: they are a `static`, or [`Outside::leak`] leaves a few
/// bytes behind for every configuration, which a program that makes millions of them should share.
pub struct Outside<S: ?Sized + 'static>(&'static S);

impl<S: ?Sized> Outside<S> {
    /// A handle on parameters that are never dropped.
    pub const fn new(scheme: &'static S) -> Outside<S> {
        Outside(scheme)
    }

    /// A handle on parameters that are made at run time, which stay in memory from now on.
    pub fn leak(scheme: Box<S>) -> Outside<S> {
        Outside(Box::leak(scheme))
    }
}

impl<S: ?Sized> Clone for Outside<S> {
    fn clone(&self) -> Outside<S> {
        *self
    }
}

impl<S: ?Sized> Copy for Outside<S> {}

impl<S: ?Sized> Deref for Outside<S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.0
    }
}

impl<S: ?Sized + fmt::Debug> fmt::Debug for Outside<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Two handles are equal if the schemes have the same type and equal parameters, wherever those lie.
impl<S: ?Sized + Parameters> PartialEq for Outside<S> {
    fn eq(&self, other: &Outside<S>) -> bool {
        self.0.is_equal(other.0.as_any())
    }
}

/// Types that threads may share and that survive a panic elsewhere: every type made of numbers and
/// vectors that derives `Debug`.
pub trait Plain: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static {}

impl<T: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static> Plain for T {}

/// The parameters of an outside scheme: every [`Plain`] type that derives `PartialEq` has this.
pub trait Parameters: Plain {
    /// The parameters as a value whose type can be asked for.
    fn as_any(&self) -> &dyn Any;
    /// Whether `other` has the same type and value.
    fn is_equal(&self, other: &dyn Any) -> bool;
}

impl<T: Plain + PartialEq> Parameters for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_equal(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

/// Calls a boxed part. The call stays out of the packet path, so that the schemes of this crate are
/// compiled as if there were no others.
#[cold]
#[inline(never)]
pub(crate) fn aside<T>(call: impl FnOnce() -> T) -> T {
    call()
}

/// Declares the form of a trait that an arm of an `Any*` enum holds in a box: every type that
/// implements the trait and derives `Clone` and `Debug` has it.
macro_rules! boxed {
    ($(#[$attribute:meta])* $boxed:ident: $part:path) => {
        $(#[$attribute])*
        pub trait $boxed: $part + $crate::outside::Plain {
            /// A copy in a box of its own.
            fn boxed_clone(&self) -> alloc::boxed::Box<dyn $boxed>;
        }

        impl<T: $part + $crate::outside::Plain + Clone> $boxed for T {
            fn boxed_clone(&self) -> alloc::boxed::Box<dyn $boxed> {
                alloc::boxed::Box::new(self.clone())
            }
        }

        impl Clone for alloc::boxed::Box<dyn $boxed> {
            fn clone(&self) -> alloc::boxed::Box<dyn $boxed> {
                (**self).boxed_clone()
            }
        }
    };
}
pub(crate) use boxed;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct One(u8);

    #[derive(Debug, PartialEq)]
    struct Other(u8);

    fn handle(parameters: impl Parameters) -> Outside<dyn Parameters> {
        Outside::leak(Box::new(parameters))
    }

    #[test]
    fn handles_are_equal_by_type_and_value_and_not_by_place() {
        assert_eq!(handle(One(1)), handle(One(1)));
        assert_ne!(handle(One(1)), handle(One(2)));
        assert_ne!(handle(One(1)), handle(Other(1)));
        let copied = handle(One(3));
        assert_eq!((copied, alloc::format!("{copied:?}")), (copied, "One(3)".into()));
    }
}
