//! Sections of files, each declared once.
//!
//! A section is a list of keys. [`section!`](crate::section) declares them: the name of a key, the
//! kind of its value with its range, its default, one sentence of documentation, and the field
//! that it fills. From that declaration come reading with all problems at once, the resolved file,
//! the rows of `explain`, the tables of the documents and the JSON Schema. What depends on several
//! keys is ordinary code beside the section.
//!
//! ```
//! use pauseless_text::declare::{Declared, Kind};
//!
//! pauseless_text::section! {
//!     /// A bucket of tokens.
//!     pub struct Bucket {
//!         /// How many tokens fit into the bucket.
//!         depth: u32, within 1..=1_000, default 8;
//!         /// Whether the bucket starts full.
//!         full: bool, default true;
//!         /// What the bucket is called.
//!         name: String, required "\"B1\"";
//!     }
//! }
//!
//! let keys = Bucket::keys();
//! assert_eq!(keys[0].name, "depth");
//! assert_eq!(keys[0].about, "How many tokens fit into the bucket.");
//! assert!(matches!(keys[0].kind, Kind::Integer { low: 1, high: 1_000 }));
//! assert!(keys[2].is_required());
//! ```

mod alpha;
mod compound;
mod describe;
mod engine;
mod entry;
mod field;
mod machinery;
mod macros;
pub mod markdown;
pub mod schema;
mod value;
mod variant;

pub use alpha::written_alpha;
pub use compound::{Named, OneOrMany};
pub use describe::{Declared, Fallback, Info, KeyInfo, Kind, Overlay, Variants, about};
pub use engine::WEIGHTED;
pub use entry::{Entry, Node, Own, Table, Written};
pub use field::{Field, Filled, Key};
pub use machinery::{
    context_of, entries_inline, fallback, holds, inline_keys, look, need, put, read_inline,
    read_key,
};
pub use macros::Words;
pub use value::{
    Counted, Each, FileValue, List, LongList, Map, Permille, Tables, TablesOrOne, What, Within,
    WordOr, list,
};
pub use variant::{Choice, Fills, Registry, Variant};

pub use crate::file::File;
pub use crate::problem::Sink;
pub use crate::reader::{At, Item, Place, Section};
