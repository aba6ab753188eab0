//! Statuses of informers, pauses, and the remains of handlers that left.

use super::{A, TraceBuilder, check, check_by, member, told_well};
use crate::{
    plan::{Resource, Selection},
    trace::{Ending, Link, Observation, RequestKind},
};

/// The request by which the handler was notified of everything.
const WATCH: usize = 2;

impl TraceBuilder {
    fn status(&mut self, link: Link, task_count: usize, handler_count: usize) {
        self.holds(link, task_count, handler_count, handler_count);
    }

    fn holds(&mut self, link: Link, task_count: usize, handler_count: usize, held: usize) {
        self.push(Observation::Status {
            informer: 0,
            link,
            task_count,
            handler_count,
            held_handler_count: held,
        });
    }

    fn is(&mut self, link: Link) {
        self.status(link, 3, 1);
    }

    /// Pauses the informer a second after it was notified of everything.
    fn pauses(&mut self) {
        told_well(self);
        self.wait(1_000);
        self.push(Observation::InformerPauses { informer: 0 });
        self.end(WATCH, Ending::Dropped);
        self.wait(1_000);
    }

    fn resumes(&mut self) {
        self.push(Observation::InformerResumes { informer: 0 });
    }
}

#[test]
fn a_status_that_is_not_that_of_the_watch_is_found() {
    let while_watching = |link| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            story.wait(1_000);
            story.is(link);
        }
    };
    check(while_watching(Link::Watching), &[]);
    check(
        while_watching(Link::Other),
        &[("statuses", "it has a watch")],
    );
    let after_the_watch = |link, ms| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            story.end(WATCH, Ending::Clean);
            story.wait(ms);
            story.is(link);
        }
    };
    check(after_the_watch(Link::Other, 1_000), &[]);
    // It may not have heard of the end yet.
    check(after_the_watch(Link::Watching, 0), &[]);
    check(
        after_the_watch(Link::Watching, 1_000),
        &[("statuses", "it has no watch")],
    );
}

#[test]
fn a_status_that_is_not_that_of_a_pause_is_found() {
    let while_paused = |link| {
        move |story: &mut TraceBuilder| {
            story.pauses();
            story.is(link);
            story.resumes();
            story.watch(6);
        }
    };
    check(while_paused(Link::Paused), &[]);
    check(while_paused(Link::Other), &[("statuses", "it was paused")]);
    check(
        |story| {
            story.pauses();
            story.resumes();
            story.watch(6);
            story.wait(1_000);
            story.is(Link::Paused);
        },
        &[("statuses", "it was resumed")],
    );
}

#[test]
fn a_pause_before_the_start_counts_from_the_start_on() {
    let says_after = |ms| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            story.push(Observation::InformerPauses { informer: 1 });
            story.wait(1_000);
            story.push(Observation::InformerStarts {
                informer: 1,
                selection: Selection::all(Resource::Pods),
            });
            story.wait(ms);
            story.push(Observation::Status {
                informer: 1,
                link: Link::Other,
                task_count: 2,
                handler_count: 0,
                held_handler_count: 0,
            });
        }
    };
    let find = |ms, want: &[(&str, &str)]| {
        let members = [member(A, "a", 5)];
        check_by(
            |checker| checker == "statuses",
            says_after(ms),
            &members,
            want,
        );
    };
    // Its tasks have not run yet.
    find(0, &[]);
    find(1, &[("statuses", "it was paused")]);
}

#[test]
fn a_paused_informer_that_asks_or_listens_is_found() {
    check(
        |story| {
            story.pauses();
            story.watch(6);
        },
        &[("pauses", "although it is paused since 2.000 s")],
    );
    check(
        |story| {
            story.pauses();
            story.bookmark(WATCH, 6);
        },
        &[("pauses", "although it is paused since 2.000 s")],
    );
}

#[test]
fn a_resumed_informer_that_asks_for_nothing_is_found() {
    let asks_after = |ms| {
        move |story: &mut TraceBuilder| {
            story.pauses();
            story.resumes();
            story.wait(ms);
            story.watch(6);
        }
    };
    check(asks_after(0), &[]);
    check(
        asks_after(1),
        &[("pauses", "was resumed at 3.000 s and asked for nothing")],
    );
}

