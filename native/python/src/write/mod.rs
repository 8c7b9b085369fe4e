//! Writes databases: turns what Python has, pairs of bytes and Arrow tables, into the records of a `bsdb::Builder`.

pub(crate) mod builder;
mod cells;
mod chunk;
pub(crate) mod elements;
pub(crate) mod plan;
pub(crate) mod sign;
mod stream;
mod text;
mod types;
