//! Leader elections: a lease of 15 s, a renew deadline of 10 s, a retry period of 2 s.

use std::{sync::Arc, time::Duration};

use super::super::{Candidacy, ElectionEvent, LeaseState, StopKind};
use crate::participants::informers::checkers::{TraceBuilder, check_by, fault_begins};

/// An election that is written step by step, beside a story.
struct ElectionBuilder<'a> {
    story: &'a mut TraceBuilder,
    lease: Option<LeaseState>,
    revision: u64,
    request_count: usize,
}

fn candidacy(candidate: usize) -> Candidacy {
    Candidacy {
        candidate,
        number: 0,
    }
}

/// Returns a lease of 15 s.
fn lease(holder: &str, transitions: u64, acquired: u64, renewed: u64) -> LeaseState {
    let time = |seconds: u64| Arc::from(seconds.to_string());
    LeaseState {
        revision: 0,
        holder: Arc::from(holder),
        duration: Duration::from_secs(15),
        transitions,
        acquired: time(acquired),
        renewed: time(renewed),
        preferred: Arc::from(""),
    }
}

fn first(transitions: u64, acquired: u64, renewed: u64) -> LeaseState {
    lease("candidate-0", transitions, acquired, renewed)
}

fn second(transitions: u64, acquired: u64, renewed: u64) -> LeaseState {
    lease("candidate-1", transitions, acquired, renewed)
}

// === impl ElectionBuilder ===

impl<'a> ElectionBuilder<'a> {
    fn begin(story: &'a mut TraceBuilder) -> Self {
        let mut play = Self {
            story,
            lease: None,
            revision: 0,
            request_count: 0,
        };
        play.event(ElectionEvent::Begins {
            lease: Duration::from_secs(15),
            renew: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        });
        play
    }

    fn event(&mut self, event: ElectionEvent) {
        self.story.push(event);
    }

    fn wait(&mut self, ms: u64) {
        self.story.wait(ms);
    }

    fn stands(&mut self, candidate: usize) {
        let candidacy = candidacy(candidate);
        self.event(ElectionEvent::Stands { candidacy });
    }

    fn asks(&mut self, candidate: usize, method: &str) -> usize {
        self.request_count += 1;
        self.event(ElectionEvent::Asks {
            candidacy: candidacy(candidate),
            request: self.request_count,
            method: method.to_owned(),
        });
        self.request_count
    }

    fn answered(&mut self, candidate: usize, request: usize, status: impl Into<Option<u16>>) {
        let status = status.into();
        let is_success = matches!(status, Some(200 | 201));
        self.event(ElectionEvent::Answered {
            candidacy: candidacy(candidate),
            request,
            status,
            lease: self.lease.clone().filter(|_| is_success),
        });
    }

    fn reads(&mut self, candidate: usize) {
        let request = self.asks(candidate, "GET");
        let status = if self.lease.is_some() { 200 } else { 404 };
        self.answered(candidate, request, status);
    }

    fn changed(&mut self, after: Option<LeaseState>) {
        self.revision += 1;
        let revision = self.revision;
        let after = after.map(|lease| LeaseState { revision, ..lease });
        let before = std::mem::replace(&mut self.lease, after.clone());
        self.event(ElectionEvent::LeaseChanged {
            revision,
            before,
            after,
        });
    }

    fn writes(&mut self, candidate: usize, lease: LeaseState) {
        let request = self.asks(candidate, "PUT");
        self.changed(Some(lease));
        self.answered(candidate, request, 200);
    }

    fn fails(&mut self, candidate: usize, method: &str) {
        let request = self.asks(candidate, method);
        self.answered(candidate, request, 500);
    }

    fn leads(&mut self, candidate: usize) {
        let transitions = self.lease.as_ref().map_or(0, |lease| lease.transitions);
        self.event(ElectionEvent::Leads {
            candidacy: candidacy(candidate),
            transitions: u32::try_from(transitions).unwrap(),
        });
    }

    fn lost(&mut self, candidate: usize) {
        let candidacy = candidacy(candidate);
        self.event(ElectionEvent::Lost { candidacy });
    }

    fn gave_up(&mut self, candidate: usize) {
        let candidacy = candidacy(candidate);
        self.event(ElectionEvent::GaveUp { candidacy });
    }

