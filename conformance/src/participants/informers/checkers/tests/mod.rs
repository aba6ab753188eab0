//! Checkers on hand-written traces: a story without violations, and variants with one each.

mod requests;
mod pace;
mod streams;
mod faults;
mod content;
mod waits;
mod status;
mod reports;
mod threads;

use std::{sync::Arc, time::Duration};

use crate::{
    model::Model,
    participants::{self, check_all},
    plan::{Resource, Selection},
    trace::{
        Change, Ending, HandlerNotification, Key, Member, NotifiedChange, Observation, Part, Phase,
        RequestKind, Side, State, Trace,
    },
};

pub(crate) const A: &str = "one/pod-0";
pub(crate) const B: &str = "one/pod-1";

/// A trace that is written step by step: one informer of all pods, with one handler.
pub(crate) struct TraceBuilder {
    trace: Trace,
    at: Duration,
    request_count: usize,
}

pub(crate) fn state(uid: &str, revision: u64) -> State {
    State::new(uid, revision)
}

pub(crate) fn member(key: &str, uid: &str, revision: u64) -> Member {
    Member {
        key: Key::from(key),
        state: state(uid, revision),
    }
}

// === impl TraceBuilder ===

impl TraceBuilder {
    fn new() -> Self {
        let mut builder = Self {
            trace: Trace::new(),
            at: Duration::ZERO,
            request_count: 0,
        };
        builder.push(Observation::Phase(Phase::Safety));
        builder.push(Observation::InformerStarts {
            informer: 0,
            selection: Selection::all(Resource::Pods),
        });
        builder.push(Observation::HandlerJoins {
            informer: 0,
            handler: 0,
            panics: false,
            is_slow: false,
            merges: false,
        });
        builder
    }

    pub(crate) fn push(&mut self, observation: impl Into<Observation>) {
        self.trace.push(self.at, observation.into());
    }

    pub(crate) fn wait(&mut self, ms: u64) {
        self.at += Duration::from_millis(ms);
    }

    fn list(&mut self, revision: u64, members: &[Member]) {
        let request = self.request(RequestKind::List {
            revision: String::new(),
            is_continued: false,
        });
        self.push(Observation::Answer {
            request,
            status: 200,
        });
        self.push(Observation::Page {
            request,
            revision,
            has_more: false,
            members: members.to_vec(),
        });
        self.end(request, Ending::Clean);
    }

    fn watch(&mut self, revision: u64) -> usize {
        let request = self.request(RequestKind::Watch {
            revision: revision.to_string(),
            is_streaming_list: false,
        });
        self.push(Observation::Answer {
            request,
            status: 200,
        });
        request
    }

    fn request(&mut self, kind: RequestKind) -> usize {
        self.request_count += 1;
        self.push(Observation::Request {
            informer: 0,
            request: self.request_count,
            kind,
        });
        self.request_count
    }

    fn frame(&mut self, request: usize, kind: &'static str, member: Member) {
        self.push(Observation::Frame {
            request,
            kind,
            member,
        });
    }

    fn bookmark(&mut self, request: usize, revision: u64) {
        self.push(Observation::Bookmark {
            request,
            revision,
            ends_initial_events: false,
        });
    }

    fn end(&mut self, request: usize, ending: Ending) {
        self.push(Observation::Ended { request, ending });
    }

    fn notified(&mut self, key: &str, change: NotifiedChange, cached: Option<State>) {
        self.push(Observation::Notified(HandlerNotification {
            informer: 0,
            handler: 0,
            key: Key::from(key),
            change,
            cause: None,
            cached,
        }));
    }

    fn added(&mut self, key: &str, new: State) {
        let change = NotifiedChange::Added {
            new: new.clone(),
            is_initial: false,
        };
        self.notified(key, change, Some(new));
    }

    fn updated(&mut self, key: &str, old: State, new: State) {
        let change = NotifiedChange::Updated {
            old,
            new: new.clone(),
        };
        self.notified(key, change, Some(new));
    }

    fn deleted(&mut self, key: &str, last: State) {
        let change = NotifiedChange::Deleted {
            last: Some(last),
            is_tombstone: false,
        };
        self.notified(key, change, None);
    }

    pub(crate) fn cached(&mut self, revision: u64, members: &[Member]) {
        self.push(Observation::Cached {
            informer: 0,
            revision: Some(revision),
            has_synced: true,
            members: members.to_vec(),
        });
    }

    fn logged(&mut self, revision: u64, key: &str, before: Option<&str>, after: Option<&str>) {
        let side = |uid: Option<&str>| {
            let uid = Arc::from(uid?);
            Some(Side {
                uid,
                label: None,
                is_spoiled: false,
            })
        };
        self.push(Observation::Changed(Change {
            resource: Resource::Pods,
            revision,
            key: Key::from(key),
            namespace: Arc::from("one"),
            before: side(before),
            after: side(after),
        }));
    }

