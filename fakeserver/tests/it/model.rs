//! The API against a model: random requests of one client, and of several at once.

use std::{collections::BTreeMap, future::Future};

use axum::body::Body;
use fakeserver::FakeServer;
use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::support::{Answer, Api, version};

const FINALIZER: &str = "example.com/hold";

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap()
}

/// Which object: one of three in each of two namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u8);

fn key() -> impl Strategy<Value = Key> {
    (0..6_u8).prop_map(Key)
}

// === impl Key ===

impl Key {
    fn namespace(self) -> &'static str {
        ["default", "kube-public"][usize::from(self.0 / 3)]
    }

    fn name(self) -> &'static str {
        ["a", "b", "c"][usize::from(self.0 % 3)]
    }

    fn collection(self) -> String {
        format!("/api/v1/namespaces/{}/configmaps", self.namespace())
    }

    fn path(self) -> String {
        format!("{}/{}", self.collection(), self.name())
    }
}

/// Which version a write says it is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    None,
    Present,
    Stale,
}

fn base() -> impl Strategy<Value = Base> {
    prop_oneof![Just(Base::None), Just(Base::Present), Just(Base::Stale)]
}

#[derive(Debug, Clone)]
enum Step {
    Create {
        key: Key,
        value: u8,
        has_finalizer: bool,
    },
    Update {
        key: Key,
        value: u8,
        base: Base,
    },
    Merge {
        key: Key,
        value: u8,
        base: Base,
    },
    /// Gives the finalizer up.
    Release {
        key: Key,
    },
    Delete {
        key: Key,
        base: Base,
    },
    Get {
        key: Key,
    },
    /// A write that is only tried.
    Try {
        key: Key,
        value: u8,
    },
    /// Of a namespace or of all, as it was.
    List {
        namespace: Option<Key>,
        at: Option<Index>,
    },
    Pages {
        limit: usize,
    },
    Watch {
        namespace: Option<Key>,
        from: Index,
    },
}

fn step() -> impl Strategy<Value = Step> {
    // Few values, so that some writes change nothing.
    let value = || 0..3_u8;
    prop_oneof![
        4 => (key(), value(), any::<bool>())
            .prop_map(|(key, value, has_finalizer)| Step::Create { key, value, has_finalizer }),
        3 => (key(), value(), base()).prop_map(|(key, value, base)| Step::Update { key, value, base }),
        3 => (key(), value(), base()).prop_map(|(key, value, base)| Step::Merge { key, value, base }),
        2 => key().prop_map(|key| Step::Release { key }),
        3 => (key(), base()).prop_map(|(key, base)| Step::Delete { key, base }),
        1 => key().prop_map(|key| Step::Get { key }),
        1 => (key(), value()).prop_map(|(key, value)| Step::Try { key, value }),
        2 => (proptest::option::of(key()), proptest::option::of(any::<Index>()))
            .prop_map(|(namespace, at)| Step::List { namespace, at }),
        1 => (1..4_usize).prop_map(|limit| Step::Pages { limit }),
        2 => (proptest::option::of(key()), any::<Index>())
            .prop_map(|(namespace, from)| Step::Watch { namespace, from }),
    ]
}

/// The model of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ModelObject {
    version: u64,
    value: u8,
    has_finalizer: bool,
    is_deleted: bool,
}

/// An object as a client sees it.
type ObjectView = (Key, u64, u8);
/// A change as a client sees it.
type Event = (String, ObjectView);

struct Model {
    /// The revision before the first step.
    first: u64,
    /// The state after each revision, from the first.
    states: Vec<BTreeMap<Key, ModelObject>>,
    /// The change that made each state but the first.
    log: Vec<Event>,
}

// === impl Model ===

impl Model {
    fn new(first: u64) -> Self {
        Self {
            first,
            states: vec![BTreeMap::new()],
            log: Vec::new(),
        }
    }

