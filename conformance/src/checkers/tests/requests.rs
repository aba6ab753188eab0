//! The requests of an informer.

use std::time::Duration;

use super::{super::herds, A, B, Member, Story, check_by, member, state, told_well};
use crate::trace::{Ending, Heard, Observation, RequestKind, Trace};

/// Compares the findings of all checkers.
fn check(tell: impl FnOnce(&mut Story), want: &[(&str, &str)]) {
    check_by(|_| true, tell, &[member(A, "a", 5)], want);
}

// === impl Story ===

impl Story {
    fn asked_for_list(&mut self, revision: &str) -> usize {
        self.request(RequestKind::List {
            revision: revision.to_owned(),
            is_continued: false,
        })
    }

    fn answered(&mut self, request: usize, status: u16) {
        self.push(Observation::Answer { request, status });
    }

    /// Adds a rejected watch.
    fn refused(&mut self, revision: u64, status: u16) -> usize {
        let request = self.request(RequestKind::Watch {
            revision: revision.to_string(),
            is_streaming_list: false,
        });
        self.answered(request, status);
        self.end(request, Ending::Clean);
        request
    }

    fn relisted(&mut self) {
        self.relisted_at(6);
    }

    /// Adds a list of one page.
    fn relisted_at(&mut self, revision: u64) {
        let request = self.asked_for_list("6");
        self.answered(request, 200);
        self.paged_at(revision, request, false, vec![member(A, "a", 5)]);
    }

    /// Adds a complete page.
    fn paged(&mut self, request: usize, has_more: bool, members: Vec<Member>) {
        self.paged_at(6, request, has_more, members);
    }

    fn paged_at(&mut self, revision: u64, request: usize, has_more: bool, members: Vec<Member>) {
        self.push(Observation::Page {
            request,
            revision,
            has_more,
            members,
        });
        self.end(request, Ending::Clean);
    }

    /// Adds a list whose last page arrives before the first. Returns the request for the first one.
    fn relisted_but_for_the_first_page(&mut self) -> usize {
        let first = self.asked_for_list("6");
        self.answered(first, 200);
        let last = self.request(RequestKind::List {
            revision: String::new(),
            is_continued: true,
        });
        self.answered(last, 200);
        self.paged(last, false, vec![]);
        self.wait(1_000);
        first
    }

    /// Notifies the handler of everything, and ends the watch in good order.
    fn told_well_and_ended(&mut self) {
        told_well(self);
        self.wait(1_000);
        self.end(2, Ending::Clean);
    }
}

#[test]
fn a_watch_that_goes_on_where_the_last_one_stopped_is_right() {
    check(
        |story| {
            story.told_well_and_ended();
            story.watch(6);
        },
        &[],
    );
}

#[test]
fn a_watch_that_goes_on_elsewhere_is_found() {
    for revision in [2, 4, 7] {
        check(
            |story| {
                story.told_well_and_ended();
                story.watch(revision);
            },
            &[("rewatches", "although the server had sent 6 last")],
        );
    }
}

#[test]
fn a_watch_that_does_not_know_of_the_last_bookmark_is_found() {
    check(
        |story| {
            told_well(story);
            story.bookmark(2, 9);
            story.wait(1_000);
            story.end(2, Ending::Broken);
            story.watch(6);
        },
        &[
            ("rewatches", "although the server had sent 9 last"),
            (
                "freshness",
                "cache 0 stands at 6, although the server had sent 9",
            ),
        ],
    );
}

#[test]
fn what_arrives_in_the_moment_of_a_pause_may_be_unread() {
    let pauses_after_a_bookmark = |ms| {
        move |story: &mut Story| {
            told_well(story);
            story.wait(1_000);
            story.bookmark(2, 9);
            story.wait(ms);
            story.push(Observation::InformerPauses { informer: 0 });
            story.end(2, Ending::Dropped);
            story.wait(1_000);
            story.push(Observation::InformerResumes { informer: 0 });
            story.watch(6)
        }
    };
    // The cache of the story never shows it.
    let is_old = (
        "freshness",
        "cache 0 stands at 6, although the server had sent 9",
    );
    let goes_on = |ms| {
        move |story: &mut Story| {
            pauses_after_a_bookmark(ms)(story);
        }
    };
    check(goes_on(0), &[]);
    check(
        goes_on(1_000),
        &[("rewatches", "although the server had sent 9 last"), is_old],
    );
    let hears_it_again = |ms| {
        move |story: &mut Story| {
            let watch = pauses_after_a_bookmark(0)(story);
            story.wait(1_000);
            story.bookmark(watch, 9);
            story.wait(ms);
        }
    };
    check(hears_it_again(0), &[]);
    check(hears_it_again(1), &[is_old]);
}

