//! Each promise with a run that breaks it, and one that keeps it.

use std::{path::PathBuf, time::Duration};

use fakeserver::{Clock, Controllers, FakeServer};
use serde_json::{Value, json};

use super::{Case, check, rules::Rules};
use crate::{
    execute::Outcome,
    finding::Promise,
    history::History,
    kinds::ServedKinds,
    plan::Plan,
    reference::Reference,
    trace::{Effect, Event, ObservedVersion, RunTrace, Write, WriteKey, WritePoint},
    workload::{Rule, When, Workload},
};

/// A run against a server that a test writes to by itself.
struct Run {
    server: FakeServer,
    kinds: ServedKinds,
    beginning: u64,
    trace: RunTrace,
    identities: Vec<Vec<String>>,
    output: Vec<PathBuf>,
    rules: Vec<Rule>,
}

// === impl Run ===

impl Run {
    async fn new() -> Self {
        // Nothing is collected, so that a test sees what it makes.
        let builder = FakeServer::builder().with_controllers(Controllers::none());
        let server = builder.build();
        Self {
            kinds: ServedKinds::read(&server.router()).await,
            beginning: server.revision(),
            server,
            trace: RunTrace::default(),
            identities: Vec::new(),
            output: Vec::new(),
            rules: Vec::new(),
        }
    }

    fn apply(&self, metadata: &Value) -> Value {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        self.server.apply(&map).unwrap()
    }

    /// Adds a write that changed something.
    fn write(&mut self, verb: &str, name: &str, at_ms: u64) -> &mut Write {
        let number = self.trace.writes.len();
        let at = Duration::from_millis(at_ms);
        self.trace.writes.push(Write {
            at,
            replica: 0,
            incarnation: 0,
            point: WritePoint {
                key: WriteKey {
                    verb: verb.to_owned(),
                    resource: "configmaps".to_owned(),
                    subresource: None,
                    namespace: "default".to_owned(),
                    name: name.to_owned(),
                },
                occurrence: 1,
            },
            code: Some(200),
            message: String::new(),
            effect: Effect::Changed,
            revision: None,
            seen: None,
            target_uid: None,
            lease_holders: Vec::new(),
            server_revision: 0,
            is_background: false,
            is_perturbed: false,
        });
        self.trace.events.push((at, Event::Wrote(number)));
        &mut self.trace.writes[number]
    }

    fn outcome(&self) -> Outcome {
        Outcome {
            trace: self.trace.clone(),
            history: History::of(&self.server, &self.kinds, self.beginning),
            not_done: Vec::new(),
            identities: self.identities.clone(),
            output: self.output.clone(),
            panics: Vec::new(),
            now: Clock::wall().now_text(),
            took: Duration::ZERO,
        }
    }

    /// Returns the findings beside another run, which is the reference.
    fn found_beside(&self, reference: Option<&Reference>) -> Vec<(Promise, String)> {
        let outcome = self.outcome();
        let workload = Workload {
            steps: Vec::new(),
            replicas: 1,
            rules: self.rules.clone(),
            file: None,
        };
        let rules = Rules::compile(&workload, &self.kinds).unwrap();
        let findings = check(&Case {
            outcome: &outcome,
            plan: &Plan::default(),
            workload: &workload,
            reference,
            rules: &rules,
        });
        let pairs = findings.into_iter();
        pairs.map(|it| (it.promise, it.text)).collect()
    }

    fn found(&self) -> Vec<(Promise, String)> {
        self.found_beside(None)
    }
}

fn named(name: &str) -> Value {
    json!({"name": name, "namespace": "default"})
}

#[tokio::test]
async fn a_run_like_its_reference_keeps_all_promises() {
    let mut run = Run::new().await;
    run.apply(&named("a"));
    run.write("create", "a", 1);
    let outcome = run.outcome();
    let reference = Reference::of([&outcome, &outcome], Vec::new());
    assert_eq!(run.found_beside(Some(&reference)), []);

    run.apply(&named("b"));
    assert_eq!(
        run.found_beside(Some(&reference)),
        [
            (
                Promise::EndState,
                "configmaps default/b is left over".to_owned()
            ),
            (
                Promise::Churn,
                "2 configmaps were created instead of 1".to_owned()
            ),
        ]
    );
}