    fn stops(&mut self, candidate: usize, kind: StopKind) {
        let candidacy = candidacy(candidate);
        self.event(ElectionEvent::Stops { candidacy, kind });
    }

    fn meddled(&mut self, text: &str, after: Option<LeaseState>) {
        self.changed(after);
        self.event(ElectionEvent::Meddled {
            text: text.to_owned(),
            revision: Some(self.revision),
        });
    }

    /// Lets both candidates stand, and the first one lead from the beginning on.
    fn first_leads(&mut self) {
        self.stands(0);
        self.reads(0);
        self.writes(0, first(0, 0, 0));
        self.leads(0);
        self.stands(1);
        self.reads(1);
    }

    /// Lets the first candidate stand and lead by a grant of the server, where the candidates emulate these versions.
    fn first_is_granted(&mut self, versions: Vec<u32>) {
        self.event(ElectionEvent::IsCoordinated { versions });
        self.changed(Some(granted("candidate-0")));
        self.stands(0);
        self.reads(0);
        self.writes(0, first(0, 0, 0));
        self.leads(0);
    }

    /// Lets the second candidate take the lease that the first one has not renewed since the beginning.
    fn second_takes(&mut self) {
        self.reads(1);
        self.writes(1, second(1, 15, 15));
        self.leads(1);
    }
}

fn check(build: impl FnOnce(&mut ElectionBuilder<'_>), want: &[(&str, &str)]) {
    let is_wanted = |checker: &str| ["leaders", "elections", "coordination"].contains(&checker);
    check_by(
        is_wanted,
        |story| build(&mut ElectionBuilder::begin(story)),
        &[],
        want,
    );
}

#[test]
fn an_election_by_the_rules_has_no_findings() {
    check(
        |play| {
            play.first_leads();
            play.wait(2_000);
            play.writes(0, first(0, 0, 2));
            play.wait(1_000);
            play.reads(1);
            play.stops(0, StopKind::Release);
            play.gave_up(0);
            play.writes(0, lease("", 0, 3, 3));
            play.wait(3_000);
            play.reads(1);
            play.writes(1, second(1, 6, 6));
            play.leads(1);
        },
        &[],
    );
}

#[test]
fn two_leaders_at_once_are_found_unless_somebody_else_has_meddled() {
    let overlap = |meddles: Option<&'static str>, renews: bool| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(4_000);
            if let Some(text) = meddles {
                play.meddled(text, Some(lease("", 0, 0, 0)));
            }
            if renews {
                play.wait(1);
                play.writes(0, first(1, 4, 4));
                play.wait(1);
                play.meddled("Touch", Some(lease("", 1, 0, 0)));
            }
            play.wait(1_000);
            play.reads(1);
            play.writes(1, second(if renews { 2 } else { 1 }, 5, 5));
            play.leads(1);
            play.wait(1_000);
            play.reads(0);
            play.lost(0);
        }
    };
    let found = ("leaders", "candidate 1 leads while candidate 0 does");
    check(overlap(Some("Clear"), false), &[]);
    check(overlap(Some("Touch"), false), &[found]);
    check(overlap(Some("Clear"), true), &[found]);
}

#[test]
fn a_leader_that_cannot_renew_gives_up_at_its_deadline() {
    let lost_after = |ms: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(3_000);
            play.fails(0, "PUT");
            play.wait(ms - 3_000);
            play.lost(0);
        }
    };
    check(lost_after(10_000), &[]);
    let early = ("leaders", "candidate 0 has lost without a reason");
    check(lost_after(9_000), &[early]);
    let late = (
        "leaders",
        "candidate 0 still leads after its deadline at 10.000 s",
    );
    check(lost_after(11_000), &[late]);
}

#[test]
fn a_leader_that_was_asleep_has_lost_when_it_wakes_up() {
    let woken = |asleep: bool| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            if asleep {
                fault_begins(play.story, "suspend", None);
            }
            play.wait(60_000);
            play.lost(0);
        }
    };
    check(woken(true), &[]);
    check(
        woken(false),
        &[("leaders", "still leads after its deadline")],
    );
}

