//! Reports of informers about themselves.

use std::time::Duration;

use informer::reflector::FailureCause;

use super::{A, TraceBuilder, check_by, member, told_well};
use crate::trace::{Counts, Ending, HandlerCounts, Observation, Report, RequestKind};

/// The request by which the handler was notified of everything.
const WATCH: usize = 2;

impl TraceBuilder {
    fn reports(&mut self, report: Report) {
        self.push(Observation::Reported {
            informer: 0,
            report,
        });
    }

    fn counts(&mut self, counts: &Counts) {
        self.push(Observation::Counted {
            informer: 0,
            counts: Box::new(counts.clone()),
        });
    }

    fn fails(&mut self, cause: FailureCause, attempt: u32, delay_ms: u64) {
        self.push(Observation::Warned {
            message: "trying again".to_owned(),
            fields: String::new(),
        });
        self.reports(Report::Failed {
            cause,
            attempt,
            delay: Duration::from_millis(delay_ms),
        });
    }

    /// Asks for the next page.
    fn next_page(&mut self) -> usize {
        self.request(RequestKind::List {
            revision: String::new(),
            is_continued: true,
        })
    }

    /// Brings a page of one object.
    fn brings(&mut self, request: usize, key: &str, has_more: bool) {
        self.push(Observation::Answer {
            request,
            status: 200,
        });
        self.push(Observation::Page {
            request,
            revision: 6,
            has_more,
            members: vec![member(key, key, 2)],
        });
        self.end(request, Ending::Clean);
    }

    /// Sends a request that is answered with this status.
    fn denied(&mut self, status: u16) {
        let request = self.request(RequestKind::List {
            revision: String::new(),
            is_continued: false,
        });
        self.push(Observation::Answer { request, status });
        self.end(request, Ending::Clean);
    }
}

/// Returns what an informer says of itself that was notified of everything a second ago.
fn true_counts() -> Counts {
    Counts {
        objects: 1,
        lists: 1,
        watches: 1,
        replacements: 1,
        handlers: vec![HandlerCounts {
            delivered: 5,
            ..HandlerCounts::default()
        }],
        ..Counts::default()
    }
}

fn check(build: impl FnOnce(&mut TraceBuilder), want: &[&str]) {
    let want: Vec<_> = want.iter().map(|text| ("reports", *text)).collect();
    let members = [member(A, "a", 5)];
    check_by(|checker| checker == "reports", build, &members, &want);
}

#[test]
fn a_number_that_is_untrue_is_found() {
    let counted = |edit: fn(&mut Counts)| {
        move |story: &mut TraceBuilder| {
            story.list(2, &[]);
            story.reports(Report::Listed {
                revision: 2,
                item_count: 0,
                took: Duration::ZERO,
            });
            told_well(story);
            story.wait(1_000);
            story.cached(6, &[member(A, "a", 5)]);
            let mut counts = true_counts();
            counts.lists += 1;
            edit(&mut counts);
            story.counts(&counts);
        }
    };
    check(counted(|_| {}), &[]);
    check(counted(|counts| counts.queued = 1), &["queued: want 0"]);
    check(counted(|counts| counts.objects = 2), &["objects: want 1"]);
    check(
        counted(|counts| counts.undecodable = 1),
        &["undecodable: want 0"],
    );
    check(counted(|counts| counts.lists = 1), &["lists: want 2"]);
    check(counted(|counts| counts.watches = 0), &["watches: want 1"]);
    check(counted(|counts| counts.failures = 1), &["failures: want 0"]);
    check(
        counted(|counts| counts.replacements = 2),
        &["states: want 1"],
    );
    check(
        counted(|counts| counts.failed_attempts = 1),
        &["failed since: want 0"],
    );
    check(
        counted(|counts| counts.handlers[0].delivered = 4),
        &["handler 0: delivered: want 5"],
    );
    check(
        counted(|counts| counts.handlers[0].pending = 1),
        &["handler 0: pending: want 0"],
    );
}