#[tokio::test]
async fn writes_after_the_restart_are_not_quiet() {
    let mut run = Run::new().await;
    run.write("update", "a", 1);
    run.trace.restarted_at = Some(Duration::from_millis(5));
    assert_eq!(run.found(), []);
    run.write("update", "a", 9);
    assert_eq!(run.found()[0].0, Promise::Quiet);
    // A write that changes nothing is none.
    run.trace.writes[1].effect = Effect::Nothing;
    assert_eq!(run.found(), []);
}

#[tokio::test]
async fn a_hot_loop_is_distinguished_from_growing_waits() {
    let mut run = Run::new().await;
    for attempt in 0..10 {
        run.write("update", "a", 5 << attempt);
    }
    assert_eq!(run.found(), []);
    for attempt in 0..21 {
        run.write("update", "b", attempt * 40);
    }
    assert_eq!(run.found()[0].0, Promise::Rate);
}

#[tokio::test]
async fn no_op_writes_may_follow_foreign_changes_but_not_more_often() {
    // Each of two dozen changes by another writer has the subject look, and write what is there.
    let burst = async |effect: Effect, writes: u64, watched: &[&str]| {
        let mut run = Run::new().await;
        run.trace.watched = watched.iter().map(ToString::to_string).collect();
        let mut revisions = vec![run.server.revision()];
        for change in 0..24 {
            let mut metadata = named("others");
            metadata["annotations"] = json!({"change": change.to_string()});
            run.apply(&metadata);
            revisions.push(run.server.revision());
        }
        for attempt in 0..writes {
            let write = run.write("patch", "own", 5_000 + attempt * 4);
            write.effect = effect;
            let seen = usize::try_from(attempt + 1).unwrap();
            write.server_revision = revisions[seen.min(revisions.len() - 1)];
        }
        run.found()
    };
    assert_eq!(burst(Effect::Nothing, 40, &["configmaps"]).await, []);
    for (effect, writes, watched) in [
        (Effect::Nothing, 60, ["configmaps"]),
        (Effect::Nothing, 40, ["pods"]),
        (Effect::Changed, 40, ["configmaps"]),
        (Effect::Refused, 40, ["configmaps"]),
    ] {
        let found = burst(effect, writes, &watched).await;
        let text = "patch configmaps default/own more than 20 times within a second";
        let expected = (Promise::Rate, text.to_owned());
        assert_eq!(found, [expected], "{effect:?} {writes} {watched:?}");
    }
}

#[tokio::test]
async fn objects_do_not_outlive_their_owners_nor_stay_terminating() {
    let run = Run::new().await;
    let owner = run.apply(&named("owner"));
    let mut metadata = named("owned");
    metadata["ownerReferences"] = json!([{
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner["metadata"]["uid"],
    }]);
    let mut held = named("held");
    held["finalizers"] = json!(["example.org/held"]);
    run.apply(&metadata);
    let held = run.apply(&held);
    assert_eq!(run.found(), []);

    run.server.delete(&owner).unwrap();
    run.server.delete(&held).unwrap();
    let found: Vec<Promise> = run
        .found()
        .into_iter()
        .map(|(promise, _)| promise)
        .collect();
    assert_eq!(found, [Promise::Leaks, Promise::Finalizers]);
}

#[tokio::test]
async fn a_deletion_that_hits_another_object_is_blind() {
    let mut run = Run::new().await;
    let seen = ObservedVersion {
        uid: "read".to_owned(),
        revision: 7,
        generation: 0,
    };
    let write = run.write("delete", "a", 1);
    write.seen = Some(seen);
    write.target_uid = Some("read".to_owned());
    assert_eq!(run.found(), []);
    run.trace.writes[0].target_uid = Some("another".to_owned());
    assert_eq!(run.found()[0].0, Promise::BlindDeletes);
}