#[test]
fn a_watch_from_an_expired_version_is_found() {
    check(
        |story| {
            story.told_well_and_ended();
            story.refused(6, 410);
            story.wait(1_000);
            story.watch(6);
        },
        &[("rewatches", "although that has expired")],
    );
    check(
        |story| {
            story.told_well_and_ended();
            story.refused(6, 410);
            story.wait(1_000);
            story.relisted();
            story.watch(6);
        },
        &[],
    );
}

#[test]
fn a_look_at_the_version_is_no_state() {
    check(
        |story| {
            story.told_well_and_ended();
            let quiet = story.watch(6);
            story.wait(600_000);
            story.end(quiet, Ending::Dropped);
            story.relisted();
            story.watch(6);
        },
        &[],
    );
    let newer = |from| {
        move |story: &mut Story| {
            story.told_well_and_ended();
            let quiet = story.watch(6);
            story.wait(600_000);
            story.end(quiet, Ending::Dropped);
            story.relisted_at(9);
            story.watch(from);
            story.wait(1_000);
        }
    };
    check(newer(6), &[]);
    // Whoever goes on from the list has taken it in.
    let is_old = "cache 0 stands at 6, although the server had sent 9";
    check(newer(9), &[("freshness", is_old)]);
}

#[test]
fn a_list_is_there_when_all_of_its_pages_are_whichever_is_first() {
    let tell = |story: &mut Story, end_first: fn(&mut Story, usize)| {
        story.told_well_and_ended();
        story.refused(6, 410);
        story.wait(2_000);
        let first = story.relisted_but_for_the_first_page();
        end_first(story, first);
        story.wait(2_000);
        story.watch(6);
    };
    let bring: fn(&mut Story, usize) =
        |story, first| story.paged(first, true, vec![member(A, "a", 5)]);
    check(|story| tell(story, bring), &[]);
    let too_early = [("rewatches", "although that has expired")];
    check(|story| tell(story, |_, _| ()), &too_early);
    let break_off: fn(&mut Story, usize) = |story, first| story.end(first, Ending::Broken);
    check(|story| tell(story, break_off), &too_early);
}

#[test]
fn pages_behind_one_that_broke_are_asked_for_anew() {
    check(
        |story| {
            story.told_well_and_ended();
            story.refused(6, 410);
            story.wait(2_000);
            let first = story.relisted_but_for_the_first_page();
            story.end(first, Ending::Broken);
            story.wait(2_000);
            story.relisted();
            story.watch(6);
        },
        &[],
    );
}

#[test]
fn a_relist_without_a_reason_is_found() {
    check(
        |story| {
            story.told_well_and_ended();
            story.relisted();
        },
        &[("relists", "for no reason")],
    );
    check(
        |story| {
            story.told_well_and_ended();
            story.refused(6, 429);
            story.wait(1_000);
            story.relisted();
        },
        &[("relists", "for no reason")],
    );
}

#[test]
fn a_list_that_arrives_in_the_moment_of_a_pause_may_be_asked_for_again() {
    let pauses = |ms| {
        move |story: &mut Story| {
            story.told_well_and_ended();
            story.refused(6, 410);
            story.wait(2_000);
            story.push(Observation::InformerPauses { informer: 0 });
            story.wait(ms);
            story.relisted();
            story.wait(1_000);
            story.push(Observation::InformerResumes { informer: 0 });
            story.relisted();
        }
    };
    let find = |ms, want: &[(&str, &str)]| {
        let members = [member(A, "a", 5)];
        check_by(|checker| checker == "relists", pauses(ms), &members, want);
    };
    find(0, &[]);
    find(1, &[("relists", "for no reason")]);
}