    fn revision(&self) -> u64 {
        self.first + self.log.len() as u64
    }

    fn get(&self, key: Key) -> Option<ModelObject> {
        self.states.last().unwrap().get(&key).copied()
    }

    /// The version that a write is to say, or a wrong one.
    fn based_on(&self, base: Base, key: Key) -> Option<u64> {
        let present = self.get(key).map_or(self.first, |held| held.version);
        match base {
            Base::None => None,
            Base::Present => Some(present),
            Base::Stale => Some(present - 1),
        }
    }

    /// The object under `key` is `after` from now on. What does not change it is no write.
    fn write(&mut self, key: Key, after: Option<ModelObject>) {
        let before = self.get(key);
        if before == after {
            return;
        }
        let version = self.revision() + 1;
        let mut state = self.states.last().unwrap().clone();
        let (kind, view) = match (before, after) {
            (None, Some(after)) => ("ADDED", after),
            (Some(_), Some(after)) => ("MODIFIED", after),
            (Some(before), None) => ("DELETED", before),
            (None, None) => unreachable!("nothing was equal to nothing"),
        };
        match after {
            Some(after) => state.insert(key, ModelObject { version, ..after }),
            None => state.remove(&key),
        };
        self.states.push(state);
        self.log.push((kind.to_owned(), (key, version, view.value)));
    }

    fn at(&self, revision: u64, namespace: Option<Key>) -> Vec<ObjectView> {
        let state = &self.states[usize::try_from(revision - self.first).unwrap()];
        let objects = state.iter().filter(|(key, _)| is_in(**key, namespace));
        objects
            .map(|(key, held)| (*key, held.version, held.value))
            .collect()
    }

    fn after(&self, revision: u64, namespace: Option<Key>) -> Vec<Event> {
        let events = self
            .log
            .iter()
            .skip(usize::try_from(revision - self.first).unwrap());
        events
            .filter(|(_, (key, ..))| is_in(*key, namespace))
            .cloned()
            .collect()
    }

    /// One of the revisions that there were.
    fn pick(&self, index: Index) -> u64 {
        self.first + index.index(self.states.len()) as u64
    }
}

fn is_in(key: Key, namespace: Option<Key>) -> bool {
    namespace.is_none_or(|namespace| namespace.namespace() == key.namespace())
}

fn collection(namespace: Option<Key>) -> String {
    namespace.map_or_else(|| "/api/v1/configmaps".to_owned(), Key::collection)
}

fn config_map(key: Key, value: u8, has_finalizer: bool, base: Option<u64>) -> Value {
    let mut object = json!({
        "metadata": {"name": key.name(), "namespace": key.namespace()},
        "data": {"value": value.to_string()},
    });
    if has_finalizer {
        object["metadata"]["finalizers"] = json!([FINALIZER]);
    }
    if let Some(base) = base {
        object["metadata"]["resourceVersion"] = json!(base.to_string());
    }
    object
}

fn view(object: &Value) -> ObjectView {
    let metadata = &object["metadata"];
    let is_it =
        |key: &Key| metadata["namespace"] == key.namespace() && metadata["name"] == key.name();
    let key = (0..6).map(Key).find(is_it).unwrap();
    let value = object["data"]["value"].as_str().unwrap();
    (key, version(object), value.parse().unwrap())
}

fn items(list: &Value) -> Vec<ObjectView> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(view).collect()
}

/// Sends the step, checks its answer, and takes it into the model.
async fn take(api: &Api, model: &mut Model, step: &Step) {
    match *step {
        Step::Create {
            key,
            value,
            has_finalizer,
        } => create(api, model, key, value, has_finalizer).await,
        Step::Update { key, value, base } => update(api, model, key, value, base).await,
        Step::Merge { key, value, base } => merge(api, model, key, value, base).await,
        Step::Release { key } => release(api, model, key).await,
        Step::Delete { key, base } => delete(api, model, key, base).await,
        Step::Get { key } => get(api, model, key).await,
        Step::Try { key, value } => create_dry(api, model, key, value).await,
        Step::List { namespace, at } => list(api, model, namespace, at).await,
        Step::Pages { limit } => pages(api, model, limit).await,
        Step::Watch { namespace, from } => {
            let from = model.pick(from);
            let events = watch(api, namespace, from).await;
            assert_eq!(events, model.after(from, namespace));
        }
    }
}

