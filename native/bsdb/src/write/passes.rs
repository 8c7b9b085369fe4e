//! Work in parts, on several threads, whose results are taken in order.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

use super::control::Control;
use crate::error::Result;

/// How parts are worked on.
pub(crate) struct Passes<'a> {
    pub(crate) control: &'a Control,
    pub(crate) threads: usize,
    /// The memory that parts may take at once; one part may exceed it.
    pub(crate) memory: u64,
}

/// What the threads share.
struct State<T> {
    next: usize,
    /// Parts that were taken.
    taken: usize,
    /// Memory of the parts from `taken` to `next`.
    used: u64,
    done: BTreeMap<usize, thread::Result<Result<T>>>,
    ended: bool,
}

impl Passes<'_> {
    /// Works on the parts 0 to `parts` - 1, and passes the results to `take` in this order, on this thread.
    ///
    /// `memory` tells what a part takes until it was taken. The first failure ends all.
    pub(crate) fn run<T: Send>(
        &self,
        parts: usize,
        memory: impl Fn(usize) -> u64 + Sync,
        work: impl Fn(usize) -> Result<T> + Sync,
        mut take: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        if self.threads <= 1 || parts <= 1 {
            for part in 0..parts {
                self.control.check()?;
                take(part, work(part)?)?;
            }
            return Ok(());
        }
        let state = Mutex::new(State { next: 0, taken: 0, used: 0, done: BTreeMap::new(), ended: false });
        let changed = Condvar::new();
        let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = 2 * self.threads;
        let worker = || loop {
            let mut shared = lock();
            let part = loop {
                if shared.ended || shared.next == parts {
                    return;
                }
                let part = shared.next;
                let alone = shared.next == shared.taken;
                if alone || part < shared.taken + ahead && shared.used + memory(part) <= self.memory {
                    break part;
                }
                shared = changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
            };
            shared.next += 1;
            shared.used += memory(part);
            drop(shared);
            let work = AssertUnwindSafe(|| self.control.check().and_then(|()| work(part)));
            let result = panic::catch_unwind(work);
            lock().done.insert(part, result);
            changed.notify_all();
        };
        /// Ends the workers, also if the thread that takes panics.
        struct End<F: Fn()>(F);
        impl<F: Fn()> Drop for End<F> {
            fn drop(&mut self) {
                (self.0)();
            }
        }
        thread::scope(|scope| {
            let _end = End(|| {
                lock().ended = true;
                changed.notify_all();
            });
            // Where the system gives no thread, this one works.
            let spawn = |_: &usize| thread::Builder::new().spawn_scoped(scope, worker).is_ok();
            let workers = (0..self.threads.min(parts)).take_while(spawn).count();
            for part in 0..parts {
                if workers == 0 {
                    self.control.check()?;
                    take(part, work(part)?)?;
                    continue;
                }
                let mut shared = lock();
                let result = loop {
                    if let Some(result) = shared.done.remove(&part) {
                        break result;
                    }
                    shared = changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
                };
                drop(shared);
                take(part, result.unwrap_or_else(|panic| panic::resume_unwind(panic))?)?;
                let mut shared = lock();
                shared.taken += 1;
                shared.used -= memory(part);
                changed.notify_all();
            }
            Ok(())
        })
    }
}

/// Works on parts in any order, on this thread and on others, as far as the system gives some.
pub(crate) fn share<T: Send>(threads: usize, parts: Vec<T>, work: impl Fn(T) -> Result<()> + Sync) -> Result<()> {
    let others = threads.min(parts.len()).saturating_sub(1);
    let left = Mutex::new(parts);
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let worker = || std::iter::from_fn(next).try_for_each(&work);
    thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        let spawned: Vec<_> = (0..others).map_while(spawn).collect();
        let mut result = worker();
        for other in spawned {
            result = result.and(other.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn results_are_taken_in_order() {
        let control = Control::new(None);
        for threads in [1, 2, 5] {
            let passes = Passes { control: &control, threads, memory: 7 };
            let mut taken = Vec::new();
            let take = |part, result: usize| {
                assert_eq!(result, 3 * part);
                taken.push(part);
                Ok(())
            };
            passes.run(100, |part| (part % 10) as u64, |part| Ok(3 * part), take).unwrap();
            assert_eq!(taken, (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn parts_are_shared_among_threads() {
        for threads in [0, 1, 3, 20] {
            let sum = Mutex::new(0);
            let work = |part: u32| {
                *sum.lock().unwrap() += part;
                if part == 100 {
                    Err(Error::Stopped)
                } else {
                    Ok(())
                }
            };
            share(threads, (0..10).collect(), work).unwrap();
            assert_eq!(*sum.lock().unwrap(), 45);
            share(threads, Vec::new(), work).unwrap();
            assert!(matches!(share(threads, vec![1, 100, 2], work), Err(Error::Stopped)));
        }
    }

    #[test]
    fn the_first_failure_ends_all() {
        let control = Control::new(None);
        for threads in [1, 3] {
            let passes = Passes { control: &control, threads, memory: 1 };
            let work = |part| if part == 5 { Err(Error::Stopped) } else { Ok(part) };
            let mut taken = 0;
            let take = |_, _| {
                taken += 1;
                Ok(())
            };
            assert!(matches!(passes.run(100, |_| 1, work, take), Err(Error::Stopped)));
            assert_eq!(taken, 5);
        }
    }
}
