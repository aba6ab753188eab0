//! The store against a model: one map for each revision.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc, time::Duration};

use fakeserver_value::{object::Pairs, resource::GroupResource, revision::Revision};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::{Instant, advance, timeout};

use super::{
    continue_token::{ContinueToken, ContinueTokenError},
    *,
};

struct NoSink;

impl ChangeSink for NoSink {
    fn changed(&self, _: &Arc<Change>) {}
    fn reset(&self) {}
}

fn storage(compaction: Compaction) -> Storage {
    Storage::new(
        compaction,
        Box::new(|_: &_, _: &_| Pairs::default()),
        Arc::new(NoSink),
    )
}

fn pods() -> GroupResource {
    GroupResource::new("", "pods")
}

fn key(resource: &GroupResource, number: u8) -> ObjectKey {
    // Namespaces of which one is a prefix of the other, and names whose order depends on the separator.
    let namespace = ["a", "a-b", "a0", "b"][usize::from(number % 4)];
    ObjectKey::namespaced(resource.clone(), namespace, &format!("o{}", number / 4))
}

fn object(key: &ObjectKey, value: u32) -> Value {
    json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": key.name(), "namespace": key.namespace(), "uid": format!("u{value}")},
        "spec": {"value": value},
    })
}

fn put(storage: &Storage, key: &ObjectKey, value: u32) -> Arc<StoredObject> {
    let stored: Result<_, Infallible> = storage.transact(|tx| Ok(tx.put(key, object(key, value))));
    let Ok(stored) = stored;
    stored
}

fn delete(storage: &Storage, key: &ObjectKey) -> Option<Arc<StoredObject>> {
    let deleted: Result<_, Infallible> = storage.transact(|tx| Ok(tx.delete(key)));
    let Ok(deleted) = deleted;
    deleted
}

/// Path to (version, value) of the objects in a snapshot.
type ObjectVersions = BTreeMap<String, (u64, u64)>;

fn versions<'a>(objects: impl Iterator<Item = &'a Arc<StoredObject>>) -> ObjectVersions {
    objects
        .map(|object| {
            let value = object.to_value();
            let version = value["metadata"]["resourceVersion"].as_str().unwrap();
            assert_eq!(version, object.revision().to_string());
            (
                object.key().path().to_string(),
                (object.revision(), value["spec"]["value"].as_u64().unwrap()),
            )
        })
        .collect()
}

#[derive(Debug, Clone)]
enum Step {
    /// Some writes at once: a key, and a value or a deletion.
    Write(Vec<(bool, u8, Option<u32>)>),
    /// The same, but it fails in the end.
    Fail(Vec<(u8, Option<u32>)>),
    Compact,
    Expire,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let write = (
        any::<bool>(),
        0..24_u8,
        prop::option::weighted(0.7, 0..1_000_u32),
    );
    let step = prop_oneof![
        12 => prop::collection::vec(write, 1..4).prop_map(Step::Write),
        2 => prop::collection::vec((0..24_u8, prop::option::of(0..1_000_u32)), 1..4).prop_map(Step::Fail),
        1 => Just(Step::Compact),
        1 => Just(Step::Expire),
    ];
    prop::collection::vec(step, 0..60)
}

/// The expected contents of a store: the state at each revision, and the first revision that may be read.
struct Model {
    states: Vec<(ObjectVersions, ObjectVersions)>,
    compacted: u64,
    expired: u64,
}

impl Model {
    fn new() -> Self {
        Self {
            states: vec![Default::default(); 2],
            compacted: 0,
            expired: 0,
        }
    }

    fn revision(&self) -> u64 {
        self.states.len() as u64 - 1
    }

    fn write(&mut self, first: bool, path: String, value: Option<u32>) {
        let mut state = self.states.last().unwrap().clone();
        let table = if first { &mut state.0 } else { &mut state.1 };
        let next = self.revision() + 1;
        match value {
            Some(value) => {
                table.insert(path, (next, value.into()));
            }
            None if table.remove(&path).is_none() => return,
            None => {}
        }
        self.states.push(state);
    }

