//! The pure core by tables: client-go's `TestTryAcquireOrRenew` and its kin, by sentence.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    LeaderElectionError, LeaderElectionOptions,
    machine::{Decision, Machine},
    record::{Record, micro_time},
};

const S: fn(u64) -> Duration = Duration::from_secs;

/// A candidate called `me`, and the time since it began.
struct Play {
    machine: Machine,
    origin: Instant,
}

// === impl Play ===

impl Play {
    fn new() -> Self {
        Self {
            machine: Machine::new("me", &LeaderElectionOptions::default()),
            origin: Instant::now(),
        }
    }

    fn read(&mut self, time: Duration, found: Option<Record>) -> Decision {
        self.machine.on_read(self.origin + time, wall(time), found)
    }

    fn written(&mut self, time: Duration, record: Record) {
        self.machine.on_written(self.origin + time, record);
    }

    fn renewal(&self, time: Duration) -> Option<Record> {
        self.machine.renewal(self.origin + time, wall(time))
    }

    fn taken(&mut self, time: Duration, found: Option<Record>) -> Record {
        match self.read(time, found) {
            Decision::Take(record) => record,
            decision @ Decision::Leave { .. } => panic!("{decision:?}"),
        }
    }

    fn left(&mut self, time: Duration, found: Option<Record>) -> Duration {
        match self.read(time, found) {
            Decision::Leave { left, .. } => left,
            decision @ Decision::Take(_) => panic!("{decision:?}"),
        }
    }
}

fn wall(time: Duration) -> Timestamp {
    Timestamp::UNIX_EPOCH.checked_add(time).unwrap()
}

/// A lease of 15 s that was acquired and renewed at these seconds of its holder's clock.
fn held_by(holder: &str, acquired: u64, renewed: u64, transitions: i32) -> Record {
    Record {
        holder_identity: Some(holder.to_owned()),
        lease_duration_seconds: Some(15),
        acquire_time: Some(micro_time(wall(S(acquired)))),
        renew_time: Some(micro_time(wall(S(renewed)))),
        lease_transitions: Some(transitions),
    }
}

#[test]
fn a_lease_that_does_not_exist_is_made() {
    let mut play = Play::new();
    assert_eq!(play.taken(S(3), None), held_by("me", 3, 3, 0));
}

#[test]
fn a_lease_that_nobody_holds_is_taken_at_once() {
    for free in [Record::default(), held_by("", 1, 1, 4)] {
        let transitions = free.transitions() + 1;
        let taken = Play::new().taken(S(3), Some(free));
        assert_eq!(taken, held_by("me", 3, 3, transitions));
    }
}

#[test]
fn anothers_lease_is_left_alone_until_nothing_was_written_for_as_long_as_it_lasts() {
    let mut play = Play::new();
    let lease = || Some(held_by("other", 1, 1, 4));
    assert_eq!(play.left(S(0), lease()), S(15));
    assert_eq!(play.left(S(14), lease()), S(1));
    assert_eq!(play.taken(S(15), lease()), held_by("me", 15, 15, 5));
}

#[test]
fn each_write_of_its_holder_begins_the_time_anew() {
    let mut play = Play::new();
    play.left(S(0), Some(held_by("other", 1, 1, 4)));
    assert_eq!(play.left(S(14), Some(held_by("other", 1, 3, 4))), S(15));
    assert_eq!(play.left(S(28), Some(held_by("other", 1, 3, 4))), S(1));
}

#[test]
fn the_times_in_a_lease_are_not_compared_with_this_ones_clock() {
    // Written by a clock that is a century late, or one that is ahead.
    for renewed in [0, 4_000_000_000] {
        let mut play = Play::new();
        let lease = || Some(held_by("other", renewed, renewed, 4));
        assert_eq!(play.left(S(2_000_000_000), lease()), S(15));
        play.taken(S(2_000_000_015), lease());
    }
}

#[test]
fn the_holders_own_duration_counts() {
    let mut play = Play::new();
    let mut lease = held_by("other", 1, 1, 4);
    lease.lease_duration_seconds = Some(60);
    assert_eq!(play.left(S(0), Some(lease)), S(60));
    // One that makes no sense lasts for no time.
    let mut lease = held_by("other", 2, 2, 4);
    lease.lease_duration_seconds = Some(-1);
    play.taken(S(1), Some(lease));
}

