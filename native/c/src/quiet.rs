//! Functions of the interface that report no errors.

use std::panic::{catch_unwind, AssertUnwindSafe};

/// Runs a function of the interface that cannot fail, and gives `otherwise` if it panics nevertheless.
#[inline(always)]
pub(crate) fn quiet<R>(otherwise: R, work: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}
