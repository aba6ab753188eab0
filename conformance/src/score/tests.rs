//! The judge on hand-written traces, and the tables of the scoreboard.

use std::{collections::BTreeSet, time::Duration};

use fakeserver::faults::Fault;

use super::{
    CONTESTANTS, Contestant, Demand, Demands, Verdict,
    judge::{Judgement, MEANINGS, judge},
    scenarios,
};
use crate::{
    participants::{self, checkers},
    plan::{Resource, Selection},
    trace::{
        Change, Ending, HandlerNotification, Key, Member, NotifiedChange, Observation, Phase,
        RequestKind, Side, State, Trace,
    },
};

const ASKS: Demands = Demands {
    demand: Demand::Hold,
    is_always_like_this: false,
    needs_fault: true,
    notified_within: None,
    undecodable: None,
};

/// A trace of one informer and one handler on pods.
#[derive(Default)]
struct TraceBuilder {
    trace: Trace,
}

fn state(revision: u64) -> State {
    State::new("u", revision)
}

fn member(revision: u64) -> Member {
    Member {
        key: Key::from("one/pod-0"),
        state: state(revision),
    }
}

// === impl TraceBuilder ===

impl TraceBuilder {
    /// An informer that has started, listed, and notified its handler of a pod at revision 5.
    fn begun() -> Self {
        Self::default()
            .at(0, Observation::Phase(Phase::Safety))
            .at(
                0,
                Observation::HandlerJoins {
                    informer: 0,
                    handler: 0,
                    panics: false,
                    is_slow: false,
                    merges: false,
                },
            )
            .at(
                0,
                Observation::InformerStarts {
                    informer: 0,
                    selection: Selection::all(Resource::Pods),
                },
            )
            .at(0, request(0))
            .at(
                0,
                Observation::Answer {
                    request: 0,
                    status: 200,
                },
            )
            .at(
                0,
                Observation::Page {
                    request: 0,
                    revision: 5,
                    has_more: false,
                    members: vec![member(5)],
                },
            )
            .at(
                0,
                Observation::Ended {
                    request: 0,
                    ending: Ending::Clean,
                },
            )
            .at(
                0,
                notified(NotifiedChange::Added {
                    new: state(5),
                    is_initial: true,
                }),
            )
    }

    fn at(mut self, second: u64, observation: Observation) -> Self {
        self.trace.push(Duration::from_secs(second), observation);
        self
    }

    /// Ends the run with these objects in the cache. The server changed the pod at revision 9.
    fn ending(self, second: u64, has_synced: bool, members: Vec<Member>) -> Trace {
        let cached = Observation::Cached {
            informer: 0,
            revision: members.first().map(|member| member.state.revision),
            has_synced,
            members,
        };
        let log = |revision, before: Option<&str>| {
            let side = |uid: &str| Side {
                uid: uid.into(),
                label: None,
                is_spoiled: false,
            };
            Observation::Changed(Change {
                resource: Resource::Pods,
                revision,
                key: Key::from("one/pod-0"),
                namespace: "one".into(),
                before: before.map(side),
                after: Some(side("u")),
            })
        };
        let fired = Observation::Fired {
            rule: "silence".to_owned(),
            count: 1,
        };
        self.at(second, cached)
            .at(second, Observation::Phase(Phase::Shutdown))
            .at(second, fired)
            .at(second, log(5, None))
            .at(second, log(9, Some("u")))
            .trace
    }

    /// Notifies the handler of the change at this second, and ends well.
    fn hearing(self, second: u64) -> Trace {
        self.at(
            second,
            notified(NotifiedChange::Updated {
                old: state(5),
                new: state(9),
            }),
        )
        .ending(1_000, true, vec![member(9)])
    }
}

fn notified(change: NotifiedChange) -> Observation {
    let cached = match &change {
        NotifiedChange::Added { new, .. } | NotifiedChange::Updated { new, .. } => {
            Some(new.clone())
        }
        NotifiedChange::Deleted { .. } => None,
    };
    Observation::Notified(HandlerNotification {
        informer: 0,
        handler: 0,
        key: Key::from("one/pod-0"),
        change,
        cause: None,
        cached,
    })
}

fn request(request: usize) -> Observation {
    Observation::Request {
        informer: 0,
        request,
        kind: RequestKind::List {
            revision: String::new(),
            is_continued: false,
        },
    }
}