    fn check(&self, storage: &Storage, resources: [&GroupResource; 2]) {
        storage.view(|view| {
            assert_eq!(view.revision().get(), self.revision());
            for revision in 0..=self.revision() + 1 {
                for (number, resource) in resources.into_iter().enumerate() {
                    let at = view.snapshot_at(resource, Revision::new(revision));
                    if revision > self.revision() {
                        let current = Revision::new(self.revision());
                        assert!(
                            matches!(at, Err(HistoryError::Future { current: c }) if c == current)
                        );
                    } else if revision < self.compacted {
                        assert!(matches!(at, Err(HistoryError::Compacted)));
                    } else {
                        let expected = self.state(revision, number);
                        let snapshot = at.unwrap();
                        assert_eq!(&versions(snapshot.objects(&Range::All, None)), expected);
                        Self::check_ranges(&snapshot, expected);
                    }
                    self.check_changes(view, resource, number, revision);
                }
            }
        });
    }

    /// Checks the ranges of namespaces from several start paths.
    fn check_ranges(snapshot: &Snapshot, expected: &ObjectVersions) {
        for namespace in ["a", "a-b", "a0", "b", "none"] {
            let prefix = format!("{namespace}/");
            for start in ["", "a", "a-b/o2", "a/o1", "a/o1\0", "a0", "b/", "zz"] {
                let range = Range::of(Some(namespace));
                let part: ObjectVersions = expected
                    .iter()
                    .filter(|(path, _)| path.starts_with(&prefix) && path.as_str() >= start)
                    .map(|(path, value)| (path.clone(), *value))
                    .collect();
                assert_eq!(versions(snapshot.objects(&range, Some(start))), part);
            }
        }
    }

    /// The changes since `revision`, applied to the state then, make the state now.
    fn check_changes(
        &self,
        view: View<'_>,
        resource: &GroupResource,
        number: usize,
        revision: u64,
    ) {
        let changes = view.changes_since(resource, &Range::All, Revision::new(revision));
        if revision < self.expired {
            let oldest = Revision::new(self.expired);
            assert_eq!(changes.unwrap_err(), RevisionTooOld { oldest });
            return;
        }
        let mut state = self.state(revision.min(self.revision()), number).clone();
        let mut last = revision;
        for change in changes.unwrap() {
            assert!(change.revision() > last, "changes come in order");
            last = change.revision();
            let before = state.remove(&**change.key().path());
            assert_eq!(
                before.map(|(version, _)| version),
                change.before().map(|b| b.revision())
            );
            state.extend(versions(change.after().into_iter()));
        }
        assert_eq!(&state, self.state(self.revision(), number));
    }

    fn state(&self, revision: u64, number: usize) -> &ObjectVersions {
        let (first, second) = &self.states[usize::try_from(revision).unwrap()];
        if number == 0 { first } else { second }
    }
}

proptest! {
    #[test]
    fn every_state_that_is_not_forgotten_can_be_read_exactly(steps in steps()) {
        let storage = storage(Compaction::default());
        let second = GroupResource::new("apps", "deployments");
        let mut model = Model::new();
        for step in steps {
            match step {
                Step::Write(writes) => {
                    let done: Result<(), Infallible> = storage.transact(|tx| {
                        for (first, number, value) in &writes {
                            let key = key(if *first { &FIRST } else { &second }, *number);
                            match value {
                                Some(value) => drop(tx.put(&key, object(&key, *value))),
                                None => drop(tx.delete(&key)),
                            }
                            model.write(*first, key.path().to_string(), *value);
                            // Its own writes are seen at once.
                            assert_eq!(tx.revision(), model.revision());
                            let listed = tx.list(key.resource(), None);
                            assert_eq!(&versions(listed.iter()), model.state(model.revision(), usize::from(!first)));
                            assert_eq!(tx.get(&key).is_some(), value.is_some());
                        }
                        Ok(())
                    });
                    prop_assert!(done.is_ok());
                }
                Step::Fail(writes) => {
                    let failed: Result<(), &str> = storage.transact(|tx| {
                        for (number, value) in &writes {
                            let key = key(&FIRST, *number);
                            match value {
                                Some(value) => drop(tx.put(&key, object(&key, *value))),
                                None => drop(tx.delete(&key)),
                            }
                        }
                        Err("no")
                    });
                    prop_assert!(failed.is_err());
                }
                Step::Compact => {
                    storage.compact();
                    model.compacted = model.revision();
                }
                Step::Expire => {
                    storage.expire();
                    model.compacted = model.revision();
                    model.expired = model.revision();
                }
            }
        }
        model.check(&storage, [&FIRST, &second]);
    }
}