async fn update(api: &Api, model: &mut Model, key: Key, value: u8, base: Base) {
    let base = model.based_on(base, key);
    let held = model.get(key);
    let has_finalizer = held.is_some_and(|held| held.has_finalizer);
    let object = config_map(key, value, has_finalizer, base);
    let answer = api.put(&key.path(), &object).await;
    let after = held.map(|held| ModelObject { value, ..held });
    changed(model, key, base, after, &answer);
}

async fn merge(api: &Api, model: &mut Model, key: Key, value: u8, base: Base) {
    let base = model.based_on(base, key);
    let mut patch = json!({"data": {"value": value.to_string()}});
    if let Some(base) = base {
        patch["metadata"] = json!({"resourceVersion": base.to_string()});
    }
    let answer = api.merge(&key.path(), &patch).await;
    let after = model.get(key).map(|held| ModelObject { value, ..held });
    changed(model, key, base, after, &answer);
}

/// Removes the finalizer, which ends an object that is deleted already.
async fn release(api: &Api, model: &mut Model, key: Key) {
    let patch = json!({"metadata": {"finalizers": null}});
    let answer = api.merge(&key.path(), &patch).await;
    match model.get(key) {
        Some(held) if held.is_deleted => {
            assert_eq!(answer.code, 200, "{answer:?}");
            model.write(key, None);
        }
        held => {
            let after = held.map(|held| ModelObject {
                has_finalizer: false,
                ..held
            });
            changed(model, key, None, after, &answer);
        }
    }
}

async fn get(api: &Api, model: &Model, key: Key) {
    let answer = api.get(&key.path()).await;
    match model.get(key) {
        Some(held) => assert_eq!(view(&answer.ok()), (key, held.version, held.value)),
        None => drop(answer.refused(404)),
    }
}

/// Creates an object in a dry run, which changes nothing.
async fn create_dry(api: &Api, model: &Model, key: Key, value: u8) {
    let path = format!("{}?dryRun=All", key.collection());
    let answer = api.post(&path, &config_map(key, value, false, None)).await;
    let code = if model.get(key).is_some() { 409 } else { 201 };
    assert_eq!(answer.code, code, "{answer:?}");
}

/// Lists the objects of now, or of an earlier revision.
async fn list(api: &Api, model: &Model, namespace: Option<Key>, at: Option<Index>) {
    let at = at.map(|at| model.pick(at));
    let query = at.map_or_else(String::new, |at| {
        format!("?resourceVersion={at}&resourceVersionMatch=Exact")
    });
    let path = format!("{}{query}", collection(namespace));
    let list = api.get(&path).await.ok();
    let at = at.unwrap_or_else(|| model.revision());
    assert_eq!(version(&list), at);
    assert_eq!(items(&list), model.at(at, namespace));
}

async fn create(api: &Api, model: &mut Model, key: Key, value: u8, has_finalizer: bool) {
    let object = config_map(key, value, has_finalizer, None);
    let answer = api.post(&key.collection(), &object).await;
    if let Some(held) = model.get(key) {
        let message = answer.refused(409);
        assert_eq!(
            message.starts_with("object is being deleted"),
            held.is_deleted
        );
        return;
    }
    let held = ModelObject {
        version: 0,
        value,
        has_finalizer,
        is_deleted: false,
    };
    model.write(key, Some(held));
    assert_eq!(view(&answer.created()), (key, model.revision(), value));
}