#[tokio::test]
async fn an_end_counts_unless_the_plan_caused_it() {
    let mut run = Run::new().await;
    let ended = |is_planned| Event::Ended {
        replica: 0,
        incarnation: 0,
        how: "ended by itself: exit status: 1".to_owned(),
        is_planned,
    };
    let at = Duration::from_millis(1);
    run.trace.events.push((at, ended(true)));
    // A replica that was stopped for longer than its lease may exit.
    let stopped = Event::Stopped {
        replica: 0,
        time: at,
    };
    run.trace.events.push((at, stopped));
    run.trace.events.push((at, ended(false)));
    assert_eq!(run.found(), []);
    run.trace.events.push((at, ended(false)));
    assert_eq!(run.found()[0].0, Promise::Alive);
}

#[tokio::test]
async fn only_the_holder_of_the_lease_writes() {
    let mut run = Run::new().await;
    run.identities = vec![vec!["a".to_owned()], vec!["b".to_owned()]];
    let holders = |holder: &str| vec![holder.to_owned()];
    run.write("update", "x", 1_000).lease_holders = holders("a");
    assert_eq!(run.found(), []);
    run.write("update", "x", 2_000).lease_holders = holders("b");
    assert_eq!(run.found()[0].0, Promise::Leaders);
    // It was woken a moment ago, and could not know.
    let woken = Event::Woken { replica: 0 };
    run.trace.events.push((Duration::from_millis(1_900), woken));
    assert_eq!(run.found(), []);
}

fn rule(name: &str, when: When, expression: &str) -> Rule {
    Rule {
        name: name.to_owned(),
        when,
        expression: expression.to_owned(),
        file: None,
    }
}

#[tokio::test]
async fn rules_hold_before_the_first_step_and_where_there_are_no_objects() {
    let mut run = Run::new().await;
    run.rules = vec![
        rule("some", When::Always, "pods.size() > 0"),
        rule("never", When::Always, "1 == 2"),
        rule(
            "few",
            When::Always,
            "resources['deployments.apps'].size() <= 1",
        ),
        rule(
            "none",
            When::Eventually,
            "resources['deployments.apps'].size() == 0",
        ),
    ];
    let found: Vec<String> = run.found().into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        found,
        [
            "some: before the first step it is false",
            "never: before the first step it is false",
        ]
    );
}

#[tokio::test]
async fn mistakes_in_rules_are_reported_before_a_run() {
    let run = Run::new().await;
    let compile_error = |expression: &str| {
        let mut workload = Workload::new().rule("mine", When::Always, expression);
        workload.rules[0].file = Some(PathBuf::from("rules.yaml"));
        Rules::compile(&workload, &run.kinds).unwrap_err()
    };
    for (expression, expected) in [
        ("pods.size()", "it is 0, but has to be true or false"),
        (
            "resources['podz'].size() == 0",
            "`resources` has no \"podz\"",
        ),
        (
            "resources.deployments.size() == 0",
            "`resources` has no \"deployments\"",
        ),
        ("podz.size() == 0", "undeclared reference"),
    ] {
        let error = compile_error(expression);
        assert!(error.starts_with("rules.yaml: rule \"mine\": "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn rules_hold_at_every_revision_or_in_the_end() {
    let mut run = Run::new().await;
    let count = |limit: usize| {
        format!("configmaps.filter(m, m.metadata.namespace == 'default').size() <= {limit}")
    };
    run.rules = vec![
        rule("one at a time", When::Always, &count(1)),
        rule("two at a time", When::Always, &count(2)),
        rule("none left", When::Eventually, &count(0)),
        rule(
            "by group",
            When::Eventually,
            "resources['configmaps'].size() > 0",
        ),
        rule("mistaken", When::Eventually, "configmaps[0].nothing"),
    ];
    run.apply(&named("a"));
    let second = run.apply(&named("b"));
    run.server.delete(&second).unwrap();
    let revision = second["metadata"]["resourceVersion"].as_str().unwrap();
    let found: Vec<String> = run.found().into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        found,
        [
            format!("one at a time: at revision {revision} it is false"),
            "none left: in the end it is false".to_owned(),
            "mistaken: in the end no such key: nothing".to_owned(),
        ]
    );
}
