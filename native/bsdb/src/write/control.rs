//! Progress and cancellation of a build.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

/// A stage of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Records are added; the total is not known.
    Records,
    /// Records are sorted, and the files of the database are written.
    Index,
    /// The keys are sorted and their order is written.
    Order,
    /// Files are forced to the device, and the database is published.
    Publish,
}

/// How far a build is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress {
    /// The stage.
    pub stage: Stage,
    /// Records, or files when publishing, that are done.
    pub done: u64,
    /// All of them, if that is known.
    pub total: Option<u64>,
}

/// Told of progress; the build ends with [`Error::Stopped`] once it returns false.
pub(crate) type Listener = Box<dyn FnMut(Progress) -> bool + Send>;

/// What a build and its threads share. Clones are the same control.
#[derive(Clone)]
pub(crate) struct Control(Arc<Shared>);

struct Shared {
    stopped: AtomicBool,
    listener: Mutex<Option<Listener>>,
}

impl Control {
    pub(crate) fn new(listener: Option<Listener>) -> Control {
        Control(Arc::new(Shared { stopped: AtomicBool::new(false), listener: Mutex::new(listener) }))
    }

    /// Makes all threads of the build end with [`Error::Stopped`] soon.
    pub(crate) fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Fails if the build was stopped.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.stopped.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        Ok(())
    }

    /// Tells the listener how far the build is. Called by the thread that builds.
    pub(crate) fn report(&self, stage: Stage, done: u64, total: Option<u64>) -> Result<()> {
        if let Some(listener) = &mut *self.0.listener.lock().unwrap_or_else(PoisonError::into_inner) {
            if !listener(Progress { stage, done, total }) {
                self.stop();
            }
        }
        self.check()
    }
}
