//! The threads that drive the connections: one runtime for each process, which a forked process makes anew.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

/// Threads that drive the connections. Searching and checking is done by those who ask.
const WORKERS: usize = 2;

/// Threads that read pages on disk or look names up, at most.
const BLOCKING: usize = 32;

/// What a process made for itself, and what the processes that it forked did. A forked process has no threads of its
/// parent, and must not touch what they had locked: it passes over what is not its own, and never frees it.
pub(crate) struct PerProcess<T> {
    made: OnceLock<Box<Made<T>>>,
}

struct Made<T> {
    process: u32,
    /// Always there, except while it is dropped.
    value: Option<T>,
    next: PerProcess<T>,
}

impl<T> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        PerProcess { made: OnceLock::new() }
    }

    /// What this process made; makes it if need be. Waits for no lock.
    pub(crate) fn get<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        let process = std::process::id();
        let mut at = self;
        let mut new = None;
        let mut make = Some(make);
        loop {
            if let Some(made) = at.made.get() {
                match &made.value {
                    Some(value) if made.process == process => return Ok(value),
                    _ => at = &made.next,
                }
                continue;
            }
            if let Some(make) = make.take() {
                new = Some(Box::new(Made { process, value: Some(make()?), next: PerProcess::new() }));
            }
            // Another thread may have been quicker; then its value is found above.
            if let Some(made) = new.take() {
                new = at.made.set(made).err();
            }
        }
    }
}

impl<T> Drop for Made<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.value.take());
        }
    }
}

static RUNTIMES: PerProcess<Runtime> = PerProcess::new();

/// The runtime of this process.
pub(crate) fn handle() -> std::io::Result<&'static Handle> {
    let runtime = RUNTIMES.get(|| {
        // reqwest takes the provider that the process has installed, and panics without one. An application that has
        // installed another keeps it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .max_blocking_threads(BLOCKING)
            .thread_name("bsdb-remote")
            .enable_all()
            .build()
    })?;
    Ok(runtime.handle())
}

/// A future that needs the runtime's timers and connections, for any executor.
pub(crate) struct Entered<F> {
    /// Always there, except while it is dropped.
    future: Option<Pin<Box<F>>>,
    handle: &'static Handle,
}

impl<F> Entered<F> {
    pub(crate) fn new(future: F, handle: &'static Handle) -> Self {
        Entered { future: Some(Box::pin(future)), handle }
    }
}

impl<F: Future> Future for Entered<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let _entered = self.handle.enter();
        match &mut self.future {
            Some(future) => future.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl<F> Drop for Entered<F> {
    fn drop(&mut self) {
        let _entered = self.handle.enter();
        self.future = None;
    }
}

struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread, whatever else runs on it. Asks from time to time whether to go on, and returns
/// None if not.
pub(crate) fn wait<F: Future>(
    future: F,
    handle: &'static Handle,
    mut go_on: impl FnMut() -> bool,
) -> Option<F::Output> {
    const SLICE: Duration = Duration::from_secs(1);
    let mut future = std::pin::pin!(Entered::new(future, handle));
    let waker = Waker::from(Arc::new(Parked(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        std::thread::park_timeout(SLICE);
        if !go_on() {
            return None;
        }
    }
}

/// A future under way on the threads of the remote reader. It is stopped when this is dropped.
pub struct Task<T>(Option<JoinHandle<T>>);

impl<T> Task<T> {
    /// Lets the future go on by itself.
    pub fn detach(mut self) {
        self.0 = None;
    }

    /// The output, unless the future panicked.
    pub(crate) async fn output(&mut self) -> Option<T> {
        self.0.as_mut()?.await.ok()
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Runs a future on the threads of the remote reader, such as one that awaits [`Database::aget`](crate::Database::aget)
/// and passes its result on. They are few: the future must not block. Fails if the system has no thread to give.
pub fn spawn<T, F>(future: F) -> std::io::Result<Task<T>>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    Ok(Task(Some(handle()?.spawn(future))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_one_value_for_a_process() {
        let values = PerProcess::new();
        let made = std::sync::atomic::AtomicU32::new(0);
        let make = || Ok::<_, ()>(made.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        std::thread::scope(|scope| {
            let first = values.get(make).unwrap();
            for _ in 0..4 {
                scope.spawn(|| assert!(std::ptr::eq(values.get(make).unwrap(), first)));
            }
        });
        assert_eq!(values.get(|| Err(())).copied(), Ok(0));
        assert!(PerProcess::<u8>::new().get(|| Err(())).is_err());
    }

    #[test]
    fn waits_within_another_runtime() {
        let handle = handle().unwrap();
        let wait = || wait(async { tokio::time::sleep(Duration::from_millis(1)).await }, handle, || true);
        assert!(wait().is_some());
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async { assert!(wait().is_some()) });
        assert!(super::wait(std::future::pending::<()>(), handle, || false).is_none());
    }
}