    /// Writes the log of most stories: `a` is created at 2, changed at 3 and 5; `b` is created at 4 and deleted at 6.
    fn log(&mut self) {
        self.logged(2, A, None, Some("a"));
        self.logged(3, A, Some("a"), Some("a"));
        self.logged(4, B, None, Some("b"));
        self.logged(5, A, Some("a"), Some("a"));
        self.logged(6, B, Some("b"), None);
    }

    fn finish(mut self, members: &[Member]) -> Trace {
        self.push(Observation::Phase(Phase::Recovery));
        self.push(Observation::Phase(Phase::Converged));
        self.cached(6, members);
        self.push(Observation::OpenWatches {
            count: 1,
            informer_count: 1,
        });
        self.push(Observation::Phase(Phase::Shutdown));
        for request in 1..=self.request_count {
            self.end(request, Ending::Dropped);
        }
        self.push(Observation::InformerStopped {
            informer: 0,
            task_count: 0,
        });
        self.push(Observation::OpenWatches {
            count: 0,
            informer_count: 0,
        });
        self.push(Observation::TasksLeft { count: 0 });
        self.log();
        self.push(Observation::Held {
            resource: Resource::Pods,
            members: vec![member(A, "a", 5)],
        });
        self.trace
    }
}

/// Lists an object, notifies the handler of it, and starts a watch, whose number is returned.
fn told_initially(builder: &mut TraceBuilder) -> usize {
    builder.list(2, &[member(A, "a", 2)]);
    let change = NotifiedChange::Added {
        new: state("a", 2),
        is_initial: true,
    };
    builder.notified(A, change, Some(state("a", 2)));
    builder.watch(2)
}

/// Notifies the handler of everything, correctly.
fn told_well(builder: &mut TraceBuilder) {
    let watch = told_initially(builder);
    builder.wait(1_000);
    builder.frame(watch, "MODIFIED", member(A, "a", 3));
    builder.updated(A, state("a", 2), state("a", 3));
    builder.frame(watch, "ADDED", member(B, "b", 4));
    builder.added(B, state("b", 4));
    builder.bookmark(watch, 4);
    builder.frame(watch, "MODIFIED", member(A, "a", 5));
    builder.updated(A, state("a", 3), state("a", 5));
    builder.frame(watch, "DELETED", member(B, "b", 6));
    builder.deleted(B, state("b", 6));
}

/// Checkers of an informer's requests. Stories about the server have arbitrary requests.
const OF_REQUESTS: [&str; 3] = ["backoff", "relists", "rewatches"];

fn is_of_requests(checker: &str) -> bool {
    OF_REQUESTS.contains(&checker)
}

/// Compares the findings in the story of `tell`, which begins with the log, by checker and beginning of the text.
fn check(build: impl FnOnce(&mut TraceBuilder), want: &[(&str, &str)]) {
    check_ending(build, &[member(A, "a", 5)], want);
}

fn check_ending(build: impl FnOnce(&mut TraceBuilder), members: &[Member], want: &[(&str, &str)]) {
    check_by(|checker| !is_of_requests(checker), build, members, want);
}

/// Does the same with a selection of checkers.
pub(crate) fn check_by(
    is_wanted: impl Fn(&str) -> bool,
    build: impl FnOnce(&mut TraceBuilder),
    members: &[Member],
    want: &[(&str, &str)],
) {
    let mut builder = TraceBuilder::new();
    build(&mut builder);
    let trace = builder.finish(members);
    let model = Model::of(&trace);
    let mut found = Vec::new();
    for checker in participants::checkers().filter(|checker| is_wanted(checker.name)) {
        let first = checker.check(&trace, &model).into_iter().next();
        found.extend(first.map(|finding| (checker.name, finding.text)));
    }
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let is_as_wanted = found.len() == want.len()
        && found
            .iter()
            .zip(want)
            .all(|(found, want)| found.0 == want.0 && found.1.contains(want.1));
    assert!(is_as_wanted, "\nfound {found:#?}\nwant  {want:#?}\n{trace}");
}

#[test]
fn a_correct_run_has_no_findings() {
    check(told_well, &[]);
}

#[test]
fn a_cache_that_differs_is_found() {
    let check_cache = |members: &[Member], says| {
        check_ending(
            told_well,
            members,
            &[("convergence", says), ("snapshots", "")],
        );
    };
    check_cache(
        &[member(A, "other", 5)],
        "cache 0 holds one/pod-0=other@5, server's log has a@5",
    );
    check_cache(
        &[member(A, "a", 7)],
        "holds one/pod-0=a@7, server's log has a@5",
    );
    check_cache(&[], "lacks one/pod-0");
    check_cache(
        &[member(A, "a", 5), member(B, "b", 7)],
        "holds one/pod-1=b@7, server's log has nothing",
    );
}