/// The answer to a write that makes the object `after`, if it is there, and if `base` is its version.
fn changed(
    model: &mut Model,
    key: Key,
    base: Option<u64>,
    after: Option<ModelObject>,
    answer: &Answer,
) {
    let (Some(held), Some(after)) = (model.get(key), after) else {
        assert_eq!(answer.code, 404, "{answer:?}");
        return;
    };
    if base.is_some_and(|base| base != held.version) {
        assert_eq!(answer.code, 409, "{answer:?}");
        assert_eq!(answer.json()["reason"], "Conflict");
        return;
    }
    model.write(key, Some(after));
    assert_eq!(answer.code, 200, "{answer:?}");
    let version = model.get(key).unwrap().version;
    assert_eq!(view(&answer.json()), (key, version, after.value));
}

async fn delete(api: &Api, model: &mut Model, key: Key, base: Base) {
    let base = model.based_on(base, key);
    let options = base.map_or_else(
        || json!({}),
        |base| json!({"preconditions": {"resourceVersion": base.to_string()}}),
    );
    let answer = api.delete_with(&key.path(), &options).await;
    match model.get(key) {
        None => assert_eq!(answer.code, 404, "{answer:?}"),
        Some(held) if base.is_some_and(|base| base != held.version) => {
            assert_eq!(answer.code, 409, "{answer:?}");
        }
        Some(held) => {
            assert_eq!(answer.code, 200, "{answer:?}");
            let kept = held.has_finalizer.then_some(ModelObject {
                is_deleted: true,
                ..held
            });
            model.write(key, kept);
        }
    }
}

/// All pages of a list, which are of one state.
async fn pages(api: &Api, model: &Model, limit: usize) {
    let mut found = Vec::new();
    let mut token = String::new();
    loop {
        let path = format!("/api/v1/configmaps?limit={limit}&continue={token}");
        let page = api.get(&path).await.ok();
        assert_eq!(version(&page), model.revision());
        let items = items(&page);
        assert!(items.len() <= limit);
        found.extend(items);
        match page["metadata"]["continue"].as_str() {
            Some(next) if !next.is_empty() => next.clone_into(&mut token),
            _ => break,
        }
    }
    assert_eq!(found, model.at(model.revision(), None));
}

async fn watch(api: &Api, namespace: Option<Key>, from: u64) -> Vec<Event> {
    let path = format!(
        "{}?watch=1&resourceVersion={from}&timeoutSeconds=1",
        collection(namespace)
    );
    let answer = api.get(&path).await;
    let frames = answer.text.lines().map(|line| {
        let frame: Value = serde_json::from_str(line).unwrap();
        let kind = frame["type"].as_str().unwrap().to_owned();
        (kind, view(&frame["object"]))
    });
    frames.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn the_api_agrees_with_a_map_and_a_log(steps in proptest::collection::vec(step(), 1..60)) {
        runtime().block_on(async {
            // No other config map is there, and no controller creates one.
            let server = FakeServer::builder().with_bootstrap(false).build();
            let api = Api { server };
            for key in [Key(0), Key(3)] {
                let namespace = json!({"metadata": {"name": key.namespace()}});
                api.post("/api/v1/namespaces", &namespace).await.created();
            }
            let mut model = Model::new(api.server.revision());
            for step in &steps {
                take(&api, &mut model, step).await;
                assert_eq!(api.server.revision(), model.revision(), "{step:?}");
            }
            let all = watch(&api, None, model.first).await;
            assert_eq!(all, model.log, "nothing was missed");
        });
    }
}

/// A request of one of several clients.
#[derive(Debug, Clone)]
enum Attempt {
    Create(Key),
    /// Reads, and writes what it has read, with another value.
    Increment(Key),
    Merge(Key, u8),
    Delete(Key),
    Get(Key),
}