#[test]
fn a_relist_that_has_a_reason_is_right() {
    type Tell = fn(&mut Story);
    let reasons: [Tell; 5] = [
        |story| {
            story.refused(6, 410);
        },
        |story| {
            story.refused(6, 503);
        },
        // A watch that delivers nothing.
        |story| {
            let watch = story.watch(6);
            story.wait(1_000);
            story.end(watch, Ending::Clean);
        },
        // One that ends too soon.
        |story| {
            let watch = story.watch(6);
            story.bookmark(watch, 6);
            story.end(watch, Ending::Broken);
        },
        // One without an answer.
        |story| {
            story.request(RequestKind::Watch {
                revision: "6".to_owned(),
                is_streaming_list: false,
            });
        },
    ];
    for reason in reasons {
        check(
            |story| {
                story.told_well_and_ended();
                reason(story);
                story.wait(1_000);
                story.relisted();
            },
            &[],
        );
    }
}

#[test]
fn who_does_not_wait_although_asked_to_is_found() {
    // The header and the status may name different times, in either order.
    let asked_to_wait = |story: &mut Story, seconds: &[u64], ms| {
        story.told_well_and_ended();
        let request = story.refused(6, 429);
        for wait in seconds {
            story.push(Observation::AskedToWait {
                request,
                wait: Duration::from_secs(*wait),
            });
        }
        story.wait(ms);
        story.watch(6);
    };
    for seconds in [vec![5], vec![1, 5], vec![5, 1]] {
        check(|story| asked_to_wait(story, &seconds, 5_000), &[]);
        check(
            |story| asked_to_wait(story, &seconds, 4_999),
            &[("retry_after", "although it is to wait until 7.000 s")],
        );
    }
}

#[test]
fn watches_that_all_end_after_the_same_time_are_a_herd() {
    let watch_for = |story: &mut Story, timeouts: &[u64]| {
        story.told_well_and_ended();
        for seconds in timeouts {
            let request = story.watch(6);
            story.push(Observation::WatchTimeout {
                request,
                timeout: Duration::from_secs(*seconds),
            });
            story.wait(10_000);
            story.end(request, Ending::Clean);
        }
        story.watch(6);
    };
    check(|story| watch_for(story, &[5; 11]), &[]);
    check(
        |story| watch_for(story, &[5; 12]),
        &[("herds", "each of the 12 watches of informer 0")],
    );
    let mut one_other = [5; 12];
    one_other[7] = 6;
    check(|story| watch_for(story, &one_other), &[]);
}

#[test]
fn informers_whose_watches_end_in_step_are_found() {
    let herds = |last: u64| {
        let mut trace = Trace::new();
        for (informer, of_its_own) in [(1, 312), (2, last)] {
            for (place, seconds) in [400, 301, 599, of_its_own].into_iter().enumerate() {
                let request = 10 * informer + place;
                let watch = Observation::Request {
                    informer,
                    request,
                    kind: RequestKind::Watch {
                        revision: "6".to_owned(),
                        is_streaming_list: false,
                    },
                };
                trace.push(Duration::ZERO, watch);
                let timeout = Duration::from_secs(seconds);
                trace.push(
                    Duration::ZERO,
                    Observation::WatchTimeout { request, timeout },
                );
            }
        }
        herds::check(&trace)
    };
    assert_eq!(herds(313), []);
    let found = herds(312);
    assert!(
        found[0]
            .text
            .contains("informers 1 and 2 end after the same times"),
        "{found:?}"
    );
}

/// Adds refusals with these waits after each, in ms, and then a watch.
fn refusals(story: &mut Story, waits: &[u64]) {
    story.told_well_and_ended();
    for ms in waits {
        story.refused(6, 503);
        story.wait(*ms);
    }
    let watch = story.watch(6);
    story.bookmark(watch, 6);
}

