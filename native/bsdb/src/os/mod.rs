//! All that needs `unsafe`: mapping files, prefetching, reading past the page cache, and zeros of any length.
//!
//! The rest of the crate forbids it. Every function here is safe to call; its comments say why.
#![allow(unsafe_code)]

pub(crate) mod direct;
pub(crate) mod map;