fn attempt() -> impl Strategy<Value = Attempt> {
    // Two keys, so that clients meet.
    let key = || (0..2_u8).prop_map(Key);
    prop_oneof![
        3 => key().prop_map(Attempt::Create),
        4 => key().prop_map(Attempt::Increment),
        2 => (key(), any::<u8>()).prop_map(|(key, value)| Attempt::Merge(key, value)),
        2 => key().prop_map(Attempt::Delete),
        2 => key().prop_map(Attempt::Get),
    ]
}

/// Attempts of one client, each with the time before it and the time that its body takes, in milliseconds.
fn client() -> impl Strategy<Value = Vec<(Attempt, u64, u64)>> {
    proptest::collection::vec((attempt(), 0..4_u64, 0..4_u64), 1..12)
}

/// The outcome of one request, and the revisions between which it was.
#[derive(Debug)]
struct Outcome {
    key: Key,
    what: Operation,
    code: u16,
    /// The version in the answer, if it shows the object.
    version: Option<u64>,
    /// The revision when it was sent, and when it was answered.
    window: (u64, u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Create,
    Update { base: u64 },
    Merge,
    Delete,
    Get,
}

/// A body that comes in two parts, the second some time after the first.
fn slow(body: &str, millis: u64) -> Body {
    let middle = body.len() / 2;
    let (first, second) = (body[..middle].to_owned(), body[middle..].to_owned());
    let parts = futures::stream::unfold(0, move |part| {
        let (first, second) = (first.clone(), second.clone());
        async move {
            match part {
                0 => Some((Ok::<_, std::io::Error>(first), 1)),
                1 => {
                    tokio::time::sleep(std::time::Duration::from_millis(millis)).await;
                    Some((Ok(second), 2))
                }
                _ => None,
            }
        }
    });
    Body::from_stream(parts)
}

/// Runs `attempt`, and appends the outcome of each of its requests.
async fn attempt_it(api: &Api, attempt: &Attempt, millis: u64, outcomes: &mut Vec<Outcome>) {
    let (key, what, method, path, body) = match *attempt {
        Attempt::Create(key) => {
            let object = config_map(key, 0, false, None).to_string();
            (key, Operation::Create, "POST", key.collection(), object)
        }
        Attempt::Merge(key, value) => {
            let patch = json!({"data": {"value": value.to_string()}}).to_string();
            (key, Operation::Merge, "PATCH", key.path(), patch)
        }
        Attempt::Delete(key) => (
            key,
            Operation::Delete,
            "DELETE",
            key.path(),
            "{}".to_owned(),
        ),
        Attempt::Get(key) | Attempt::Increment(key) => {
            (key, Operation::Get, "GET", key.path(), String::new())
        }
    };
    let merge = [("content-type", "application/merge-patch+json")];
    let headers: &[_] = if what == Operation::Merge {
        &merge
    } else {
        &[]
    };
    let answer = observed(api, key, what, outcomes, async {
        api.send(method, &path, headers, slow(&body, millis)).await
    });
    let answer = answer.await;
    if matches!(attempt, Attempt::Increment(_)) && answer.code == 200 {
        let mut object = answer.json();
        let base = version(&object);
        let value = view(&object).2.wrapping_add(1);
        object["data"]["value"] = json!(value.to_string());
        let what = Operation::Update { base };
        observed(api, key, what, outcomes, async {
            api.send("PUT", &path, &[], slow(&object.to_string(), millis))
                .await
        })
        .await;
    }
}

async fn observed(
    api: &Api,
    key: Key,
    what: Operation,
    outcomes: &mut Vec<Outcome>,
    send: impl Future<Output = Answer>,
) -> Answer {
    let sent_at = api.server.revision();
    let answer = send.await;
    let is_object = answer.code.is_success() && answer.json()["kind"] == "ConfigMap";
    outcomes.push(Outcome {
        key,
        what,
        code: answer.code.as_u16(),
        version: is_object.then(|| version(&answer.json())),
        window: (sent_at, api.server.revision()),
    });
    answer
}

/// The version of each object after each revision, as the server's own history has it.
struct History {
    first: u64,
    states: Vec<BTreeMap<Key, u64>>,
}

// === impl History ===

impl History {
    fn of(api: &Api, first: u64) -> Self {
        let mut states = vec![BTreeMap::new()];
        for (index, change) in api
            .server
            .history("", "v1", "configmaps", first)
            .iter()
            .enumerate()
        {
            assert_eq!(
                change.revision(),
                first + index as u64 + 1,
                "each write takes the next"
            );
            let subject = change.after().or_else(|| change.before()).unwrap();
            let key = (0..6).map(Key).find(|key| key.name() == subject.name());
            let key = key.unwrap();
            let mut state: BTreeMap<Key, u64> = states.last().unwrap().clone();
            match change.after() {
                Some(after) => state.insert(key, after.revision()),
                None => state.remove(&key),
            };
            states.push(state);
        }
        Self { first, states }
    }

