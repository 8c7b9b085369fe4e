//! All that needs `unsafe`: mapping files, prefetching, reading past the page cache, zeros of any length, and contexts of
//! ZSTD with a dictionary.
//!
//! The rest of the crate forbids it. Every function here is safe to call; its comments say why.
#![allow(unsafe_code)]

pub(crate) mod direct;
pub(crate) mod map;
pub(crate) mod zstd;
