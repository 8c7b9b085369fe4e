//! Forces files to the device while they grow, so that little is left to force at their end. The device would
//! otherwise idle until the system writes the files back.

use std::fs::File;
use std::io;
use std::panic;
use std::process;
use std::thread::{self, JoinHandle};

/// Bytes between one force and the next.
const INTERVAL: usize = 64 << 20;

/// Forces one file now and then, on a thread of its own. Dropping it waits for that: the thread has the file open.
#[derive(Debug, Default)]
pub(super) struct EarlyForce {
    grown: usize,
    running: Option<JoinHandle<io::Result<()>>>,
    /// The process that has the thread, which a fork of it has not.
    process: u32,
}

impl EarlyForce {
    /// Counts bytes that were written to the file. Starts to force it if there are many, unless that still runs. Fails if
    /// the force before failed: the system tells that only once.
    pub(super) fn written(&mut self, file: &File, bytes: usize) -> io::Result<()> {
        self.grown += bytes;
        let busy = self.running.as_ref().is_some_and(|running| !running.is_finished());
        if self.grown < INTERVAL || busy {
            return Ok(());
        }
        self.end()?;
        self.grown = 0;
        // Where the system gives no descriptor or no thread, the file is forced at its end only.
        if let Ok(file) = file.try_clone() {
            self.running = thread::Builder::new().spawn(move || file.sync_data()).ok();
            self.process = process::id();
        }
        Ok(())
    }

    /// Waits for the force that runs. Fails if it failed.
    pub(super) fn end(&mut self) -> io::Result<()> {
        let Some(running) = self.running.take() else { return Ok(()) };
        running.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
    }
}

impl Drop for EarlyForce {
    fn drop(&mut self) {
        if let Some(running) = self.running.take().filter(|_| self.process == process::id()) {
            let _ = running.join(); // the file is given up
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_forced_after_many_bytes() {
        let file = tempfile::tempfile().unwrap();
        let mut early = EarlyForce::default();
        early.written(&file, INTERVAL - 1).unwrap();
        assert!(early.running.is_none());
        early.written(&file, 1).unwrap();
        assert!(early.running.is_some() && early.grown == 0);
        early.end().unwrap();
        early.end().unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_failed_force_fails_the_next_step() {
        // Sockets cannot be forced.
        let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let socket = File::from(std::os::fd::OwnedFd::from(socket));
        let mut early = EarlyForce::default();
        early.written(&socket, INTERVAL).unwrap();
        assert!(early.end().is_err());
        early.written(&socket, INTERVAL).unwrap();
        while early.running.as_ref().is_some_and(|running| !running.is_finished()) {
            thread::yield_now();
        }
        assert!(early.written(&socket, INTERVAL).is_err());
    }
}