#[test]
fn notifications_that_a_handler_is_no_longer_to_receive_are_found() {
    let counted = |coalesced| {
        move |story: &mut TraceBuilder| {
            story.push(Observation::HandlerJoins {
                informer: 0,
                handler: 1,
                panics: false,
                is_slow: true,
                merges: true,
            });
            for (pending, coalesced) in [(3, 0), (1, coalesced)] {
                story.counts(&Counts {
                    handlers: vec![HandlerCounts {
                        handler: 1,
                        pending,
                        coalesced,
                        ..HandlerCounts::default()
                    }],
                    ..Counts::default()
                });
            }
        }
    };
    check(counted(2), &[]);
    check(counted(1), &["it was to receive 3 in all"]);
}

#[test]
fn a_failure_that_is_not_reported_or_under_another_cause_is_found() {
    let refused = |cause: Option<FailureCause>| {
        move |story: &mut TraceBuilder| {
            // From here on it tells of itself.
            story.counts(&Counts::default());
            story.denied(403);
            if let Some(cause) = cause {
                story.fails(cause, 1, 1_000);
                story.reports(Report::Waits {
                    cause: Some(cause),
                    delay: Some(Duration::from_secs(1)),
                });
            }
            story.wait(1_000);
            story.list(2, &[]);
        }
    };
    check(refused(Some(FailureCause::Forbidden)), &[]);
    check(
        refused(Some(FailureCause::Denied)),
        &["its last request did not fail so"],
    );
    check(refused(None), &["it has not reported that"]);
}

#[test]
fn causes_are_those_of_the_transport() {
    let failed = |observation: fn(usize) -> Observation, cause| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            story.push(observation(WATCH));
            story.fails(cause, 1, 500);
        }
    };
    let broken = |request| Observation::Ended {
        request,
        ending: Ending::Broken,
    };
    let clean = |request| Observation::Ended {
        request,
        ending: Ending::Clean,
    };
    let error = |request| Observation::ErrorEvent {
        request,
        status: 410,
    };
    let garbled = |request| Observation::Garbled { request };
    check(failed(broken, FailureCause::Transport), &[]);
    check(failed(clean, FailureCause::EndedEarly), &[]);
    check(failed(error, FailureCause::Expired), &[]);
    check(failed(garbled, FailureCause::Protocol), &[]);
    let other = ["its last request did not fail so"];
    check(failed(broken, FailureCause::Refused), &other);
    check(failed(clean, FailureCause::Protocol), &other);
    check(failed(error, FailureCause::Unavailable), &other);
    check(failed(garbled, FailureCause::Transport), &other);
}

#[test]
fn a_delay_that_is_not_kept_is_found() {
    let asks_after = |ms| {
        move |story: &mut TraceBuilder| {
            story.denied(500);
            story.fails(FailureCause::ServerError, 1, 1_000);
            story.wait(ms);
            story.list(2, &[]);
        }
    };
    check(asks_after(1_000), &[]);
    check(asks_after(900), &["it did not wait"]);
    check(asks_after(1_100), &["it has waited longer"]);
    let attempt = |attempt| {
        move |story: &mut TraceBuilder| {
            for attempt in [1, attempt] {
                story.denied(500);
                story.fails(FailureCause::ServerError, attempt, 1_000);
                story.wait(1_000);
            }
        }
    };
    check(attempt(2), &[]);
    check(attempt(3), &["the delay before was number 1"]);
    check(
        |story| {
            story.denied(500);
            story.fails(FailureCause::ServerError, 1, 1_000);
            story.reports(Report::Waits {
                cause: Some(FailureCause::ServerError),
                delay: Some(Duration::from_secs(2)),
            });
        },
        &["its last failure was another"],
    );
}

#[test]
fn a_wait_in_vain_or_none_at_all_is_found() {
    let streams = |cause, delay_ms| {
        move |story: &mut TraceBuilder| {
            let request = story.request(RequestKind::Watch {
                revision: String::new(),
                is_streaming_list: true,
            });
            let status = if cause == FailureCause::Invalid {
                422
            } else {
                500
            };
            story.push(Observation::Answer { request, status });
            story.end(request, Ending::Clean);
            story.fails(cause, u32::from(delay_ms > 0), delay_ms);
        }
    };
    check(streams(FailureCause::Invalid, 0), &[]);
    check(streams(FailureCause::ServerError, 1_000), &[]);
    check(
        streams(FailureCause::Invalid, 1_000),
        &["after that it has to go on at once"],
    );
    check(
        streams(FailureCause::ServerError, 0),
        &["after that it has to wait"],
    );
    check(
        |story| {
            story.denied(500);
            story.reports(Report::Failed {
                cause: FailureCause::ServerError,
                attempt: 1,
                delay: Duration::from_secs(1),
            });
        },
        &["it has not logged that"],
    );
}