static FIRST: std::sync::LazyLock<GroupResource> = std::sync::LazyLock::new(pods);

#[test]
fn a_snapshot_does_not_change_by_later_writes() {
    let storage = storage(Compaction::default());
    for number in 0..8 {
        put(&storage, &key(&pods(), number), 1);
    }
    let snapshot = storage.view(|view| view.snapshot(&pods()));
    let mut walk = snapshot.objects(&Range::All, None);
    let first = walk.next().unwrap();
    for number in 0..8 {
        delete(&storage, &key(&pods(), number));
    }
    storage.expire();
    assert_eq!(&**first.key().path(), "a-b/o0", "'-' comes before '/'");
    assert_eq!(walk.count(), 7);
}

#[test]
fn objects_are_stored_without_kind_and_with_their_version_found() {
    let storage = storage(Compaction::default());
    let key = ObjectKey::cluster(GroupResource::new("", "nodes"), "n");
    let mut node = object(&key, 1);
    node["metadata"]["labels"] = json!({"b": "2", "a": "1"});
    node["metadata"]["custom"] = json!("\"resourceVersion\":\"9\"");
    node["metadata"]["resourceVersion"] = json!("77");
    let stored: Result<_, Infallible> = storage.transact(|tx| Ok(tx.put(&key, node)));
    let Ok(stored) = stored;

    let [head, version, tail] = stored.around_version();
    assert_eq!(&*version, b"2");
    assert_eq!([head, version, tail].concat(), *stored.json());
    let [head, version, tail] = stored.metadata_around_version();
    assert_eq!(&*version, b"2");
    assert_eq!([head, version, tail].concat(), *stored.metadata_json());
    let metadata: Value = serde_json::from_slice(&stored.metadata_json()).unwrap();
    let value = stored.to_value();
    assert_eq!(metadata, value["metadata"]);
    assert_eq!(metadata["resourceVersion"], "2");
    assert_eq!(value.get("kind"), None);
    assert_eq!(value.get("apiVersion"), None);
    assert_eq!(stored.namespace(), None);
    assert_eq!(stored.name(), "n");
    assert_eq!(&stored.labels()["a"], "1");
}

