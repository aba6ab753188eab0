//! The times and numbers of repeated reads.

use std::time::Duration;

use tokio::time::Instant;

use crate::discovery::{
    CacheOptions, DiscoveryError,
    ledger::{Ledger, Scope, Ticket},
};

const MISS_TTL: Duration = Duration::from_secs(10);
const FAILURE_TTL: Duration = Duration::from_secs(2);

/// A ledger on a clock that is turned by hand.
struct LedgerTest {
    ledger: Ledger,
    now: Instant,
}

impl LedgerTest {
    fn new() -> Self {
        Self::with_options(CacheOptions::default())
    }

    fn with_options(options: CacheOptions) -> Self {
        Self {
            ledger: Ledger::new(options),
            now: Instant::now(),
        }
    }

    fn pass(&mut self, duration: Duration) {
        self.now += duration;
    }

    fn take(&mut self) -> Ticket {
        self.ledger.take(self.now).unwrap()
    }

    fn read(&mut self, scope: &Scope) -> bool {
        let ticket = self.take();
        self.ledger.on_read(scope, ticket, self.now)
    }

    /// Returns whether a miss in `scope` is answered without a request.
    fn is_believed(&self, scope: &Scope, has_failures: bool) -> bool {
        self.ledger
            .is_recently_read(scope, has_failures, self.now, self.now)
    }

    fn is_failure_believed(&self, scope: &Scope) -> bool {
        let failure = self.ledger.recent_failure(scope, self.now, self.now);
        failure.is_some()
    }
}

fn group(name: &str) -> Scope {
    Scope::Group(name.to_owned())
}

const INSTANT: Duration = Duration::from_nanos(1);

fn just_under(duration: Duration) -> Duration {
    duration.saturating_sub(INSTANT)
}

#[test]
fn everything_is_wanted_first_and_when_it_is_old() {
    let mut it = LedgerTest::new();
    assert_eq!(it.ledger.wanted(it.now), Some(Scope::Whole));
    assert!(it.read(&Scope::Whole));
    assert_eq!(it.ledger.wanted(it.now), None);
    it.pass(just_under(Duration::from_mins(10)));
    assert_eq!(it.ledger.wanted(it.now), None);
    it.pass(INSTANT);
    assert_eq!(it.ledger.wanted(it.now), Some(Scope::Whole));
}

#[test]
fn lifetimes_are_those_of_the_options() {
    let s = Duration::from_secs;
    let options = CacheOptions::default()
        .with_failure_ttl(s(1))
        .with_miss_ttl(s(3))
        .with_max_age(s(5));
    let mut it = LedgerTest::with_options(options);
    it.read(&Scope::Whole);
    let mut after_a_second = || {
        it.pass(s(1));
        (
            it.is_believed(&Scope::Whole, true),
            it.is_believed(&Scope::Whole, false),
            it.ledger.wanted(it.now).is_none(),
        )
    };
    assert_eq!(after_a_second(), (false, true, true));
    assert_eq!(after_a_second(), (false, true, true));
    assert_eq!(after_a_second(), (false, false, true));
    assert_eq!(after_a_second(), (false, false, true));
    assert_eq!(after_a_second(), (false, false, false));
}

#[test]
fn a_miss_is_believed_for_its_time_whatever_was_read() {
    let mut it = LedgerTest::new();
    it.read(&Scope::Whole);
    it.pass(just_under(MISS_TTL));
    assert!(it.is_believed(&Scope::Whole, false));
    assert!(
        it.is_believed(&group("a.io"), false),
        "the whole has every group"
    );
    it.pass(INSTANT);
    assert!(!it.is_believed(&Scope::Whole, false));
    assert!(!it.is_believed(&group("a.io"), false));
    it.read(&group("a.io"));
    assert!(it.is_believed(&group("a.io"), false));
    assert!(!it.is_believed(&group("b.io"), false));
    assert!(
        !it.is_believed(&Scope::Whole, false),
        "one group is not the whole"
    );
}

