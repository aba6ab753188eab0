//! The pure core by tables: client-go's `TestTryAcquireOrRenew` and its kin, by sentence.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    LeaderElectionError, LeaderElectionOptions,
    candidacy::{Candidacy, ObservedCandidate, Step},
    machine::{Decision, Machine},
    record::{Record, micro_time},
};

const S: fn(u64) -> Duration = Duration::from_secs;

/// A candidate called `me`, and the time since it began.
struct CandidateTest {
    machine: Machine,
    origin: Instant,
}

// === impl CandidateTest ===

impl CandidateTest {
    fn new() -> Self {
        Self {
            machine: Machine::new("me", &LeaderElectionOptions::default()),
            origin: Instant::now(),
        }
    }

    /// The same in a coordinated election.
    fn coordinated() -> Self {
        let play = Self::new();
        Self {
            machine: play.machine.coordinated(),
            ..play
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

    /// Reads a lease in an attempt that began a second before.
    fn coordinate(&mut self, time: Duration, found: Option<Record>) -> Decision {
        self.machine.on_asked(self.origin + time - S(1));
        self.read(time, found)
    }

    fn taken(&mut self, time: Duration, found: Option<Record>) -> Record {
        match self.read(time, found) {
            Decision::Take(record) => record,
            decision => panic!("{decision:?}"),
        }
    }

    fn left(&mut self, time: Duration, found: Option<Record>) -> Duration {
        match self.read(time, found) {
            Decision::Leave { left, .. } => left,
            decision => panic!("{decision:?}"),
        }
    }
}

/// A lease that the coordinator has granted at this second of its clock.
fn granted_to(holder: &str, second: u64, transitions: Option<i32>) -> Record {
    Record {
        holder_identity: Some(holder.to_owned()),
        lease_duration_seconds: Some(5),
        acquire_time: None,
        renew_time: Some(micro_time(wall(S(second)))),
        lease_transitions: transitions,
        preferred_holder: None,
    }
}

fn awaited(holder: &str) -> Decision {
    let holder = holder.to_owned();
    Decision::Await { holder }
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
        preferred_holder: None,
    }
}

#[test]
fn a_lease_that_does_not_exist_is_made() {
    let mut play = CandidateTest::new();
    assert_eq!(play.taken(S(3), None), held_by("me", 3, 3, 0));
}

#[test]
fn a_lease_without_a_holder_is_taken_at_once() {
    for free in [Record::default(), held_by("", 1, 1, 4)] {
        let transitions = free.transitions() + 1;
        let taken = CandidateTest::new().taken(S(3), Some(free));
        assert_eq!(taken, held_by("me", 3, 3, transitions));
    }
}

#[test]
fn anothers_lease_is_left_alone_until_nothing_was_written_for_as_long_as_it_lasts() {
    let mut play = CandidateTest::new();
    let lease = || Some(held_by("other", 1, 1, 4));
    assert_eq!(play.left(S(0), lease()), S(15));
    assert_eq!(play.left(S(14), lease()), S(1));
    assert_eq!(play.taken(S(15), lease()), held_by("me", 15, 15, 5));
}

#[test]
fn each_write_of_its_holder_restarts_the_time() {
    let mut play = CandidateTest::new();
    play.left(S(0), Some(held_by("other", 1, 1, 4)));
    assert_eq!(play.left(S(14), Some(held_by("other", 1, 3, 4))), S(15));
    assert_eq!(play.left(S(28), Some(held_by("other", 1, 3, 4))), S(1));
}

#[test]
fn the_times_in_a_lease_are_not_compared_with_this_ones_clock() {
    // Written by a clock that is a century late, or one that is ahead.
    for renewed in [0, 4_000_000_000] {
        let mut play = CandidateTest::new();
        let lease = || Some(held_by("other", renewed, renewed, 4));
        assert_eq!(play.left(S(2_000_000_000), lease()), S(15));
        play.taken(S(2_000_000_015), lease());
    }
}

#[test]
fn the_holders_own_duration_counts() {
    let mut play = CandidateTest::new();
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
    let mut play = CandidateTest::new();
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
    let mut play = CandidateTest::new();
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
    let mut play = CandidateTest::new();
    let taken = play.taken(S(0), None);
    play.written(S(0), taken);
    play.left(S(2), Some(held_by("thief", 1, 1, 1)));
    assert_eq!(play.renewal(S(2)), None);
    assert_eq!(play.machine.release(wall(S(2))), None);
}

#[test]
fn a_released_lease_has_no_holder_and_keeps_its_count() {
    let mut play = CandidateTest::new();
    let taken = play.taken(S(0), Some(held_by("", 0, 0, 6)));
    play.written(S(0), taken);
    let mut free = held_by("", 2, 2, 7);
    free.lease_duration_seconds = Some(1);
    assert_eq!(play.machine.release(wall(S(2))), Some(free));
}

#[test]
fn a_lease_is_given_back_after_a_renewal_of_unknown_outcome_but_not_that_of_a_later_leadership() {
    let mut play = CandidateTest::new();
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
fn a_coordinated_lease_is_left_alone_until_it_is_granted() {
    let mut play = CandidateTest::coordinated();
    assert_eq!(play.coordinate(S(1), None), awaited(""));
    assert_eq!(
        play.coordinate(S(2), Some(held_by("", 1, 1, 0))),
        awaited("")
    );
    let others = || Some(held_by("other", 1, 1, 0));
    for second in [3, 4, 100] {
        assert_eq!(play.coordinate(S(second), others()), awaited("other"));
    }
    assert_eq!(play.renewal(S(100)), None);
}

#[test]
fn a_grant_is_taken_up_by_the_coordinators_clock() {
    // It was granted after the read that began at 3 s did not show it, when the coordinator's clock said 1,000 s.
    let mut play = CandidateTest::coordinated();
    play.coordinate(S(4), Some(held_by("other", 1, 1, 6)));
    let taken = play.coordinate(S(7), Some(granted_to("me", 1_000, Some(6))));
    let own = |renewed| held_by("me", 1_004, renewed, 7);
    assert_eq!(taken, Decision::Take(own(1_004)));
    // The write may have failed, or may have taken effect all the same.
    play.machine.on_write_begun(own(1_004));
    let taken = play.coordinate(S(8), Some(granted_to("me", 1_000, Some(6))));
    assert_eq!(taken, Decision::Take(own(1_005)));
    play.machine.on_write_begun(own(1_005));
    let taken = play.coordinate(S(9), Some(own(1_004)));
    assert_eq!(taken, Decision::Take(own(1_006)));
    play.written(S(9), own(1_006));
    assert_eq!(play.renewal(S(11)), Some(own(1_008)));
    assert_eq!(play.machine.transitions(), 7);
    // A term later others clear the lease, and it is granted again before the next renewal.
    play.written(S(2_000), own(2_997));
    let taken = play.coordinate(S(2_003), Some(granted_to("me", 3_000, Some(7))));
    let again = held_by("me", 3_003, 3_003, 8);
    assert_eq!(taken, Decision::Take(again));
    // The first leader of all.
    let mut play = CandidateTest::coordinated();
    play.coordinate(S(4), None);
    let taken = play.coordinate(S(7), Some(granted_to("me", 1_000, None)));
    assert_eq!(taken, Decision::Take(held_by("me", 1_004, 1_004, 0)));
}

#[test]
fn a_grant_of_unknown_age_is_given_back() {
    let given_back = |second, transitions| {
        let mut record = held_by("", second, second, transitions);
        record.lease_duration_seconds = Some(1);
        Decision::GiveBack(record)
    };
    // After a restart under the same name.
    for found in [granted_to("me", 1_000, Some(3)), held_by("me", 1, 2, 3)] {
        let mut play = CandidateTest::coordinated();
        assert_eq!(play.coordinate(S(2), Some(found)), given_back(2, 3));
        // The next one is younger than that.
        let taken = play.coordinate(S(4), Some(granted_to("me", 1_001, Some(3))));
        assert_eq!(taken, Decision::Take(held_by("me", 1_004, 1_004, 4)));
    }
    // If that failed, the same one is no younger.
    let mut play = CandidateTest::coordinated();
    let grant = || Some(granted_to("me", 1_000, Some(3)));
    for second in [2, 4, 100] {
        assert_eq!(play.coordinate(S(second), grant()), given_back(second, 3));
    }
    // It was gone meanwhile, and the coordinator granted the lease again in the same moment of its clock.
    play.coordinate(S(101), Some(held_by("", 1, 1, 3)));
    let taken = play.coordinate(S(102), grant());
    assert_eq!(taken, Decision::Take(held_by("me", 1_002, 1_002, 4)));
}

#[test]
fn a_leader_hands_over_to_the_candidate_that_the_coordinator_prefers() {
    let mut play = CandidateTest::coordinated();
    play.coordinate(S(1), None);
    play.coordinate(S(2), Some(granted_to("me", 1_000, None)));
    let mut own = held_by("me", 1_002, 1_002, 0);
    play.written(S(2), own.clone());
    // Itself, or no holder.
    for preferred in ["me", ""] {
        own.preferred_holder = Some(preferred.to_owned());
        let taken = play.coordinate(S(4), Some(own.clone()));
        assert_eq!(taken, Decision::Take(held_by("me", 1_002, 1_004, 0)));
    }
    own.preferred_holder = Some("better".to_owned());
    let preferred = "better".to_owned();
    let handed_over = Decision::HandOver { preferred };
    assert_eq!(play.coordinate(S(4), Some(own.clone())), handed_over);
    // It is given back when the work has ended, without another read.
    let mut free = held_by("", 5, 5, 0);
    free.lease_duration_seconds = Some(1);
    free.preferred_holder = own.preferred_holder.clone();
    assert_eq!(play.machine.release(wall(S(5))), Some(free.clone()));
    assert_eq!(play.machine.release_of(&own, wall(S(5))), Some(free));
}

/// A candidate's step at a second of its own clock, which is `wall` seconds ahead of the time since it began.
struct CandidacyTest {
    candidacy: Candidacy,
    origin: Instant,
    ahead: u64,
}

// === impl CandidacyTest ===

impl CandidacyTest {
    fn new(ahead: u64) -> Self {
        Self {
            candidacy: Candidacy::default(),
            origin: Instant::now(),
            ahead,
        }
    }

    fn step(&mut self, second: u64, seen: Option<ObservedCandidate>) -> Step {
        let now = self.origin + S(second);
        self.candidacy.step(now, wall(S(second + self.ahead)), seen)
    }

    /// Returns the time that is written, and lets that succeed at once, when the server's clock says `server`.
    fn written(&mut self, second: u64, seen: Option<ObservedCandidate>, server: u64) -> Timestamp {
        match self.step(second, seen) {
            Step::Write { renewed } => {
                let now = self.origin + S(second);
                let server = Some(wall(S(server)));
                self.candidacy.on_written(now, renewed, seen, server);
                renewed
            }
            step @ Step::Rest { .. } => panic!("{step:?}"),
        }
    }

    fn rests(&mut self, second: u64, seen: ObservedCandidate) -> u64 {
        match self.step(second, Some(seen)) {
            Step::Rest { until } => (until - self.origin).as_secs(),
            step @ Step::Write { .. } => panic!("{step:?}"),
        }
    }
}

fn pinged(second: u64) -> ObservedCandidate {
    let pinged = Some(wall(S(second)));
    ObservedCandidate { pinged }
}

const QUIET: ObservedCandidate = ObservedCandidate { pinged: None };
const TICK: Duration = Duration::from_micros(1);

#[test]
fn a_candidate_is_created_again_renewed_and_answers_each_ping_once() {
    let mut stand = CandidacyTest::new(0);
    assert_eq!(stand.written(1, None, 1), wall(S(1)));
    assert_eq!(stand.rests(2, QUIET), 301);
    assert_eq!(stand.written(10, Some(pinged(9)), 10), wall(S(10)));
    assert_eq!(stand.rests(10, pinged(9)), 310);
    assert_eq!(stand.written(11, Some(pinged(11)), 11), wall(S(11) + TICK));
    assert_eq!(stand.written(311, Some(pinged(11)), 311), wall(S(311)));
    assert_eq!(stand.written(312, None, 312), wall(S(312)));
    // One that was there before is renewed first.
    let mut again = CandidacyTest::new(0);
    assert_eq!(again.written(1, Some(QUIET), 1), wall(S(1)));
}

#[test]
fn a_candidate_whose_clock_is_wrong_writes_the_servers_time() {
    for ahead in [50_000, 0] {
        let mut stand = CandidacyTest::new(ahead);
        // By the server's clock it is 10,000 s later.
        assert_eq!(stand.written(1, None, 10_001), wall(S(1 + ahead)));
        // That is corrected at once.
        assert_eq!(stand.written(1, Some(QUIET), 10_001), wall(S(10_001)));
        assert_eq!(stand.rests(2, QUIET), 301);
        assert_eq!(
            stand.written(12, Some(pinged(10_012)), 10_012),
            wall(S(10_012) + TICK)
        );
        assert_eq!(stand.rests(12, pinged(10_012)), 312);
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