fn contestant(name: &str) -> Contestant {
    Contestant::named(name).unwrap()
}

fn judged_for(trace: &Trace, asks: &Demands, name: &str) -> Judgement {
    judge(
        trace,
        &participants::check_all(trace),
        asks,
        contestant(name),
    )
}

fn judged(trace: &Trace) -> Judgement {
    judged_for(trace, &ASKS, "kube-runtime")
}

#[test]
fn a_client_with_all_notifications_and_an_equal_cache_holds() {
    let judgement = judged(&TraceBuilder::begun().hearing(3));
    assert_eq!(
        (judgement.verdict, judgement.text.as_str()),
        (Verdict::Held, "")
    );
}

#[test]
fn a_run_without_effects_of_faults_was_not_hit() {
    let mut trace = Trace::new();
    for record in TraceBuilder::begun().hearing(3).records() {
        if !matches!(record.observation, Observation::Fired { .. }) {
            trace.push(record.at, record.observation.clone());
        }
    }
    assert_eq!(judged(&trace).verdict, Verdict::NotHit);
    // Nor by a cut, which only gives the fault its occasion.
    let cut = Observation::Fired {
        rule: "disconnect".to_owned(),
        count: 2,
    };
    trace.push(Duration::from_secs(1_000), cut);
    assert_eq!(judged(&trace).verdict, Verdict::NotHit);
    let asks = Demands {
        needs_fault: false,
        ..ASKS
    };
    assert_eq!(
        judged_for(&trace, &asks, "kube-runtime").verdict,
        Verdict::Held
    );
}

#[test]
fn a_cache_that_differs_is_stale_if_its_client_listens_and_hung_if_not() {
    let listening = TraceBuilder::begun()
        .at(900, request(1))
        .at(
            900,
            Observation::Answer {
                request: 1,
                status: 410,
            },
        )
        .ending(1_000, true, vec![member(5)]);
    let judgement = judged(&listening);
    assert_eq!(judgement.verdict, Verdict::Stale);
    assert_eq!(
        judgement.text,
        "cache 0 holds one/pod-0=u@5, and the server u@9"
    );
    // A request without an answer does not count as listening.
    let deaf = TraceBuilder::begun()
        .at(900, request(1))
        .ending(1_000, true, vec![member(5)]);
    assert_eq!(judged(&deaf).verdict, Verdict::Hung);
}

#[test]
fn a_cache_that_never_was_complete_is_hung() {
    let judgement = judged(&TraceBuilder::begun().ending(1_000, false, Vec::new()));
    assert_eq!(judgement.verdict, Verdict::Hung);
    assert_eq!(judgement.at, Duration::from_secs(1_000));
}

#[test]
fn an_undecodable_object_may_be_missing_but_not_stale() {
    let asks = Demands {
        undecodable: Some("one/pod-0"),
        demand: Demand::HoldCache,
        ..ASKS
    };
    let verdict = |members| {
        let trace = TraceBuilder::begun().ending(1_000, true, members);
        judged_for(&trace, &asks, "kube-runtime").verdict
    };
    assert_eq!(verdict(Vec::new()), Verdict::Held);
    assert_eq!(verdict(vec![member(5)]), Verdict::Hung);
}

#[test]
fn a_loop_reports_how_many_requests_came_in_its_last_second() {
    let mut builder = TraceBuilder::begun();
    for number in 1..=30 {
        builder = builder.at(7, request(number));
    }
    let text = "informer 0 sent more than 200 requests within 1s".to_owned();
    let trace = builder.at(7, Observation::HotLoop { text }).trace;
    let judgement = judged(&trace);
    assert_eq!(judgement.verdict, Verdict::HotLoop { per_second: 30.0 });
    assert_eq!(judgement.verdict.to_string(), "hot 30/s");
    assert_eq!(judgement.at, Duration::from_secs(7));
}

#[test]
fn waiters_that_still_wait_are_hung() {
    let waited = |waiting_count| {
        let observation = Observation::Waited {
            informer: 0,
            woken_count: 1,
            waiting_count,
        };
        judged(&TraceBuilder::begun().at(2, observation).hearing(3)).verdict
    };
    assert_eq!(waited(3), Verdict::Hung);
    assert_eq!(waited(0), Verdict::Held);
}

