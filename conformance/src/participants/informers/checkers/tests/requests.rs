//! The requests of an informer.

use std::time::Duration;

use super::{super::herds, A, B, Member, TraceBuilder, check_by, member, state, told_well};
use crate::trace::{Ending, NotifiedChange, Observation, RequestKind, Trace};

/// Compares the findings of all checkers.
fn check(build: impl FnOnce(&mut TraceBuilder), want: &[(&str, &str)]) {
    check_by(|_| true, build, &[member(A, "a", 5)], want);
}

// === impl TraceBuilder ===

impl TraceBuilder {
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
        |builder| {
            builder.told_well_and_ended();
            builder.watch(6);
        },
        &[],
    );
}

#[test]
fn a_watch_that_goes_on_elsewhere_is_found() {
    for revision in [2, 4, 7] {
        check(
            |builder| {
                builder.told_well_and_ended();
                builder.watch(revision);
            },
            &[("rewatches", "although the server had sent 6 last")],
        );
    }
}

#[test]
fn a_watch_that_does_not_know_of_the_last_bookmark_is_found() {
    check(
        |builder| {
            told_well(builder);
            builder.bookmark(2, 9);
            builder.wait(1_000);
            builder.end(2, Ending::Broken);
            builder.watch(6);
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
fn frames_at_the_moment_of_a_pause_may_be_unread() {
    let pauses_after_a_bookmark = |ms| {
        move |builder: &mut TraceBuilder| {
            told_well(builder);
            builder.wait(1_000);
            builder.bookmark(2, 9);
            builder.wait(ms);
            builder.push(Observation::InformerPauses { informer: 0 });
            builder.end(2, Ending::Dropped);
            builder.wait(1_000);
            builder.push(Observation::InformerResumes { informer: 0 });
            builder.watch(6)
        }
    };
    // The cache of the story never shows it.
    let is_old = (
        "freshness",
        "cache 0 stands at 6, although the server had sent 9",
    );
    let goes_on = |ms| {
        move |builder: &mut TraceBuilder| {
            pauses_after_a_bookmark(ms)(builder);
        }
    };
    check(goes_on(0), &[]);
    check(
        goes_on(1_000),
        &[("rewatches", "although the server had sent 9 last"), is_old],
    );
    let hears_it_again = |ms| {
        move |builder: &mut TraceBuilder| {
            let watch = pauses_after_a_bookmark(0)(builder);
            builder.wait(1_000);
            builder.bookmark(watch, 9);
            builder.wait(ms);
        }
    };
    check(hears_it_again(0), &[]);
    check(hears_it_again(1), &[is_old]);
}

#[test]
fn a_watch_from_an_expired_version_is_found() {
    check(
        |builder| {
            builder.told_well_and_ended();
            builder.refused(6, 410);
            builder.wait(1_000);
            builder.watch(6);
        },
        &[("rewatches", "although that has expired")],
    );
    check(
        |builder| {
            builder.told_well_and_ended();
            builder.refused(6, 410);
            builder.wait(1_000);
            builder.relisted();
            builder.watch(6);
        },
        &[],
    );
}

#[test]
fn a_look_at_the_version_is_no_state() {
    check(
        |builder| {
            builder.told_well_and_ended();
            let quiet = builder.watch(6);
            builder.wait(600_000);
            builder.end(quiet, Ending::Dropped);
            builder.relisted();
            builder.watch(6);
        },
        &[],
    );
    let newer = |from| {
        move |builder: &mut TraceBuilder| {
            builder.told_well_and_ended();
            let quiet = builder.watch(6);
            builder.wait(600_000);
            builder.end(quiet, Ending::Dropped);
            builder.relisted_at(9);
            builder.watch(from);
            builder.wait(1_000);
        }
    };
    check(newer(6), &[]);
    // A watch from the list's version shows that the list was applied.
    let is_old = "cache 0 stands at 6, although the server had sent 9";
    check(newer(9), &[("freshness", is_old)]);
}

#[test]
fn a_list_is_there_when_all_of_its_pages_are_whichever_is_first() {
    let build = |builder: &mut TraceBuilder, end_first: fn(&mut TraceBuilder, usize)| {
        builder.told_well_and_ended();
        builder.refused(6, 410);
        builder.wait(2_000);
        let first = builder.relisted_but_for_the_first_page();
        end_first(builder, first);
        builder.wait(2_000);
        builder.watch(6);
    };
    let bring: fn(&mut TraceBuilder, usize) =
        |builder, first| builder.paged(first, true, vec![member(A, "a", 5)]);
    check(|builder| build(builder, bring), &[]);
    let too_early = [("rewatches", "although that has expired")];
    check(|builder| build(builder, |_, _| ()), &too_early);
    let break_off: fn(&mut TraceBuilder, usize) =
        |builder, first| builder.end(first, Ending::Broken);
    check(|builder| build(builder, break_off), &too_early);
}

#[test]
fn pages_after_a_broken_one_are_requested_again() {
    check(
        |builder| {
            builder.told_well_and_ended();
            builder.refused(6, 410);
            builder.wait(2_000);
            let first = builder.relisted_but_for_the_first_page();
            builder.end(first, Ending::Broken);
            builder.wait(2_000);
            builder.relisted();
            builder.watch(6);
        },
        &[],
    );
}

#[test]
fn a_relist_without_a_reason_is_found() {
    check(
        |builder| {
            builder.told_well_and_ended();
            builder.relisted();
        },
        &[("relists", "for no reason")],
    );
    check(
        |builder| {
            builder.told_well_and_ended();
            builder.refused(6, 429);
            builder.wait(1_000);
            builder.relisted();
        },
        &[("relists", "for no reason")],
    );
}

#[test]
fn a_list_that_arrives_in_the_moment_of_a_pause_may_be_asked_for_again() {
    let pauses = |ms| {
        move |builder: &mut TraceBuilder| {
            builder.told_well_and_ended();
            builder.refused(6, 410);
            builder.wait(2_000);
            builder.push(Observation::InformerPauses { informer: 0 });
            builder.wait(ms);
            builder.relisted();
            builder.wait(1_000);
            builder.push(Observation::InformerResumes { informer: 0 });
            builder.relisted();
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
    type Steps = fn(&mut TraceBuilder);
    let reasons: [Steps; 5] = [
        |builder| {
            builder.refused(6, 410);
        },
        |builder| {
            builder.refused(6, 503);
        },
        // A watch that delivers nothing.
        |builder| {
            let watch = builder.watch(6);
            builder.wait(1_000);
            builder.end(watch, Ending::Clean);
        },
        // One that ends too soon.
        |builder| {
            let watch = builder.watch(6);
            builder.bookmark(watch, 6);
            builder.end(watch, Ending::Broken);
        },
        // One without an answer.
        |builder| {
            builder.request(RequestKind::Watch {
                revision: "6".to_owned(),
                is_streaming_list: false,
            });
        },
    ];
    for reason in reasons {
        check(
            |builder| {
                builder.told_well_and_ended();
                reason(builder);
                builder.wait(1_000);
                builder.relisted();
            },
            &[],
        );
    }
}

#[test]
fn a_request_before_the_named_delay_is_found() {
    // The header and the status may name different times, in either order.
    let asked_to_wait = |builder: &mut TraceBuilder, seconds: &[u64], ms| {
        builder.told_well_and_ended();
        let request = builder.refused(6, 429);
        for wait in seconds {
            builder.push(Observation::AskedToWait {
                request,
                wait: Duration::from_secs(*wait),
            });
        }
        builder.wait(ms);
        builder.watch(6);
    };
    for seconds in [vec![5], vec![1, 5], vec![5, 1]] {
        check(|builder| asked_to_wait(builder, &seconds, 5_000), &[]);
        check(
            |builder| asked_to_wait(builder, &seconds, 4_999),
            &[("retry_after", "although it is to wait until 7.000 s")],
        );
    }
}

#[test]
fn watches_that_all_end_after_the_same_time_are_a_herd() {
    let watch_for = |builder: &mut TraceBuilder, timeouts: &[u64]| {
        builder.told_well_and_ended();
        for seconds in timeouts {
            let request = builder.watch(6);
            builder.push(Observation::WatchTimeout {
                request,
                timeout: Duration::from_secs(*seconds),
            });
            builder.wait(10_000);
            builder.end(request, Ending::Clean);
        }
        builder.watch(6);
    };
    check(|builder| watch_for(builder, &[5; 11]), &[]);
    check(
        |builder| watch_for(builder, &[5; 12]),
        &[("herds", "each of the 12 watches of informer 0")],
    );
    let mut one_other = [5; 12];
    one_other[7] = 6;
    check(|builder| watch_for(builder, &one_other), &[]);
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
fn refusals(builder: &mut TraceBuilder, waits: &[u64]) {
    builder.told_well_and_ended();
    for ms in waits {
        builder.refused(6, 503);
        builder.wait(*ms);
    }
    let watch = builder.watch(6);
    builder.bookmark(watch, 6);
}

#[test]
fn waits_that_grow_are_right() {
    check(|builder| refusals(builder, &[800, 1_600, 3_200]), &[]);
    // The first retry comes at once.
    check(|builder| refusals(builder, &[0, 800, 1_600]), &[]);
}

#[test]
fn waits_that_do_not_grow_are_found() {
    check(
        |builder| refusals(builder, &[900, 1_599]),
        &[("backoff", "waited 1.599 s after failure 2 in a row")],
    );
    check(
        |builder| refusals(builder, &[799]),
        &[("backoff", "the backoff has 0.800 s at least")],
    );
    check(
        |builder| {
            refusals(builder, &[900]);
            // The server has proved healthy.
            builder.end(4, Ending::Clean);
            builder.refused(6, 503);
            builder.wait(900);
            builder.watch(6);
        },
        &[],
    );
}

#[test]
fn a_cache_that_does_not_take_in_what_was_reported_is_found() {
    check(
        |builder| {
            told_well(builder);
            builder.bookmark(2, 9);
            // Events of this very moment may be in flight.
            builder.cached(6, &[member(A, "a", 5)]);
        },
        &[],
    );
    check(
        |builder| {
            told_well(builder);
            builder.bookmark(2, 9);
            builder.wait(1);
        },
        &[(
            "freshness",
            "cache 0 stands at 6, although the server had sent 9",
        )],
    );
}

#[test]
fn a_handler_that_does_not_receive_again_is_found() {
    let wants = |builder: &mut TraceBuilder| {
        builder.push(Observation::ResyncWanted {
            informer: 0,
            handler: 0,
            period: Duration::from_secs(10),
        });
        told_well(builder);
    };
    let resync = |builder: &mut TraceBuilder| builder.updated(A, state("a", 5), state("a", 5));
    check(
        |builder| {
            wants(builder);
            for _ in 0..3 {
                builder.wait(10_000);
                resync(builder);
            }
        },
        &[],
    );
    check(
        |builder| {
            wants(builder);
            builder.wait(21_001);
        },
        &[(
            "resyncs",
            "handler 0.0: was not notified of one/pod-0 since 1.000 s",
        )],
    );
    check(
        |builder| {
            wants(builder);
            builder.wait(21_001);
            resync(builder);
        },
        &[("resyncs", "was not notified of one/pod-0 since 1.000 s")],
    );
}

#[test]
fn a_suspended_client_may_miss_notifications() {
    let slept = |builder: &mut TraceBuilder, ms| {
        builder.push(Observation::ResyncWanted {
            informer: 0,
            handler: 0,
            period: Duration::from_secs(10),
        });
        told_well(builder);
        builder.bookmark(2, 9);
        builder.push(Observation::FaultBegins {
            fault: 0,
            name: "suspend".to_owned(),
            informer: None,
            text: String::new(),
        });
        builder.wait(60_000);
        // No task has run yet.
        builder.cached(6, &[member(A, "a", 5)]);
        builder.push(Observation::FaultEnds { fault: 0 });
        builder.wait(ms);
        builder.cached(9, &[member(A, "a", 5)]);
        builder.push(Observation::HandlerLeaves {
            informer: 0,
            handler: 0,
        });
    };
    let want = |checker| (checker, "");
    // The cache of the story ends at 6, which does not matter here.
    let end = [want("time_travel"), want("freshness")];
    check(|builder| slept(builder, 21_000), &end);
    let late = [want("time_travel"), want("freshness"), want("resyncs")];
    check(|builder| slept(builder, 21_001), &late);
}

#[test]
fn deleted_objects_are_not_notified_again() {
    check(
        |builder| {
            builder.push(Observation::ResyncWanted {
                informer: 0,
                handler: 0,
                period: Duration::from_secs(1),
            });
            told_well(builder);
            builder.wait(1_000);
            builder.updated(A, state("a", 5), state("a", 5));
            builder.push(Observation::HandlerLeaves {
                informer: 0,
                handler: 0,
            });
            builder.wait(60_000);
        },
        &[],
    );
}

#[test]
fn a_tombstone_without_a_state_is_found() {
    check(
        |builder| {
            told_well(builder);
            let change = NotifiedChange::Deleted {
                last: None,
                is_tombstone: true,
            };
            builder.added(B, state("b", 4));
            builder.notified(B, change, None);
        },
        &[
            ("handler_streams", "deleted without its last state"),
            ("time_travel", ""),
        ],
    );
}
