//! Contexts of ZSTD that keep the dictionary that they refer to.

use std::sync::Arc;

use zstd_safe::{CCtx, CDict, CParameter};

/// The error of a context that lacks memory.
pub(crate) const NO_MEMORY: &str = "Allocation error : not enough memory";

/// A context for compression, and its dictionary.
pub(crate) struct Context {
    // Fields are dropped in this order: the context before what it refers to.
    context: CCtx<'static>,
    _dictionary: Option<Arc<CDict<'static>>>,
}

impl Context {
    /// A context that compresses with a dictionary at the dictionary's level, or the name of an error.
    pub(crate) fn new(dictionary: Option<&Arc<CDict<'static>>>) -> Result<Context, &'static str> {
        let mut context = CCtx::try_create().ok_or(NO_MEMORY)?;
        if let Some(dictionary) = dictionary {
            // SAFETY: the dictionary does not move, and lives as long as the context: the new value holds both, and
            // nobody can take the context out of it.
            let lasting = unsafe { &*Arc::as_ptr(dictionary) };
            context.ref_cdict(lasting).map_err(zstd_safe::get_error_name)?;
        }
        Ok(Context { context, _dictionary: dictionary.cloned() })
    }

    /// Sets a parameter.
    pub(crate) fn set(&mut self, parameter: CParameter) -> Result<(), &'static str> {
        self.context.set_parameter(parameter).map(|_| ()).map_err(zstd_safe::get_error_name)
    }

    /// Compresses bytes into a frame. Returns its length.
    pub(crate) fn compress(&mut self, raw: &[u8], to: &mut [u8]) -> Result<usize, &'static str> {
        self.context.compress2(to, raw).map_err(zstd_safe::get_error_name)
    }
}