#[test]
fn a_leader_that_falls_asleep_when_its_time_is_over_reports_of_it_when_it_wakes_up() {
    let told_after = |asleep: bool| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(10_000);
            play.event(ElectionEvent::Status {
                candidacy: candidacy(0),
                is_held: false,
                is_cancelled: true,
            });
            if asleep {
                fault_begins(play.story, "suspend", None);
            }
            play.wait(60_000);
            play.lost(0);
        }
    };
    check(told_after(true), &[]);
    check(
        told_after(false),
        &[("leaders", "still leads after its deadline")],
    );
}

#[test]
fn the_deadline_counts_from_the_sending_of_a_write() {
    check(
        |play| {
            play.first_leads();
            play.wait(2_000);
            let request = play.asks(0, "PUT");
            play.changed(Some(first(0, 0, 2)));
            play.wait(4_000);
            play.answered(0, request, 200);
            play.wait(9_000);
            play.lost(0);
        },
        &[("leaders", "still leads after its deadline at 12.000 s")],
    );
}

#[test]
fn a_leader_sends_nothing_from_its_deadline_on() {
    check(
        |play| {
            play.first_leads();
            play.wait(10_000);
            play.fails(0, "PUT");
            play.lost(0);
        },
        &[("leaders", "asks 4: PUT after its deadline at 10.000 s")],
    );
}

#[test]
fn a_leader_that_reads_of_another_has_lost_at_once() {
    let lost_after = |ms: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(2_000);
            play.meddled("Seize", Some(lease("somebody", 0, 2, 2)));
            play.reads(0);
            play.wait(ms);
            play.lost(0);
        }
    };
    check(lost_after(0), &[]);
    let late = (
        "leaders",
        "still leads, although it read of another at 2.000 s",
    );
    check(lost_after(1_000), &[late]);
}

#[test]
fn the_token_fires_when_the_leadership_is_given_up() {
    let fires_after = |ms: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(1_000);
            play.stops(0, StopKind::Drop);
            play.fails(0, "PUT");
            play.wait(ms);
            play.gave_up(0);
        }
    };
    check(fires_after(0), &[]);
    let late = ("leaders", "the token of candidate 0 has not fired");
    check(fires_after(500), &[late]);
}

#[test]
fn a_leadership_and_its_token_agree() {
    let status = |is_held: bool, is_cancelled: bool| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.event(ElectionEvent::Status {
                candidacy: candidacy(0),
                is_held,
                is_cancelled,
            });
            play.wait(1);
        }
    };
    check(status(true, false), &[]);
    check(
        status(true, true),
        &[("leaders", "its token has fired: true")],
    );
    check(
        status(false, true),
        &[("leaders", "candidate 0 was not held, and nobody was told")],
    );
}

#[test]
fn transitions_are_reported_as_they_were_written() {
    check(
        |play| {
            play.stands(0);
            play.reads(0);
            play.writes(0, first(0, 0, 0));
            play.event(ElectionEvent::Leads {
                candidacy: candidacy(0),
                transitions: 1,
            });
        },
        &[("leaders", "tells 1 transitions, and has written 0")],
    );
}

#[test]
fn a_lease_is_taken_when_it_has_not_changed_for_as_long_as_it_lasts() {
    let taken_after = |ms: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.stops(0, StopKind::Crash);
            play.wait(ms);
            play.second_takes();
        }
    };
    check(taken_after(15_000), &[]);
    let early = (
        "elections",
        "\"candidate-0\" was not seen for 15 s without a change",
    );
    check(taken_after(14_000), &[early]);
}

#[test]
fn each_change_of_the_holder_counts() {
    let taken_with = |transitions: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.stops(0, StopKind::Crash);
            play.wait(15_000);
            play.reads(1);
            play.writes(1, second(transitions, 15, 15));
            play.leads(1);
        }
    };
    check(taken_with(1), &[]);
    check(taken_with(0), &[("elections", "after 0 transitions")]);
    check(taken_with(2), &[("elections", "after 0 transitions")]);
}

#[test]
fn a_deleted_lease_is_created_again_or_continues() {
    let made_after_deletion = |transitions: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(1_000);
            play.meddled("Seize", Some(first(5, 0, 0)));
            play.meddled("Delete", None);
            play.wait(1_000);
            play.writes(0, first(transitions, 0, 2));
        }
    };
    check(made_after_deletion(5), &[]);
    check(made_after_deletion(0), &[]);
    let found = ("elections", "after 5 transitions");
    check(made_after_deletion(6), &[found]);
}

