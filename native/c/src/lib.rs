//! The C interface of bsdb. `include/bsdb.h` is generated from it and documents it.
//!
//! Each module has the types and functions of one part of the header, under the names that they have there.
//! Three rules hold throughout. A function sets all that it returns before it does anything else. A pointer is
//! checked for null before it is used, and turned into a reference for the time of the call. Nothing unwinds
//! into the caller: a panic is an error of its own.
#![deny(missing_docs, unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
// The names are those of the header, and its documentation states what callers must see to.
#![allow(non_camel_case_types, clippy::missing_safety_doc)]

mod asynchronous;
mod builder;
mod call;
mod database;
mod error;
#[cfg(all(feature = "remote", unix, not(target_vendor = "apple")))]
mod hidden;
mod options;
mod quiet;
mod range;
mod remote;
mod scan;
#[cfg(feature = "remote")]
mod settings;
mod store;
mod text;
mod view;

#[cfg(test)]
mod tests;