    fn version(&self, key: Key, revision: u64) -> Option<u64> {
        let state = &self.states[usize::try_from(revision - self.first).unwrap()];
        state.get(&key).copied()
    }

    /// Returns whether the outcome was right at some moment while the request was under way. The revision that it wrote
    /// is that moment, if it wrote one.
    fn explains(&self, outcome: &Outcome) -> Option<u64> {
        let Outcome {
            key,
            what,
            code,
            version,
            window,
        } = *outcome;
        let at = |revision| self.version(key, revision);
        let is_read = |revision: &u64| match (what, code) {
            (Operation::Get | Operation::Update { .. } | Operation::Merge, 200) => {
                at(*revision) == version
            }
            (Operation::Create, 409) => at(*revision).is_some(),
            (Operation::Update { base }, 409) => at(*revision).is_some_and(|found| found != base),
            (_, 404) => at(*revision).is_none(),
            _ => false,
        };
        let is_write = |revision: &u64| {
            let (before, after) = (at(revision - 1), at(*revision));
            let is_own = after == Some(*revision) && version == Some(*revision);
            match (what, code) {
                (Operation::Create, 201) => before.is_none() && is_own,
                (Operation::Update { base }, 200) => before == Some(base) && is_own,
                (Operation::Merge, 200) => before.is_some() && is_own,
                (Operation::Delete, 200) => before.is_some() && after.is_none(),
                _ => false,
            }
        };
        let written = (window.0 + 1..=window.1).find(is_write);
        written.or_else(|| (window.0..=window.1).find(is_read))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn requests_at_once_are_requests_in_some_order(clients in proptest::collection::vec(client(), 2..5)) {
        runtime().block_on(async {
            let api = &Api::new();
            let first = api.server.revision();
            let runs = clients.iter().map(|attempts| async move {
                let mut outcomes = Vec::new();
                for (attempt, before, during) in attempts {
                    tokio::time::sleep(std::time::Duration::from_millis(*before)).await;
                    attempt_it(api, attempt, *during, &mut outcomes).await;
                }
                outcomes
            });
            let outcomes: Vec<Outcome> = futures::future::join_all(runs).await.into_iter().flatten().collect();
            let history = History::of(api, first);
            for outcome in &outcomes {
                assert!(history.explains(outcome).is_some(), "{outcome:?}");
            }
            // Every write was acknowledged to one client, exactly once.
            let acknowledged = outcomes.iter().filter_map(|outcome| match outcome.what {
                Operation::Delete | Operation::Get => None,
                _ => outcome.version.filter(|version| *version > outcome.window.0),
            });
            let mut acknowledged: Vec<u64> = acknowledged.collect();
            acknowledged.sort_unstable();
            acknowledged.dedup();
            let deletes = outcomes.iter().filter(|outcome| outcome.what == Operation::Delete && outcome.code == 200);
            assert_eq!(acknowledged.len() + deletes.count(), history.states.len() - 1);
        });
    }
}