#[test]
fn a_cache_that_is_not_the_state_at_its_version_is_found() {
    check(
        |builder| {
            told_well(builder);
            builder.cached(6, &[]);
        },
        &[("snapshots", "cache 0 is not the state at its version")],
    );
    check(
        |builder| {
            builder.push(Observation::Cached {
                informer: 0,
                revision: None,
                has_synced: true,
                members: Vec::new(),
            });
            told_well(builder);
        },
        &[("snapshots", "has synced, but stands at no version")],
    );
}

#[test]
fn a_cache_that_does_not_get_there_in_time_is_found() {
    check(
        |builder| {
            told_well(builder);
            builder.push(Observation::Phase(Phase::GivenUp));
        },
        &[("convergence", "in time")],
    );
}

#[test]
fn an_update_of_what_was_never_added_is_found() {
    check(
        |builder| {
            builder.list(4, &[member(A, "a", 3), member(B, "b", 4)]);
            builder.updated(A, state("a", 3), state("a", 5));
        },
        &[("handler_streams", "updated although unknown")],
    );
}

#[test]
fn an_update_from_another_state_than_the_last_one_is_found() {
    check(
        |builder| {
            builder.list(2, &[]);
            builder.added(A, state("a", 2));
            builder.updated(A, state("a", 3), state("a", 5));
        },
        &[
            ("handler_streams", "updated from another state than a@2"),
            ("list_snapshots", ""),
        ],
    );
}

#[test]
fn an_add_of_what_is_known_and_a_delete_of_what_is_not_are_found() {
    check(
        |builder| {
            told_well(builder);
            builder.deleted(B, state("b", 6));
        },
        &[("handler_streams", "deleted although unknown")],
    );
    check(
        |builder| {
            told_well(builder);
            builder.added(A, state("a", 5));
        },
        &[("handler_streams", "added although known as a@5")],
    );
}

#[test]
fn notifications_after_leaving_are_found() {
    check(
        |builder| {
            builder.push(Observation::HandlerLeaves {
                informer: 0,
                handler: 0,
            });
            told_well(builder);
        },
        &[("handler_streams", "notified after it left")],
    );
}

#[test]
fn a_lost_delete_is_found() {
    check(
        |builder| {
            builder.list(4, &[member(A, "a", 3), member(B, "b", 4)]);
            builder.added(A, state("a", 3));
            builder.added(B, state("b", 4));
            builder.updated(A, state("a", 3), state("a", 5));
        },
        &[("lost_deletes", "was never notified of the end of one/pod-1")],
    );
}

#[test]
fn invented_states_are_found() {
    check(
        |builder| {
            told_well(builder);
            builder.added(B, state("c", 6));
            builder.deleted(B, state("c", 7));
        },
        &[("told_truth", "c@6 never was")],
    );
}

#[test]
fn a_deletion_that_never_was_is_found() {
    check(
        |builder| {
            builder.list(3, &[member(A, "a", 3)]);
            builder.added(A, state("a", 3));
            let change = NotifiedChange::Deleted {
                last: Some(state("a", 3)),
                is_tombstone: true,
            };
            builder.notified(A, change, None);
            builder.wait(1);
            builder.list(5, &[member(A, "a", 5), member(B, "b", 4)]);
            builder.added(A, state("a", 5));
        },
        &[("told_truth", "it never went")],
    );
}

#[test]
fn a_state_that_was_left_out_is_found_unless_a_list_came_between() {
    let leap = |has_listed: bool| {
        move |builder: &mut TraceBuilder| {
            builder.list(2, &[member(A, "a", 2)]);
            builder.added(A, state("a", 2));
            builder.wait(1_000);
            if has_listed {
                builder.list(5, &[member(A, "a", 5), member(B, "b", 4)]);
            }
            builder.updated(A, state("a", 2), state("a", 5));
        }
    };
    check(leap(true), &[]);
    check(leap(false), &[("silent_gaps", "revision 3 was left out")]);
}

#[test]
fn an_object_found_gone_may_come_back_in_the_same_list() {
    let returns = |version_of_list: u64| {
        move |builder: &mut TraceBuilder| {
            builder.list(2, &[member(A, "a", 2)]);
            builder.added(A, state("a", 2));
            builder.list(version_of_list, &[member(A, "a", version_of_list)]);
            builder.wait(1_000);
            let change = NotifiedChange::Deleted {
                last: Some(state("a", 2)),
                is_tombstone: true,
            };
            builder.notified(A, change, None);
            builder.added(A, state("a", 5));
        }
    };
    let check_gaps = |build: &dyn Fn(&mut TraceBuilder), want: &[(&str, &str)]| {
        check_by(|checker| checker == "silent_gaps", build, &[], want);
    };
    check_gaps(&returns(5), &[]);
    check_gaps(&returns(3), &[("silent_gaps", "revision 3 was left out")]);
}

