//! Files of a database on disk: their checks, their pages.

pub(crate) mod current;
pub(crate) mod directory;
pub(crate) mod origin;
pub(crate) mod paged;
