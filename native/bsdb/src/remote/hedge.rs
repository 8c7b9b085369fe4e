//! Second requests for what takes unusually long: the quicker answer counts, and the other request ends.

use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::{select, Either};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::transport::{Failure, Reason};

/// Requests for more bytes than this take their time, and are not asked for a second time.
pub(crate) const MOST_BYTES: u64 = 64 << 10;

/// One of so many reads may be asked for a second time.
const READS_A_HEDGE: u64 = 20;

/// How many durations are known at most, and after how many new ones the limit is found anew.
const KEPT: usize = 256;
const FRESH: u64 = 32;

/// What takes no longer is never unusual.
const LEAST: Duration = Duration::from_millis(5);

/// How long the last reads took, and how many were asked for a second time. Thread-safe.
#[derive(Default)]
pub(crate) struct Hedges(Mutex<State>);

#[derive(Default)]
struct State {
    /// In a ring.
    recent: Vec<Duration>,
    known: u64,
    /// What 95 of 100 reads stayed below; None while few are known.
    unusual: Option<Duration>,
    reads: u64,
    hedges: u64,
}

impl State {
    fn add(&mut self, duration: Duration) {
        let at = (self.known % KEPT as u64) as usize;
        match self.recent.get_mut(at) {
            Some(oldest) => *oldest = duration,
            None => self.recent.push(duration),
        }
        self.known += 1;
        if self.known % FRESH == 0 {
            let mut sorted = self.recent.clone();
            sorted.sort_unstable();
            self.unusual = Some(sorted[sorted.len() * 95 / 100].max(LEAST));
        }
    }

    /// Whether there may be one more second request, which then counts.
    fn allows(&mut self) -> bool {
        let allows = (self.hedges + 1) * READS_A_HEDGE <= self.reads;
        self.hedges += u64::from(allows);
        allows
    }
}

impl Hedges {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a read, which may have several attempts.
    pub(crate) fn count(&self) {
        self.state().reads += 1;
    }

    /// A permit for a second request, if there is one at once.
    fn permit<'p>(&self, permits: &'p Semaphore) -> Option<SemaphorePermit<'p>> {
        let permit = permits.try_acquire().ok()?;
        self.state().allows().then_some(permit)
    }

    /// The answer to a request, or to a second one if the first takes unusually long; `sent` learns of that.
    pub(crate) async fn ask<T, F>(
        &self,
        permits: &Semaphore,
        request: impl Fn() -> F,
        sent: impl FnOnce(),
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let first = pin!(self.timed(request()));
        let unusual = self.state().unusual;
        let Some(unusual) = unusual else { return first.await };
        let first = match select(first, pin!(tokio::time::sleep(unusual))).await {
            Either::Left((answer, _)) => return answer,
            Either::Right(((), first)) => first,
        };
        let Some(_permit) = self.permit(permits) else { return first.await };
        sent();
        match select(first, pin!(self.timed(request()))).await {
            Either::Left((Err(failure), second)) if may_pass(&failure) => second.await,
            Either::Right((Err(failure), first)) if may_pass(&failure) => first.await,
            Either::Left((answer, _)) | Either::Right((answer, _)) => answer,
        }
    }

    /// A request whose duration counts if it is answered.
    async fn timed<T, E>(&self, request: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let begun = Instant::now();
        let answer = request.await;
        if answer.is_ok() {
            self.state().add(begun.elapsed());
        }
        answer
    }
}

/// Whether the other request may have an answer.
fn may_pass(failure: &Failure) -> bool {
    matches!(failure.reason, Reason::Busy | Reason::Broken | Reason::Late | Reason::Wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_is_unusual() {
        let mut state = State::default();
        (0..31).for_each(|_| state.add(Duration::from_millis(20)));
        assert_eq!(state.unusual, None);
        state.add(Duration::from_millis(900));
        assert_eq!(state.unusual, Some(Duration::from_millis(20)));
        (0..KEPT).for_each(|i| state.add(Duration::from_millis(i as u64)));
        assert_eq!(state.unusual, Some(Duration::from_millis(243)));
        (0..KEPT).for_each(|_| state.add(Duration::from_micros(10)));
        assert_eq!((state.unusual, state.recent.len()), (Some(LEAST), KEPT));
    }

    #[test]
    fn few_reads_have_second_requests() {
        let mut state = State::default();
        let mut hedges = 0;
        for reads in 1..=1000 {
            state.reads = reads;
            hedges += u64::from(state.allows()) + u64::from(state.allows());
            assert!(hedges * READS_A_HEDGE <= reads);
        }
        assert_eq!(hedges, 50);
    }

    /// Hedges that know what is unusual, and let the next read have a second request.
    fn known() -> Hedges {
        let hedges = Hedges::default();
        (0..FRESH).for_each(|_| hedges.state().add(Duration::ZERO));
        (0..READS_A_HEDGE).for_each(|_| hedges.count());
        hedges
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
    }

    /// What comes of a first request that never ends or fails as given, and a second one.
    fn asked(permits: usize, first: Option<Failure>, second: Result<u8, Failure>) -> (Option<Result<u8, Reason>>, u32) {
        let (hedges, permits) = (known(), Semaphore::new(permits));
        let answers = Mutex::new(vec![second]);
        let firsts = Mutex::new(vec![first]);
        let mut sent = 0;
        let answer = run(async {
            let request = || async {
                let first = firsts.lock().unwrap().pop();
                match first {
                    Some(None) => std::future::pending().await,
                    Some(Some(failure)) => {
                        tokio::time::sleep(4 * LEAST).await;
                        Err(failure)
                    }
                    None => answers.lock().unwrap().pop().expect("no third request"),
                }
            };
            let asked = hedges.ask(&permits, request, || sent += 1);
            tokio::time::timeout(Duration::from_millis(100), asked).await
        });
        (answer.ok().map(|answer| answer.map_err(|failure| failure.reason)), sent)
    }

    #[test]
    fn the_second_request_answers_for_the_first() {
        assert_eq!(asked(1, None, Ok(7)), (Some(Ok(7)), 1));
        let failure = |reason| Failure::new(reason, "");
        assert_eq!(asked(1, Some(failure(Reason::Busy)), Err(failure(Reason::Broken))), (Some(Err(Reason::Busy)), 1));
        assert_eq!(asked(1, None, Err(failure(Reason::Changed))), (Some(Err(Reason::Changed)), 1));
        // Without a permit there is none.
        assert_eq!(asked(0, None, Ok(7)), (None, 0));
        assert_eq!(asked(0, Some(failure(Reason::Busy)), Ok(7)), (Some(Err(Reason::Busy)), 0));
    }
}