#[test]
fn a_transaction_that_panics_changes_nothing() {
    let storage = storage(Compaction::default());
    put(&storage, &key(&pods(), 0), 1);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _: Result<(), Infallible> = storage.transact(|tx| {
            tx.put(&key(&pods(), 1), object(&key(&pods(), 1), 2));
            panic!("in the middle of a write")
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(storage.revision().get(), 2);
    assert_eq!(put(&storage, &key(&pods(), 1), 2).revision(), 3);
}

#[tokio::test(start_paused = true)]
async fn history_is_forgotten_when_it_is_old() {
    let age = Duration::from_mins(5);
    let storage = storage(Compaction {
        age: Some(age),
        bytes: None,
    });
    let at = |revision| {
        storage.view(|view| {
            view.snapshot_at(&pods(), Revision::new(revision))
                .map(|_| ())
        })
    };
    let since = |revision| {
        storage.view(|view| {
            view.changes_since(&pods(), &Range::All, Revision::new(revision))
                .map(|c| c.len())
        })
    };
    put(&storage, &key(&pods(), 0), 1);
    advance(age / 2).await;
    put(&storage, &key(&pods(), 0), 2);
    advance((age / 2).saturating_sub(Duration::from_secs(1))).await;
    assert_eq!((at(1), at(2), at(3)), (Ok(()), Ok(()), Ok(())));
    assert_eq!(since(1), Ok(2));

    advance(Duration::from_secs(1)).await;
    // Revision 1 was superseded five minutes ago; 2 was not.
    assert_eq!(
        (at(1), at(2), at(3)),
        (Err(HistoryError::Compacted), Ok(()), Ok(()))
    );
    assert_eq!(
        since(1),
        Err(RevisionTooOld {
            oldest: Revision::new(2)
        })
    );
    assert_eq!(since(2), Ok(1));

    advance(age).await;
    assert_eq!((at(2), at(3)), (Err(HistoryError::Compacted), Ok(())));
}

#[test]
fn history_is_forgotten_when_it_is_large() {
    let storage = storage(Compaction {
        age: None,
        bytes: Some(64 << 10),
    });
    for value in 0..1_000 {
        put(&storage, &key(&pods(), 0), value);
    }
    let kept = storage.view(|view| view.log(&pods(), &Range::All, Revision::default()).len());
    assert!(
        (100..170).contains(&kept),
        "kept {kept} changes of about half a KiB"
    );
    let present = storage.view(|view| view.snapshot(&pods()).objects(&Range::All, None).count());
    assert_eq!(present, 1, "what is present is never forgotten");
}

#[test]
fn superseded_versions_are_compressed_and_unchanged() {
    let storage = storage(Compaction::default());
    // Each write has its own revision as its value; the first is 2.
    for revision in 2..=1_000 {
        put(&storage, &key(&pods(), (revision % 5) as u8), revision);
    }
    for revision in (6..=1_000).step_by(37).chain([999, 1_000]) {
        let then = storage.view(|view| view.snapshot_at(&pods(), Revision::new(revision)));
        let read = versions(then.unwrap().objects(&Range::All, None));
        let mut read: Vec<(u64, u64)> = read.into_values().collect();
        read.sort_unstable();
        let expected: Vec<_> = (revision - 4..=revision).map(|of| (of, of)).collect();
        assert_eq!(read, expected, "at {revision}");
    }
    let changes = storage.view(|view| view.log(&pods(), &Range::All, Revision::default()));
    let plain = |changes: &[Arc<Change>]| {
        let before = changes.iter().filter_map(|change| change.before());
        before.filter(|before| before.plain_bytes() > 0).count()
    };
    let (old, recent) = changes[200..].split_at(changes.len() - 200 - 8);
    assert_eq!((plain(old), plain(recent)), (0, 8));
}

#[test]
fn cold_objects_are_compressed_above_a_limit() {
    let storage = storage(Compaction::default());
    let keys: Vec<ObjectKey> = (0..2_000)
        .map(|number| ObjectKey::cluster(pods(), &format!("o{number:04}")))
        .collect();
    // Each write has its own revision as its value; the first is 2.
    for (key, revision) in keys.iter().zip(2..) {
        put(&storage, key, revision);
    }
    let plain_bytes = || {
        let present = storage.view(|view| view.snapshot(&pods()));
        let bytes = present.objects(&Range::All, None);
        bytes.map(|object| object.plain_bytes()).sum::<usize>()
    };
    assert!(
        plain_bytes() <= 65 << 10,
        "{} bytes are as they were",
        plain_bytes()
    );
    let at = |revision: u64| {
        let then = storage.view(|view| view.snapshot_at(&pods(), Revision::new(revision)));
        versions(then.unwrap().objects(&Range::All, None))
    };
    let all = at(2_001);
    assert!(
        all.values()
            .zip(2..)
            .all(|(version, revision)| *version == (revision, revision))
    );

    storage.roll_back(500);
    assert_eq!(at(1_501), all.into_iter().take(1_500).collect());
    for (key, value) in keys.iter().zip(5_000..) {
        put(&storage, key, value);
    }
    assert!(
        plain_bytes() <= 65 << 10,
        "{} bytes are as they were",
        plain_bytes()
    );
    assert_eq!(at(3_501)["o0000"], (1_502, 5_000));
}

#[test]
fn a_store_that_compresses_follows_one_that_does_not() {
    let leader = storage(Compaction::default());
    let follower = storage(Compaction::default());
    follower.compress();
    let keys: Vec<ObjectKey> = (0..400)
        .map(|number| ObjectKey::cluster(pods(), &format!("o{number:03}")))
        .collect();
    let write = |value: u32| {
        for key in &keys {
            put(&leader, key, value);
        }
    };
    write(1);
    let present = leader.view(|view| view.snapshot(&pods()));
    let restored = present.objects(&Range::All, None).map(|object| {
        let revision = Revision::new(object.revision());
        (object.key().clone(), revision, object.to_value())
    });
    let then = leader.revision();
    follower.restore(then, restored.collect());
    write(2);
    for key in &keys[..100] {
        delete(&leader, key);
    }
    let changes = leader.view(|view| view.log(&pods(), &Range::All, then));
    assert_eq!(follower.follow(changes), leader.revision());
    let state = |storage: &Storage| {
        let present = storage.view(|view| view.snapshot(&pods()));
        versions(present.objects(&Range::All, None))
    };
    assert_eq!(state(&follower), state(&leader));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_revision_ends_with_it_or_with_the_limit() {
    let storage = Arc::new(storage(Compaction::default()));
    let limit = Duration::from_secs(3);
    assert_eq!(storage.reach(Revision::new(1), limit).await, Ok(()));
    assert_eq!(
        storage.reach(Revision::new(2), limit).await,
        Err(Revision::new(1))
    );

    let waits = storage.reach(Revision::new(3), limit);
    let writes = async {
        put(&storage, &key(&pods(), 0), 1);
        tokio::task::yield_now().await;
        put(&storage, &key(&pods(), 0), 2);
    };
    let (reached, ()) = timeout(Duration::from_millis(1), async {
        tokio::join!(waits, writes)
    })
    .await
    .expect("it ends with the write, without time passing");
    assert_eq!(reached, Ok(()));
}

#[test]
fn continue_tokens_are_the_apis() {
    let token = ContinueToken::after("cm2", Some(Revision::new(215)));
    let text = token.encode();
    // {"v":"meta.k8s.io/v1","rv":215,"start":"/cm2\u0000"}
    assert_eq!(
        text,
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MjE1LCJzdGFydCI6Ii9jbTJcdTAwMDAifQ"
    );
    assert_eq!(ContinueToken::decode(&text), Ok(token));
    let latest = ContinueToken::after("ns/cm2", None);
    assert_eq!(ContinueToken::decode(&latest.encode()), Ok(latest));
}

#[test]
fn bad_continue_tokens_are_refused_with_the_apis_words() {
    fn check(token: &str, expected: &str) {
        let error: ContinueTokenError = ContinueToken::decode(token).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("continue key is not valid{expected}"),
            "{token}"
        );
    }
    fn check_json(json: &str, expected: &str) {
        use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
        check(&URL_SAFE_NO_PAD.encode(json), expected);
    }
    check("!", ": illegal base64 data at input byte 0");
    check("eyJ2=", ": illegal base64 data at input byte 4");
    check(
        "garbage",
        r": invalid character '\u0081' looking for beginning of value",
    );
    check("", ": unexpected end of JSON input");
    check_json(
        r#"{"v":"meta.k8s.io/v2","rv":1,"start":"/a"}"#,
        ": server does not recognize this encoded version meta.k8s.io/v2",
    );
    check_json(
        r#"{"v":"meta.k8s.io/v1","start":"/a"}"#,
        ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    );
    check_json(
        r#"{"v":"meta.k8s.io/v1","rv":5}"#,
        ": encoded start key empty (version meta.k8s.io/v1)",
    );
    check_json(
        r#"{"v":"meta.k8s.io/v1","rv":5,"start":"/../kube-system/a"}"#,
        ": /../kube-system/a",
    );
    check_json(r#"{"v":"meta.k8s.io/v1","rv":5,"start":"//a"}"#, ": //a");
}

/// Writes of some keys, as [`Step::Write`] has them, to one resource.
type Writes = Vec<(u8, Option<u32>)>;

fn writes() -> impl Strategy<Value = Writes> {
    prop::collection::vec((0..12_u8, prop::option::weighted(0.7, 0..1_000_u32)), 0..4)
}

fn write_all(tx: &mut Transaction<'_>, writes: &Writes) {
    for (number, value) in writes {
        let key = key(&pods(), *number);
        match value {
            Some(value) => drop(tx.put(&key, object(&key, *value))),
            None => drop(tx.delete(&key)),
        }
    }
}

fn transact(storage: &Storage, writes: &Writes) {
    let Ok(()) = storage.transact(|tx| {
        write_all(tx, writes);
        Ok::<_, Infallible>(())
    });
}

proptest! {
    #[test]
    fn an_optimistic_write_is_serializable_or_not_committed(
        before in writes(),
        reads in prop::collection::vec(0..12_u8, 0..4),
        (lists, asks_revision) in (any::<bool>(), any::<bool>()),
        others in writes(),
        own in writes(),
        compresses in any::<bool>(),
    ) {
        let stores = [(); 2].map(|()| {
            let storage = storage(Compaction::default());
            if compresses {
                storage.compress();
            }
            transact(&storage, &before);
            storage
        });
        let [open, locked] = &stores;
        let begun = open.revision();
        let keys: Vec<ObjectKey> = reads.iter().map(|number| key(&pods(), *number)).collect();
        let was_read: Vec<_> = keys.iter().map(|key| open.peek(|view| view.get(key).cloned())).collect();
        let done = open.transact_optimistically(|tx| {
            let read_all = |tx: &Transaction<'_>| versions(keys.iter().filter_map(|key| tx.get(key)).collect::<Vec<_>>().iter());
            let read = read_all(tx);
            let listed = if lists { tx.list(&pods(), None) } else { Vec::new() };
            let revision = if asks_revision { tx.revision() } else { 0 };
            transact(open, &others);
            prop_assert_eq!(read_all(tx), read);
            prop_assert!(!lists || versions(tx.list(&pods(), None).iter()) == versions(listed.iter()));
            write_all(tx, &own);
            Ok::<_, TestCaseError>(revision)
        });
        transact(locked, &others);
        let others_wrote = locked.revision() > begun;
        let is_read = keys.iter().zip(&was_read).all(|(key, read)| {
            let found = locked.peek(|view| view.get(key).cloned());
            found.map(|found| found.revision()) == read.as_ref().map(|read| read.revision())
        });
        match done {
            Ok((_, changes)) => {
                prop_assert!(is_read && !(asks_revision && others_wrote), "what was read has changed");
                let revisions = (locked.revision().get() + 1..).take(changes.len());
                prop_assert!(changes.iter().map(|change| change.revision()).eq(revisions));
                transact(locked, &own);
            }
            Err(OptimisticError::Rejected(failed)) => return Err(failed),
            Err(OptimisticError::Conflict) => prop_assert!(others_wrote && (lists || asks_revision || !is_read), "nothing was in its way"),
        }
        prop_assert_eq!(open.revision(), locked.revision());
        let log = |storage: &Storage| storage.peek(|view| view.log(&pods(), &Range::All, Revision::default()));
        for (ours, theirs) in log(open).iter().zip(&log(locked)) {
            prop_assert_eq!(ours.revision(), theirs.revision());
            for (ours, theirs) in [(ours.before(), theirs.before()), (ours.after(), theirs.after())] {
                prop_assert_eq!(ours.map(|object| object.json()), theirs.map(|object| object.json()));
                prop_assert_eq!(ours.map(|object| object.places()), theirs.map(|object| object.places()));
            }
        }
        for revision in (1..=locked.revision().get()).map(Revision::new) {
            let at = |storage: &Storage| {
                storage.peek(|view| versions(view.snapshot_at(&pods(), revision).unwrap().objects(&Range::All, None)))
            };
            prop_assert_eq!(at(open), at(locked));
        }
    }
}

#[test]
fn concurrent_optimistic_writers_lose_no_write() {
    const WRITERS: u32 = 4;
    const WRITES: u32 = 200;
    let storage = storage(Compaction::default());
    let counter = key(&pods(), 0);
    put(&storage, &counter, 0);
    let add = |tx: &mut Transaction<'_>| {
        let value = tx.get(&counter).unwrap().to_value()["spec"]["value"]
            .as_u64()
            .unwrap();
        tx.put(
            &counter,
            object(&counter, u32::try_from(value).unwrap() + 1),
        );
        Ok::<_, Infallible>(())
    };
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                for _ in 0..WRITES {
                    match storage.transact_optimistically(add) {
                        Ok(_) => {}
                        Err(OptimisticError::Conflict) => {
                            let Ok(()) = storage.transact(add);
                        }
                    }
                }
            });
        }
    });
    let last = storage.peek(|view| view.get(&counter).cloned()).unwrap();
    assert_eq!(last.to_value()["spec"]["value"], json!(WRITERS * WRITES));
    assert_eq!(storage.revision().get(), u64::from(WRITERS * WRITES) + 2);
    let log = storage.peek(|view| view.log(&pods(), &Range::All, Revision::default()));
    let committed: Vec<_> = log.iter().map(|change| change.committed()).collect();
    assert!(
        committed.is_sorted(),
        "changes are in the order of their times"
    );
}

#[tokio::test(start_paused = true)]
async fn a_change_tells_the_instant_of_its_commit() {
    let storage = storage(Compaction::default());
    for _ in 0..3 {
        let now = Instant::now();
        put(&storage, &key(&pods(), 0), 1);
        let log = storage.view(|view| view.log(&pods(), &Range::All, Revision::default()));
        assert_eq!(log.last().unwrap().committed(), now);
        advance(Duration::from_nanos(1_234_567_891)).await;
    }
}