#[test]
fn a_handler_that_knows_before_the_cache_is_found() {
    check(
        |builder| {
            told_well(builder);
            let change = NotifiedChange::Updated {
                old: state("a", 5),
                new: state("a", 5),
            };
            builder.notified(A, change, Some(state("a", 3)));
        },
        &[
            ("cache_first", "behind the handler"),
            ("time_travel", "after 5"),
        ],
    );
}

#[test]
fn a_cache_that_goes_back_is_found() {
    check(
        |builder| {
            told_well(builder);
            builder.cached(6, &[member(A, "a", 5)]);
            builder.cached(5, &[member(A, "a", 5), member(B, "b", 4)]);
        },
        &[("time_travel", "cache 0 went back from 6 to 5")],
    );
    check(
        |builder| {
            told_well(builder);
            builder.cached(6, &[member(A, "a", 5), member(B, "b", 4)]);
        },
        &[
            ("snapshots", ""),
            ("time_travel", "shows b@4 again after it was gone"),
        ],
    );
}

#[test]
fn differing_parts_are_found() {
    for (part, checker) in [
        (Part::Index, "indexes"),
        (Part::Reader, "readers"),
        (Part::Filter, "filters"),
        (Part::Handler, "leaks"),
        (Part::Report, "reports"),
    ] {
        check(
            |builder| {
                told_well(builder);
                builder.push(Observation::Differs {
                    informer: 0,
                    part,
                    name: "tier".to_owned(),
                    text: "web lacks one/pod-0".to_owned(),
                });
            },
            &[(checker, "web lacks one/pod-0")],
        );
    }
}

#[test]
fn leaked_tasks_and_watches_are_found() {
    let left = |observation: Observation| {
        move |builder: &mut TraceBuilder| {
            told_well(builder);
            builder.push(Observation::Phase(Phase::Shutdown));
            builder.push(observation);
        }
    };
    check(
        left(Observation::TasksLeft { count: 2 }),
        &[("leaks", "tasks left 2")],
    );
    check(
        left(Observation::OpenWatches {
            count: 1,
            informer_count: 1,
        }),
        &[("leaks", "open watches 1")],
    );
    check(
        left(Observation::InformerStopped {
            informer: 0,
            task_count: 1,
        }),
        &[("leaks", "tasks left 1")],
    );
    check(
        left(Observation::Answer {
            request: 99,
            status: 200,
        }),
        &[("leaks", "the body of request 99")],
    );
}

#[test]
fn a_hot_loop_is_found() {
    check(
        |builder| {
            told_well(builder);
            builder.push(Observation::HotLoop {
                text: "300 requests in a second".to_owned(),
            });
        },
        &[("hot_loops", "300 requests")],
    );
}

#[test]
fn a_hot_loop_is_the_only_violation() {
    let mut builder = TraceBuilder::new();
    builder.push(Observation::Warned {
        message: "and this".to_owned(),
        fields: String::new(),
    });
    builder.push(Observation::HotLoop {
        text: "300 requests in a second".to_owned(),
    });
    let violations = check_all(&builder.trace);
    let found: Vec<&str> = violations.iter().map(|it| it.checker).collect();
    assert_eq!(found, ["hot_loops"]);
}

#[test]
fn an_unannounced_warning_is_found() {
    let warned = |message: &'static str| {
        move |builder: &mut TraceBuilder| {
            told_well(builder);
            builder.push(Observation::Warned {
                message: message.to_owned(),
                fields: " rv=5".to_owned(),
            });
        }
    };
    check(warned("trying again"), &[]);
    check(
        warned("the server went back"),
        &[("warnings", "warned: the server went back rv=5")],
    );
    check(
        warned("handler panicked"),
        &[("warnings", "handler panicked")],
    );
    check(warned("paused"), &[("warnings", "warned: paused")]);
    check(
        |builder| {
            fault_begins(builder, "forbidden", None);
            warned("paused")(builder);
        },
        &[],
    );
}

pub(crate) fn fault_begins(builder: &mut TraceBuilder, name: &str, informer: Option<usize>) {
    builder.push(Observation::FaultBegins {
        fault: 7,
        name: name.to_owned(),
        informer,
        text: String::new(),
    });
}

#[test]
fn a_violation_names_checker_and_record() {
    let mut builder = TraceBuilder::new();
    builder.push(Observation::HotLoop {
        text: "round and round".to_owned(),
    });
    let notified: Vec<String> = check_all(&builder.trace)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(notified, ["hot_loops: round and round (record #00003)"]);
}