#[test]
fn a_handler_that_was_not_notified_is_deaf_and_for_some_it_is_a_broken_promise() {
    let trace = TraceBuilder::begun().ending(1_000, true, vec![member(9)]);
    assert_eq!(
        judged_for(&trace, &ASKS, "kube-runtime-shared").verdict,
        Verdict::Deaf
    );
    assert_eq!(
        judged_for(&trace, &ASKS, "kube-runtime").verdict,
        Verdict::LostDelete
    );
}

#[test]
fn a_late_notification_is_allowed_only_without_a_demand() {
    let text = "Update /api/v1/namespaces/one/pods/pod-0: PUT".to_owned();
    let write = Observation::Operation {
        text,
        status: 200,
        revision: Some(9),
    };
    let trace = TraceBuilder::begun().at(3, write).hearing(33);
    let asks = |limit| Demands {
        notified_within: Some(Duration::from_secs(limit)),
        ..ASKS
    };
    let verdict = |asks: &Demands| judged_for(&trace, asks, "kube-runtime").verdict;
    assert_eq!(verdict(&ASKS), Verdict::Held);
    assert_eq!(verdict(&asks(30)), Verdict::Held);
    assert_eq!(verdict(&asks(29)), Verdict::Late { seconds: Some(30) });
}

#[test]
fn a_client_that_ignores_retry_after_is_impatient() {
    let watch = |request| Observation::Request {
        informer: 0,
        request,
        kind: RequestKind::Watch {
            revision: "5".to_owned(),
            is_streaming_list: false,
        },
    };
    let told_to_wait = |asks_again_at| {
        let refused = TraceBuilder::begun()
            .at(2, watch(1))
            .at(
                2,
                Observation::Answer {
                    request: 1,
                    status: 429,
                },
            )
            .at(
                2,
                Observation::AskedToWait {
                    request: 1,
                    wait: Duration::from_secs(5),
                },
            )
            .at(
                2,
                Observation::Ended {
                    request: 1,
                    ending: Ending::Clean,
                },
            );
        judged(&refused.at(asks_again_at, watch(2)).hearing(9)).verdict
    };
    assert_eq!(told_to_wait(6), Verdict::Impatient);
    assert_eq!(told_to_wait(7), Verdict::Held);
}

#[test]
fn an_unnecessary_relist_is_wasteful() {
    let trace = TraceBuilder::begun().at(2, request(1)).hearing(3);
    let judgement = judged(&trace);
    assert_eq!(judgement.verdict, Verdict::Wasteful);
    assert_eq!(judgement.at, Duration::from_secs(2));
}

#[test]
fn delays_and_their_times_are_reported() {
    let phases = TraceBuilder::begun()
        .at(2, Observation::Phase(Phase::Recovery))
        .at(4, Observation::Phase(Phase::Converged));
    let judgement = judged(&phases.hearing(4));
    assert_eq!(judgement.took, Some(Duration::from_secs(2)));
    assert_eq!(
        (judgement.verdict, judgement.at),
        (Verdict::Held, Duration::from_secs(4))
    );
    let never = judged(&TraceBuilder::begun().hearing(4));
    assert_eq!((never.took, never.at), (None, Duration::from_secs(1_000)));
}

#[test]
fn a_reduced_demand_has_its_reason() {
    for scenario in scenarios() {
        let is_asked_all = scenario.asks.demand != Demand::HoldCache;
        assert_eq!(
            is_asked_all,
            scenario.excused.is_empty(),
            "{}",
            scenario.name
        );
    }
}

#[test]
fn a_control_has_to_be_noticed() {
    let asks = Demands {
        demand: Demand::BeCaught,
        ..ASKS
    };
    let verdict = |trace: &Trace| judged_for(trace, &asks, "informer").verdict;
    assert_eq!(verdict(&TraceBuilder::begun().hearing(3)), Verdict::Missed);
    let stale = TraceBuilder::begun().ending(1_000, true, vec![member(5)]);
    assert_eq!(verdict(&stale), Verdict::Caught);
    assert!(!Verdict::Missed.is_good());
}

#[test]
fn a_task_that_panicked_is_reported_before_all_else() {
    let message = crate::participants::PANICKED.to_owned();
    let warned = Observation::Warned {
        message,
        fields: String::new(),
    };
    let trace = TraceBuilder::begun()
        .at(2, warned)
        .ending(1_000, false, Vec::new());
    assert_eq!(judged(&trace).verdict, Verdict::Panicked);
}

