//! From a slot to an address or value, from a bin to its page, and which signatures are absent.

pub(crate) mod bins;
pub(crate) mod filter;
pub(crate) mod slots;