#[test]
fn waits_that_grow_are_right() {
    check(|story| refusals(story, &[800, 1_600, 3_200]), &[]);
    // The first retry comes at once.
    check(|story| refusals(story, &[0, 800, 1_600]), &[]);
}

#[test]
fn waits_that_do_not_grow_are_found() {
    check(
        |story| refusals(story, &[900, 1_599]),
        &[("backoff", "waited 1.599 s after failure 2 in a row")],
    );
    check(
        |story| refusals(story, &[799]),
        &[("backoff", "the backoff has 0.800 s at least")],
    );
    check(
        |story| {
            refusals(story, &[900]);
            // The server has proved healthy.
            story.end(4, Ending::Clean);
            story.refused(6, 503);
            story.wait(900);
            story.watch(6);
        },
        &[],
    );
}

#[test]
fn a_cache_that_does_not_take_in_what_was_told_is_found() {
    check(
        |story| {
            told_well(story);
            story.bookmark(2, 9);
            // Events of this very moment may be in flight.
            story.cached(6, &[member(A, "a", 5)]);
        },
        &[],
    );
    check(
        |story| {
            told_well(story);
            story.bookmark(2, 9);
            story.wait(1);
        },
        &[(
            "freshness",
            "cache 0 stands at 6, although the server had sent 9",
        )],
    );
}

#[test]
fn a_handler_that_does_not_hear_again_is_found() {
    let wants = |story: &mut Story| {
        story.push(Observation::ResyncWanted {
            informer: 0,
            handler: 0,
            period: Duration::from_secs(10),
        });
        told_well(story);
    };
    let resync = |story: &mut Story| story.updated(A, state("a", 5), state("a", 5));
    check(
        |story| {
            wants(story);
            for _ in 0..3 {
                story.wait(10_000);
                resync(story);
            }
        },
        &[],
    );
    check(
        |story| {
            wants(story);
            story.wait(21_001);
        },
        &[(
            "resyncs",
            "handler 0.0: was not notified of one/pod-0 since 1.000 s",
        )],
    );
    check(
        |story| {
            wants(story);
            story.wait(21_001);
            resync(story);
        },
        &[("resyncs", "was not notified of one/pod-0 since 1.000 s")],
    );
}

#[test]
fn who_slept_need_not_have_heard() {
    let slept = |story: &mut Story, ms| {
        story.push(Observation::ResyncWanted {
            informer: 0,
            handler: 0,
            period: Duration::from_secs(10),
        });
        told_well(story);
        story.bookmark(2, 9);
        story.push(Observation::FaultBegins {
            fault: 0,
            name: "suspend".to_owned(),
            informer: None,
            text: String::new(),
        });
        story.wait(60_000);
        // No task has run yet.
        story.cached(6, &[member(A, "a", 5)]);
        story.push(Observation::FaultEnds { fault: 0 });
        story.wait(ms);
        story.cached(9, &[member(A, "a", 5)]);
        story.push(Observation::HandlerLeaves {
            informer: 0,
            handler: 0,
        });
    };
    let want = |checker| (checker, "");
    // The cache of the story ends at 6, which does not matter here.
    let end = [want("time_travel"), want("freshness")];
    check(|story| slept(story, 21_000), &end);
    let late = [want("time_travel"), want("freshness"), want("resyncs")];
    check(|story| slept(story, 21_001), &late);
}

#[test]
fn what_is_gone_is_not_told_again() {
    check(
        |story| {
            story.push(Observation::ResyncWanted {
                informer: 0,
                handler: 0,
                period: Duration::from_secs(1),
            });
            told_well(story);
            story.wait(1_000);
            story.updated(A, state("a", 5), state("a", 5));
            story.push(Observation::HandlerLeaves {
                informer: 0,
                handler: 0,
            });
            story.wait(60_000);
        },
        &[],
    );
}

#[test]
fn a_tombstone_without_a_state_is_found() {
    check(
        |story| {
            told_well(story);
            let heard = Heard::Deleted {
                last: None,
                is_tombstone: true,
            };
            story.added(B, state("b", 4));
            story.told(B, heard, None);
        },
        &[
            ("handler_streams", "deleted without its last state"),
            ("time_travel", ""),
        ],
    );
}
