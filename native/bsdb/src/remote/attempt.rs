//! A request, repeated as long as that may help.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::time::{Duration, Instant};

use super::hedge;
use super::options::{Counters, Remote};
use super::transport::{self, Failure, Got, Reason, Tag};
use super::{Live, Object};

/// The longest that one attempt may take, beside the time for its bytes.
const ATTEMPT: Duration = Duration::from_secs(5);

/// Bytes that arrive in a second at least.
const SLOWEST: u64 = 1 << 20;

/// Bytes of most objects whose size is unknown.
const SMALL: u64 = 1 << 16;

/// Waits between attempts grow from the first to the second.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// A request that failed for good.
#[derive(Debug)]
pub(crate) struct Lost {
    pub(crate) failure: Failure,
    pub(crate) attempts: u32,
    pub(crate) time: Duration,
}

impl Lost {
    pub(crate) fn reason(&self) -> Reason {
        self.failure.reason
    }
}

/// Asks for a range of an object, or for all of one that has `most` bytes at most. The deadline counts from when the
/// first attempt may begin.
pub(crate) async fn request(
    live: &Live,
    remote: &Remote,
    counters: &Counters,
    object: &Object,
    range: Option<Range<u64>>,
    tag: Option<&Tag>,
    most: u64,
) -> Result<Got, Lost> {
    let bytes = range.as_ref().map_or(most.min(SMALL), |range| range.end - range.start);
    let hedged = remote.hedged && range.is_some() && bytes <= hedge::MOST_BYTES;
    if hedged {
        live.hedges.count();
    }
    let mut begun = None;
    let mut attempts = 0;
    let mut before = None;
    loop {
        let permit = live.permits.acquire().await;
        let begun = *begun.get_or_insert_with(Instant::now);
        attempts += 1;
        Counters::add(&counters.requests, 1);
        if attempts > 1 {
            Counters::add(&counters.retries, 1);
        }
        let limit = limit(begun.elapsed(), remote.deadline, bytes);
        let request = || transport::get(&*live.store, &object.name, range.clone(), tag, most);
        let answer = async {
            match hedged {
                true => live.hedges.ask(&live.permits, request, || counters.hedged()).await,
                false => request().await,
            }
        };
        let mut failure = match tokio::time::timeout(limit, answer).await {
            Ok(Ok(got)) => {
                Counters::add(&counters.bytes, got.bytes.len() as u64);
                return Ok(got);
            }
            Ok(Err(failure)) => failure,
            Err(_) => Failure::new(Reason::Late, "no answer"),
        };
        drop(permit);
        // A last attempt may have had little time; what came before it says more.
        if failure.reason == Reason::Late {
            failure = before.take().unwrap_or(failure);
        }
        let time = begun.elapsed();
        match again(&failure, attempts, time, remote.deadline, random()) {
            Some(wait) => {
                before = (failure.reason != Reason::Late).then_some(failure);
                tokio::time::sleep(wait).await;
            }
            None => return Err(Lost { failure, attempts, time }),
        }
    }
}

/// How long an attempt may take.
fn limit(elapsed: Duration, deadline: Duration, bytes: u64) -> Duration {
    let left = deadline.saturating_sub(elapsed);
    let transfer = Duration::from_micros(bytes.saturating_mul(1_000_000) / SLOWEST);
    (ATTEMPT.min(left / 2) + transfer).max(Duration::from_millis(10))
}

/// How long to wait before the next attempt; None if another one would not help, or would come too late. `random` is
/// between 0 and 1.
fn again(failure: &Failure, attempts: u32, elapsed: Duration, deadline: Duration, random: f64) -> Option<Duration> {
    match failure.reason {
        Reason::Busy | Reason::Broken | Reason::Late => {}
        // Perhaps something between us and the server.
        Reason::Wrong if attempts < 2 && !failure.text.contains("certificate") => {}
        Reason::Wrong | Reason::Missing | Reason::Denied | Reason::Changed | Reason::Short => return None,
    }
    if failure.text.contains("certificate") {
        return None;
    }
    let most = FIRST_WAIT.saturating_mul(1 << (attempts - 1).min(10)).min(LONGEST_WAIT);
    let wait = failure.after.unwrap_or_else(|| most.mul_f64(random));
    // Some time must be left for the answer.
    let left = deadline.saturating_sub(elapsed);
    if wait + Duration::from_millis(10) < left {
        return Some(wait);
    }
    None
}

/// A number between 0 and 1.
fn random() -> f64 {
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEADLINE: Duration = Duration::from_secs(30);

    fn next(reason: Reason, attempts: u32, elapsed: u64) -> Option<Duration> {
        again(&Failure::new(reason, ""), attempts, Duration::from_secs(elapsed), DEADLINE, 1.0)
    }

    #[test]
    fn repeats_what_may_help() {
        for reason in [Reason::Busy, Reason::Broken, Reason::Late] {
            assert_eq!(next(reason, 1, 0), Some(FIRST_WAIT));
            assert_eq!(next(reason, 3, 0), Some(4 * FIRST_WAIT));
            assert_eq!(next(reason, 1000, 0), Some(LONGEST_WAIT));
            assert_eq!(next(reason, 1000, 29), None);
            assert_eq!(next(reason, 1, 40), None);
        }
        for reason in [Reason::Missing, Reason::Denied, Reason::Changed, Reason::Short] {
            assert_eq!(next(reason, 1, 0), None);
        }
        assert_eq!((next(Reason::Wrong, 1, 0), next(Reason::Wrong, 2, 0)), (Some(FIRST_WAIT), None));
        assert_eq!(again(&Failure::new(Reason::Broken, "invalid certificate"), 1, Duration::ZERO, DEADLINE, 1.0), None);
    }

    #[test]
    fn waits_as_long_as_the_server_asks() {
        let after = |seconds| {
            let failure = Failure { after: Some(Duration::from_secs(seconds)), ..Failure::new(Reason::Busy, "") };
            again(&failure, 1, Duration::from_secs(5), DEADLINE, 0.0)
        };
        assert_eq!(after(3), Some(Duration::from_secs(3)));
        assert_eq!(after(25), None);
    }

    #[test]
    fn attempts_leave_time_for_others() {
        assert_eq!(limit(Duration::ZERO, DEADLINE, 0), ATTEMPT);
        assert_eq!(limit(Duration::from_secs(26), DEADLINE, 0), Duration::from_secs(2));
        assert_eq!(limit(Duration::ZERO, DEADLINE, 8 << 20), ATTEMPT + Duration::from_secs(8));
        assert!(limit(Duration::from_secs(40), DEADLINE, 0) > Duration::ZERO);
    }

    #[test]
    fn random_numbers_are_between_0_and_1() {
        assert!((0..100).map(|_| random()).all(|random| (0.0..=1.0).contains(&random)));
    }
}
