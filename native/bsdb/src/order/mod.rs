//! The order of keys: a tree of all keys of a database (FORMAT.md §16).

pub(crate) mod cursor;
pub(crate) mod key_range;
pub(crate) mod node;
pub(crate) mod tree;
pub(crate) mod walk;
