//! Writes databases (FORMAT.md §17 says what a writer chooses where the format leaves a choice).
//!
//! Records flow one way: [`builder`] takes them, an [`assembly`] of the layout spills and sorts them and writes the
//! content of the files, [`manifest`] describes these, and [`work`] publishes the directory.

pub(crate) mod addressed;
pub(crate) mod assembly;
pub(crate) mod blocks;
pub(crate) mod builder;
pub(crate) mod control;
pub(crate) mod data;
pub(crate) mod database;
pub(crate) mod force;
pub(crate) mod hash;
pub(crate) mod manifest;
pub(crate) mod merge;
pub(crate) mod options;
pub(crate) mod order;
pub(crate) mod output;
pub(crate) mod packed;
pub(crate) mod passes;
pub(crate) mod pieces;
mod pilots;
pub(crate) mod record;
pub(crate) mod reread;
pub(crate) mod set;
pub(crate) mod sign;
pub(crate) mod spill;
pub(crate) mod temporary;
#[cfg_attr(not(unix), path = "work/elsewhere.rs")]
pub(crate) mod work;