#[test]
fn a_page_that_was_asked_for_ahead_of_one_that_failed_is_not_counted() {
    let listed = |item_count, asks_again: bool| {
        move |story: &mut TraceBuilder| {
            let page = |story: &mut TraceBuilder, key, has_more| {
                let request = story.next_page();
                story.brings(request, key, has_more);
            };
            let first = story.request(RequestKind::List {
                revision: String::new(),
                is_continued: false,
            });
            story.brings(first, "one/pod-0", true);
            let broken = story.next_page();
            page(story, "one/pod-2", true);
            story.end(broken, Ending::Broken);
            story.fails(FailureCause::Transport, 1, 1_000);
            story.wait(1_000);
            page(story, "one/pod-1", true);
            if asks_again {
                page(story, "one/pod-2", true);
            }
            page(story, "one/pod-3", false);
            story.reports(Report::Listed {
                revision: 6,
                item_count,
                took: Duration::from_secs(1),
            });
        }
    };
    check(listed(4, true), &[]);
    check(listed(5, true), &["its list is whole, of 4 at 6 in 1s"]);
    check(listed(4, false), &["its list is whole, of 3 at 6 in 1s"]);
}

#[test]
fn a_refusal_of_a_page_that_was_asked_for_ahead_is_reported_when_the_one_before_it_has_ended() {
    let counted = |ending: Option<Ending>, ms| {
        move |story: &mut TraceBuilder| {
            // From here on it tells of itself.
            story.counts(&Counts::default());
            let first = story.request(RequestKind::List {
                revision: String::new(),
                is_continued: false,
            });
            story.push(Observation::Answer {
                request: first,
                status: 200,
            });
            let ahead = story.next_page();
            story.push(Observation::Answer {
                request: ahead,
                status: 410,
            });
            story.end(ahead, Ending::Clean);
            story.wait(1_000);
            if let Some(ending) = ending {
                story.end(first, ending);
            }
            story.wait(ms);
            story.counts(&Counts {
                lists: 1,
                ..Counts::default()
            });
        }
    };
    check(counted(None, 5_000), &[]);
    for ending in [Ending::Clean, Ending::Broken] {
        check(counted(Some(ending), 0), &[]);
        check(
            counted(Some(ending), 1),
            &["its last request failed, and it has not reported that"],
        );
    }
}

#[test]
fn a_list_without_its_last_page_is_found() {
    check(
        |story| {
            let first = story.request(RequestKind::List {
                revision: String::new(),
                is_continued: false,
            });
            story.brings(first, A, true);
            story.reports(Report::Listed {
                revision: 6,
                item_count: 1,
                took: Duration::ZERO,
            });
        },
        &["its list is not whole, of 1 at 6 in 0ns"],
    );
}

#[test]
fn a_list_or_a_watch_of_another_size_or_time_is_found() {
    let listed = |revision, item_count, ms| {
        move |story: &mut TraceBuilder| {
            story.list(2, &[member(A, "a", 2)]);
            story.reports(Report::Listed {
                revision,
                item_count,
                took: Duration::from_millis(ms),
            });
        }
    };
    check(listed(2, 1, 0), &[]);
    for (revision, item_count, ms) in [(3, 1, 0), (2, 2, 0), (2, 1, 7)] {
        check(
            listed(revision, item_count, ms),
            &["its list is whole, of 1 at 2 in 0ns"],
        );
    }
    let watched = |item_count, ms| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            story.end(WATCH, Ending::Clean);
            story.reports(Report::Watched {
                item_count,
                took: Duration::from_millis(ms),
            });
        }
    };
    check(watched(5, 1_000), &[]);
    check(
        |story| {
            watched(5, 1_000)(story);
            story.watch(6);
            story.watch(6);
        },
        &["it has not reported that its last watch has ended"],
    );
    check(watched(4, 1_000), &["its watch brought 5 in 1s"]);
    check(watched(5, 999), &["its watch brought 5 in 1s"]);
    check(|story| story.reports(Report::Follows), &["it has no watch"]);
    check(
        |story| {
            story.reports(Report::Waits {
                cause: None,
                delay: None,
            });
        },
        &["it was not paused"],
    );
}