#[test]
fn a_renewal_keeps_the_time_of_acquisition() {
    check(
        |play| {
            play.first_leads();
            play.wait(2_000);
            play.writes(0, first(0, 2, 2));
        },
        &[("elections", "a renewal of what was acquired at 0")],
    );
}

#[test]
fn only_a_leader_that_has_given_up_removes_the_holder() {
    let cleared = |stops: bool| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(2_000);
            if stops {
                play.stops(0, StopKind::Release);
                play.gave_up(0);
                play.writes(0, lease("", 0, 2, 2));
            } else {
                play.writes(1, lease("", 0, 2, 2));
            }
        }
    };
    check(cleared(true), &[]);
    let found = ("elections", "candidate-0 has not given it up");
    check(cleared(false), &[found]);
    check(
        |play| {
            play.first_leads();
            play.changed(None);
        },
        &[("elections", "lease at 2: deleted")],
    );
}

#[test]
fn a_release_returns_the_lease_unless_a_request_fails() {
    let released = |fails: bool| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(1_000);
            play.stops(0, StopKind::Release);
            play.gave_up(0);
            if fails {
                play.fails(0, "PUT");
            }
            play.wait(1_000);
        }
    };
    check(released(true), &[]);
    let found = (
        "elections",
        "candidate 0 gave up at 1.000 s, and still holds the lease",
    );
    check(released(false), &[found]);
}

#[test]
fn a_release_at_the_deadline_may_come_too_late() {
    let stopped_after = |ms: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(ms);
            play.stops(0, StopKind::Release);
            play.gave_up(0);
            play.wait(1_000);
        }
    };
    check(stopped_after(10_000), &[]);
    let found = (
        "elections",
        "candidate 0 gave up at 9.999 s, and still holds the lease",
    );
    check(stopped_after(9_999), &[found]);
}

#[test]
fn attempts_are_a_retry_period_apart() {
    let again_after = |ms: u64, count: usize| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            for _ in 0..count {
                play.wait(ms);
                play.fails(0, "PUT");
            }
        }
    };
    check(again_after(2_000, 3), &[]);
    let early = ("elections", "1.000 s after its last attempt");
    check(again_after(1_000, 1), &[early]);
    check(again_after(0, 1), &[]);
    let at_once = ("elections", "the 4th request at once");
    check(again_after(0, 2), &[at_once]);
}

#[test]
fn somebody_leads_soon_after_a_crash_and_a_release() {
    // Read at 0 s; the last attempt that may be too early begins right before 15 s.
    let crash = |ms: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.wait(1_000);
            play.stops(0, StopKind::Crash);
            play.wait(ms - 1_000);
            play.second_takes();
        }
    };
    check(crash(19_400), &[]);
    let late = ("elections", "nobody leads, and somebody should by 19.400 s");
    check(crash(20_000), &[late]);
    let release = |ms: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_leads();
            play.stops(0, StopKind::Release);
            play.gave_up(0);
            play.writes(0, lease("", 0, 0, 0));
            play.wait(ms);
            play.second_takes();
        }
    };
    check(release(4_400), &[]);
    let late = ("elections", "nobody leads, and somebody should by 4.400 s");
    check(release(5_000), &[late]);
}

#[test]
fn no_leader_is_required_during_a_failure() {
    check(
        |play| {
            play.first_leads();
            play.event(ElectionEvent::FaultBegins {
                fault: 0,
                candidate: None,
                text: "Hang".to_owned(),
            });
            play.stops(0, StopKind::Crash);
            play.wait(60_000);
            play.event(ElectionEvent::FaultEnds { fault: 0 });
            play.wait(8_000);
            play.second_takes();
        },
        &[],
    );
}

/// A lease that the server has granted, without a time of acquisition.
fn granted(holder: &str) -> LeaseState {
    LeaseState {
        acquired: Arc::from(""),
        ..lease(holder, 0, 0, 0)
    }
}