#[test]
fn ones_own_lease_is_renewed_and_keeps_its_beginning_and_its_count() {
    // Found after a restart.
    let mut play = Play::new();
    let taken = play.taken(S(9), Some(held_by("me", 1, 2, 4)));
    assert_eq!(taken, held_by("me", 1, 9, 4));
    // And without reading, once it was written.
    assert_eq!(play.renewal(S(9)), None);
    play.written(S(9), taken);
    assert_eq!(play.renewal(S(11)), Some(held_by("me", 1, 11, 4)));
    assert_eq!(play.machine.transitions(), 4);
    // After too long a pause, it is read first.
    assert_eq!(play.renewal(S(24)), None);
}

#[test]
fn after_a_write_that_failed_the_lease_is_read_first() {
    let mut play = Play::new();
    let taken = play.taken(S(0), None);
    play.written(S(0), taken);
    play.machine.on_write_begun(held_by("me", 0, 2, 0));
    assert_eq!(play.renewal(S(2)), None);
    assert_eq!(play.machine.release(wall(S(2))), None);
    let taken = play.taken(S(2), Some(held_by("me", 0, 0, 0)));
    assert_eq!(taken, held_by("me", 0, 2, 0));
}

#[test]
fn a_lease_that_was_taken_is_not_taken_back() {
    let mut play = Play::new();
    let taken = play.taken(S(0), None);
    play.written(S(0), taken);
    play.left(S(2), Some(held_by("thief", 1, 1, 1)));
    assert_eq!(play.renewal(S(2)), None);
    assert_eq!(play.machine.release(wall(S(2))), None);
}

#[test]
fn a_lease_that_is_given_back_holds_for_nobody_and_keeps_its_count() {
    let mut play = Play::new();
    let taken = play.taken(S(0), Some(held_by("", 0, 0, 6)));
    play.written(S(0), taken);
    let mut free = held_by("", 2, 2, 7);
    free.lease_duration_seconds = Some(1);
    assert_eq!(play.machine.release(wall(S(2))), Some(free));
}

#[test]
fn a_lease_is_given_back_after_a_renewal_of_unknown_outcome_but_not_that_of_a_later_leadership() {
    let mut play = Play::new();
    let taken = play.taken(S(0), None);
    play.written(S(0), taken.clone());
    let renewed = held_by("me", 0, 2, 0);
    play.machine.on_write_begun(renewed.clone());
    assert_eq!(play.machine.release(wall(S(3))), None);
    let mut free = held_by("", 3, 3, 0);
    free.lease_duration_seconds = Some(1);
    // It has taken effect, or not.
    for found in [taken, renewed] {
        let record = play.machine.release_of(&found, wall(S(3)));
        assert_eq!(record, Some(free.clone()));
    }
    for other in [held_by("me", 0, 4, 0), held_by("other", 2, 2, 1)] {
        assert_eq!(play.machine.release_of(&other, wall(S(3))), None);
    }
}

#[test]
fn a_lease_shows_microseconds() {
    let time = Timestamp::new(1_767_225_600, 1_500_000).unwrap();
    assert_eq!(micro_time(time), "2026-01-01T00:00:00.001500Z");
}

#[test]
fn durations_that_do_not_go_together_are_refused() {
    let check = |lease, renew, retry| {
        let options = LeaderElectionOptions {
            lease_duration: S(lease),
            renew_deadline: S(renew),
            retry_period: S(retry),
            ..LeaderElectionOptions::default()
        };
        options.check()
    };
    assert!(check(15, 10, 2).is_ok());
    for (lease, renew, retry) in [(10, 10, 2), (15, 2, 2), (15, 10, 9), (15, 10, 0), (0, 0, 0)] {
        let error = check(lease, renew, retry).unwrap_err();
        assert!(matches!(error, LeaderElectionError::Durations { .. }));
    }
    // Others go by the ten seconds that the lease would say.
    let options = LeaderElectionOptions {
        lease_duration: Duration::from_millis(10_900),
        renew_deadline: Duration::from_millis(10_500),
        ..LeaderElectionOptions::default()
    };
    assert!(options.check().is_err());
}