#[test]
fn leftovers_of_removed_handlers_are_found() {
    let counts = |leaves, ms, task_count, handler_count| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            if leaves {
                story.push(Observation::HandlerLeaves {
                    informer: 0,
                    handler: 0,
                });
            }
            story.wait(ms);
            story.status(Link::Watching, task_count, handler_count);
        }
    };
    check(counts(false, 2_000, 3, 1), &[]);
    check(
        counts(false, 2_000, 4, 1),
        &[("leaks", "1 handlers may be called")],
    );
    check(counts(false, 2_000, 3, 2), &[("leaks", "1 have not left")]);
    // Its last call may be going on.
    check(counts(true, 900, 3, 0), &[]);
    check(
        counts(true, 2_000, 3, 0),
        &[("leaks", "0 handlers may be called")],
    );
    check(counts(true, 900, 3, 1), &[("leaks", "0 have not left")]);
}

#[test]
fn a_handler_that_is_held_after_it_has_left_is_found() {
    let held = |held| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            story.push(Observation::HandlerLeaves {
                informer: 0,
                handler: 0,
            });
            story.wait(1_001);
            story.holds(Link::Watching, 2, 0, held);
        }
    };
    check(held(0), &[]);
    check(held(1), &[("leaks", "0 handlers may exist")]);
}

#[test]
fn more_lists_at_a_time_than_a_gate_lets_through_are_found() {
    let lists = |width, first_ends: bool| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            story.push(Observation::ListGate { width });
            for (informer, request) in [(1, 7), (2, 8)] {
                story.push(Observation::Request {
                    informer,
                    request,
                    kind: RequestKind::List {
                        revision: String::new(),
                        is_continued: false,
                    },
                });
                story.push(Observation::Answer {
                    request,
                    status: 200,
                });
                if first_ends {
                    story.end(request, Ending::Broken);
                }
            }
            if !first_ends {
                story.end(7, Ending::Broken);
                story.end(8, Ending::Broken);
            }
        }
    };
    check(lists(2, false), &[]);
    check(lists(1, true), &[]);
    check(
        lists(1, false),
        &[("gates", "informers {1, 2} list at a time, 1 may")],
    );
}

#[test]
fn a_check_of_a_version_needs_no_turn_at_a_gate() {
    check(
        |story: &mut TraceBuilder| {
            told_well(story);
            story.push(Observation::ListGate { width: 1 });
            for (informer, request) in [(1, 7), (2, 8)] {
                story.push(Observation::Request {
                    informer,
                    request,
                    kind: RequestKind::List {
                        revision: "4".to_owned(),
                        is_continued: false,
                    },
                });
                if informer == 2 {
                    story.push(Observation::VersionCheck { request });
                }
                story.push(Observation::Answer {
                    request,
                    status: 200,
                });
            }
            story.end(7, Ending::Broken);
            story.end(8, Ending::Broken);
        },
        &[],
    );
}

#[test]
fn a_list_ends_with_its_first_page_of_one_object_though_that_looks_like_a_check() {
    check(
        |story: &mut TraceBuilder| {
            told_well(story);
            story.push(Observation::ListGate { width: 1 });
            for (informer, request, is_continued) in [(1, 7, false), (1, 8, true), (2, 9, false)] {
                story.push(Observation::Request {
                    informer,
                    request,
                    kind: RequestKind::List {
                        revision: "4".to_owned(),
                        is_continued,
                    },
                });
                if request == 7 {
                    story.push(Observation::VersionCheck { request });
                }
                story.push(Observation::Answer {
                    request,
                    status: 200,
                });
                if request == 8 {
                    // The page that was asked for ahead is there when the first one breaks.
                    story.push(Observation::Page {
                        request,
                        revision: 4,
                        has_more: true,
                        members: Vec::new(),
                    });
                    story.end(8, Ending::Clean);
                    story.end(7, Ending::Broken);
                }
            }
            story.end(9, Ending::Broken);
        },
        &[],
    );
}