#[test]
fn a_coordinated_lease_is_taken_up_by_the_one_to_whom_it_was_granted() {
    let taken = |grant: &'static str| {
        move |play: &mut ElectionBuilder<'_>| {
            play.event(ElectionEvent::IsCoordinated {
                versions: vec![0, 1],
            });
            play.changed(Some(granted(grant)));
            play.stands(1);
            play.reads(1);
            play.writes(1, second(0, 1, 1));
            play.leads(1);
        }
    };
    check(taken("candidate-1"), &[]);
    let found = ("coordination", "which was not granted");
    check(taken("candidate-0"), &[found]);
    check(taken(""), &[found]);
}

#[test]
fn a_deleted_lease_is_created_again_by_its_holder_alone() {
    let deleted = |by: usize, lease: fn(u64, u64, u64) -> LeaseState| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_is_granted(vec![0, 1]);
            play.meddled("Delete", None);
            play.writes(by, lease(0, 0, 1));
        }
    };
    check(deleted(0, first), &[]);
    let found = ("coordination", "which was not granted");
    check(deleted(1, second), &[found]);
    // One that has read a grant takes it up, although the lease is gone meanwhile.
    let granted_to = |holder: &'static str| {
        move |play: &mut ElectionBuilder<'_>| {
            play.event(ElectionEvent::IsCoordinated {
                versions: vec![0, 1],
            });
            play.changed(Some(granted(holder)));
            play.stands(1);
            play.reads(1);
            play.meddled("Delete", None);
            play.writes(1, second(0, 1, 1));
            play.leads(1);
        }
    };
    check(granted_to("candidate-1"), &[]);
    check(granted_to("candidate-0"), &[found]);
    // It may not have read yet that others had cleared the lease before.
    let cleared = |acquired: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_is_granted(vec![0, 1]);
            play.meddled("Clear", Some(lease("", 0, 0, 0)));
            play.meddled("Delete", None);
            play.writes(0, first(0, acquired, 1));
        }
    };
    check(cleared(0), &[]);
    check(cleared(1), &[found]);
}

#[test]
fn a_leader_may_not_know_of_what_others_wrote_before_its_deadline() {
    let seized = |later: u64| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_is_granted(vec![0, 0]);
            play.meddled("Seize", Some(lease("somebody", 0, 0, 0)));
            play.changed(Some(granted("candidate-1")));
            play.stands(1);
            play.reads(1);
            play.writes(1, second(1, 1, 1));
            play.leads(1);
            play.wait(later);
            let (standing, leading) = (vec![0, 1], vec![0, 1]);
            play.event(ElectionEvent::Settled { standing, leading });
        }
    };
    check(seized(9_000), &[]);
    let late = [
        ("leaders", "still leads after its deadline"),
        ("coordination", "at the end"),
    ];
    check(seized(11_000), &late);
}

#[test]
fn a_leader_that_is_to_hand_over_has_lost_at_once() {
    let reads_and = |loses: bool| {
        move |play: &mut ElectionBuilder<'_>| {
            play.first_is_granted(vec![1, 0]);
            play.wait(2_000);
            play.changed(Some(LeaseState {
                preferred: Arc::from("candidate-1"),
                ..first(0, 0, 0)
            }));
            play.reads(0);
            if loses {
                play.lost(0);
            }
            play.wait(1_000);
        }
    };
    check(reads_and(true), &[]);
    let found = ("leaders", "still leads, although it read of another");
    check(reads_and(false), &[found]);
}

#[test]
fn one_of_the_best_that_stand_leads_in_the_end() {
    let settled = |standing: &'static [usize], leading: &'static [usize]| {
        move |play: &mut ElectionBuilder<'_>| {
            play.event(ElectionEvent::IsCoordinated {
                versions: vec![2, 0, 0, 1],
            });
            let (standing, leading) = (standing.to_vec(), leading.to_vec());
            play.event(ElectionEvent::Settled { standing, leading });
        }
    };
    for (standing, leading) in [
        (&[0, 1, 2, 3][..], &[2][..]),
        (&[0, 1], &[1]),
        (&[0, 3], &[3]),
        (&[], &[]),
    ] {
        check(settled(standing, leading), &[]);
    }
    let found = ("coordination", "at the end");
    for (standing, leading) in [
        (&[0, 1][..], &[][..]),
        (&[0, 1], &[0]),
        (&[0, 3], &[0]),
        (&[1, 2], &[1, 2]),
    ] {
        check(settled(standing, leading), &[found]);
    }
}