#[test]
fn a_group_with_failures_is_asked_for_again_sooner() {
    let mut it = LedgerTest::new();
    it.read(&Scope::Whole);
    it.pass(just_under(FAILURE_TTL));
    assert!(it.is_believed(&group("a.io"), true));
    it.pass(INSTANT);
    assert!(!it.is_believed(&group("a.io"), true));
    assert!(it.is_believed(&group("a.io"), false));
}

#[test]
fn a_failure_is_believed_for_its_time_and_only_of_its_scope() {
    let mut it = LedgerTest::new();
    let _ticket = it.take();
    it.ledger
        .on_failure(&group("a.io"), &DiscoveryError::Stale, it.now);
    it.pass(just_under(FAILURE_TTL));
    assert!(it.is_failure_believed(&group("a.io")));
    assert!(!it.is_failure_believed(&group("b.io")));
    assert!(!it.is_failure_believed(&Scope::Whole));
    it.pass(INSTANT);
    assert!(!it.is_failure_believed(&group("a.io")));
    it.ledger
        .on_failure(&group("a.io"), &DiscoveryError::Stale, it.now);
    it.read(&group("a.io"));
    assert!(
        !it.is_failure_believed(&group("a.io")),
        "success ends a failure"
    );
}

#[test]
fn a_waiting_caller_takes_the_outcome_however_old_the_question() {
    let mut it = LedgerTest::new();
    let asked_at = it.now;
    it.pass(Duration::from_secs(1));
    it.read(&Scope::Whole);
    it.ledger
        .on_failure(&group("a.io"), &DiscoveryError::Stale, it.now);
    it.pass(Duration::from_mins(1));
    assert!(
        it.ledger
            .is_recently_read(&Scope::Whole, false, asked_at, it.now)
    );
    let failure = it.ledger.recent_failure(&group("a.io"), asked_at, it.now);
    assert!(failure.is_some());
}

#[test]
fn the_allowance_bounds_refreshes_and_grows_back() {
    let mut it = LedgerTest::new();
    for _ in 0..10 {
        let _ticket = it.take();
    }
    it.pass(Duration::from_millis(400));
    it.ledger
        .on_failure(&Scope::Whole, &DiscoveryError::Stale, it.now);
    let error = it.ledger.take(it.now).unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_millis(600)));
    let reason = std::error::Error::source(&error).unwrap();
    assert_eq!(reason.to_string(), DiscoveryError::Stale.to_string());
    it.pass(Duration::from_millis(600));
    let _ticket = it.take();
    assert!(it.ledger.take(it.now).is_err());
    // It does not grow beyond a burst.
    it.pass(Duration::from_hours(1));
    for _ in 0..10 {
        let _ticket = it.take();
    }
    assert!(it.ledger.take(it.now).is_err());
}

#[test]
fn invalidated_groups_are_wanted_until_they_are_read() {
    let mut it = LedgerTest::new();
    it.read(&Scope::Whole);
    it.ledger.invalidate_group("a.io");
    assert_eq!(it.ledger.wanted(it.now), Some(group("a.io")));
    it.ledger.invalidate_group("b.io");
    assert_eq!(it.ledger.wanted(it.now), Some(Scope::Whole), "many at once");
    assert!(it.read(&group("a.io")));
    assert_eq!(it.ledger.wanted(it.now), Some(group("b.io")));
    assert!(it.read(&Scope::Whole));
    assert_eq!(it.ledger.wanted(it.now), None);
    it.ledger.invalidate();
    assert_eq!(it.ledger.wanted(it.now), Some(Scope::Whole));
    assert!(!it.is_believed(&Scope::Whole, false));
}

#[test]
fn a_read_that_began_before_the_invalidation_does_not_count() {
    let mut it = LedgerTest::new();
    it.read(&Scope::Whole);

    let ticket = it.take();
    it.ledger.invalidate_group("a.io");
    assert!(!it.ledger.on_read(&group("a.io"), ticket, it.now));
    assert!(
        it.ledger.on_read(&Scope::Whole, ticket, it.now),
        "the other groups count"
    );
    assert_eq!(it.ledger.wanted(it.now), Some(group("a.io")));

    let ticket = it.take();
    it.ledger.invalidate();
    assert!(!it.ledger.on_read(&Scope::Whole, ticket, it.now));
    assert_eq!(it.ledger.wanted(it.now), Some(Scope::Whole));
}