#[test]
fn every_promise_is_the_name_of_a_checker_and_has_a_meaning() {
    let known: BTreeSet<&str> = checkers().map(|checker| checker.name).collect();
    let judged_apart = ["hot_loops", "convergence", "bounded_requests"];
    let meanings: BTreeSet<&str> = MEANINGS.iter().map(|(name, _)| *name).collect();
    assert!(meanings.is_subset(&known), "{meanings:?}");
    for contestant in CONTESTANTS {
        for promise in contestant.promises() {
            assert!(known.contains(promise), "{promise}");
            assert!(
                meanings.contains(promise) || judged_apart.contains(&promise),
                "{promise} of {} means nothing",
                contestant.name
            );
        }
    }
}

#[test]
fn every_fault_of_the_catalogue_has_a_scenario() {
    let scenarios = scenarios();
    for entry in Fault::all().map(Fault::entry) {
        let of_fault = scenarios
            .iter()
            .find(|scenario| scenario.name == entry.fault && scenario.origin == entry.number);
        assert!(of_fault.is_some(), "{} {}", entry.number, entry.fault);
    }
    let numbers: BTreeSet<&str> = scenarios.iter().map(|scenario| scenario.origin).collect();
    for number in 1..=38 {
        assert!(numbers.contains(format!("F{number}").as_str()), "F{number}");
    }
}

#[test]
fn an_unmet_goal_of_a_controller_is_undone() {
    let undone = Observation::Undone {
        text: "there is no copy of one/configmap-0".to_owned(),
    };
    let asks = Demands {
        demand: Demand::HoldCache,
        ..ASKS
    };
    let trace = TraceBuilder::begun().at(9, undone).hearing(9);
    let judgement = judged_for(&trace, &asks, "kube-runtime");
    assert_eq!(judgement.verdict, Verdict::Undone);
    assert_eq!(
        judgement.text,
        "undone: there is no copy of one/configmap-0"
    );
}

#[test]
fn contestants_have_unique_simple_names() {
    let scenarios = scenarios();
    let names: BTreeSet<&str> = scenarios.iter().map(|scenario| scenario.name).collect();
    assert_eq!(names.len(), scenarios.len());
    for name in names {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        assert!(
            name.chars()
                .all(|letter| is_plain(letter) || matches!(letter, '-' | '_')),
            "{name}"
        );
    }
}

#[test]
fn a_process_may_withhold_promises_of_handlers_and_no_others() {
    let known_twice = |builder: TraceBuilder| {
        let added = NotifiedChange::Added {
            new: state(9),
            is_initial: false,
        };
        let trace = builder.at(3, notified(added));
        let trace = trace.ending(1_000, true, vec![member(9)]);
        judged_for(&trace, &ASKS, "external").verdict
    };
    let withholding = |checker: &str| Observation::Introduced {
        informer: 0,
        withholds: vec![checker.to_owned()],
    };
    let plain = known_twice(TraceBuilder::begun());
    assert_eq!(plain, Verdict::WrongNews);
    let other = known_twice(TraceBuilder::begun().at(0, withholding("silent_gaps")));
    assert_eq!(other, plain);
    let withheld = known_twice(TraceBuilder::begun().at(0, withholding("handler_streams")));
    assert_eq!(withheld, Verdict::Held);
    // It cannot withhold what every client owes to its server.
    let withheld = TraceBuilder::begun().at(0, withholding("hot_loops"));
    let busy = (1..250).fold(withheld, |builder, number| builder.at(3, request(number)));
    let busy = busy
        .at(
            3,
            Observation::HotLoop {
                text: "x".to_owned(),
            },
        )
        .hearing(3);
    let judgement = judged_for(&busy, &ASKS, "external");
    assert!(
        matches!(judgement.verdict, Verdict::HotLoop { .. }),
        "{judgement:?}"
    );
}

#[test]
fn a_control_is_not_noticed_by_what_a_process_does_not_report() {
    let asks = Demands {
        demand: Demand::BeCaught,
        ..ASKS
    };
    let versionless = Observation::Cached {
        informer: 0,
        revision: None,
        has_synced: true,
        members: vec![member(5)],
    };
    let trace = TraceBuilder::begun().at(1, versionless).hearing(3);
    let verdict = |name| judged_for(&trace, &asks, name).verdict;
    assert_eq!(verdict("informer"), Verdict::Caught);
    assert_eq!(verdict("external"), Verdict::Missed);
}
