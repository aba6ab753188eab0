//! Transactions through a log, of which a small one in memory stands for what other servers do.

use std::sync::Mutex;

use fakeserver_value::{object::Pairs, resource::GroupResource};
use serde_json::json;

use super::*;
use crate::store::{ChangeSink, Compaction, LogFollower};

/// A log whose content comes to the store only when it is asked for: another server was faster.
#[derive(Debug, Default)]
struct MemoryLog {
    store: Mutex<Option<Arc<Storage>>>,
    /// The changes that the store does not have yet.
    unseen: Mutex<Vec<(u64, &'static str)>>,
    appended: Mutex<Vec<LogTransaction>>,
}

impl MemoryLog {
    /// Passes what is unseen to the store.
    fn deliver(&self) -> bool {
        let unseen = mem::take(&mut *self.unseen.lock().unwrap());
        let store = self.store.lock().unwrap().clone().unwrap();
        for (revision, value) in &unseen {
            let object = Some(json!({"metadata": {"name": "a"}, "data": value}));
            let change = LoggedChange {
                key: key("a"),
                object,
            };
            store.apply_logged(Revision::new(*revision), vec![change]);
        }
        !unseen.is_empty()
    }
}

impl CommitLog for MemoryLog {
    fn seed(&self) -> u64 {
        0
    }

    fn start(&self, _: Arc<dyn LogFollower>, reply: Reply<()>) {
        reply(Ok(()));
    }

    fn append(&self, transaction: LogTransaction, reply: Reply<AppendOutcome>) {
        if self.deliver() {
            return reply(Ok(AppendOutcome::Conflict));
        }
        let next = self.store.lock().unwrap().clone().unwrap().revision().get() + 10;
        let revisions = (0..transaction.writes.len() as u64).map(|n| Revision::new(next + n));
        reply(Ok(AppendOutcome::Committed(revisions.collect())));
        self.appended.lock().unwrap().push(transaction);
    }

    fn catch_up(&self, reply: Reply<()>) {
        self.deliver();
        reply(Ok(()));
    }
}

/// The revisions of changes, in the order in which they came.
#[derive(Default)]
struct Revisions(Mutex<Vec<u64>>);

impl ChangeSink for Revisions {
    fn changed(&self, change: &Arc<Change>) {
        self.0.lock().unwrap().push(change.revision());
    }

    fn reset(&self) {}
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::cluster(GroupResource::new("", "things"), name)
}

/// A store of a log in which `a` is at 5, and `unseen` comes next.
fn store(unseen: &[(u64, &'static str)]) -> (Arc<Storage>, Arc<MemoryLog>, Arc<Revisions>) {
    let sink = Arc::new(Revisions::default());
    let fields = Box::new(|_: &GroupResource, _: &Value| Pairs::default());
    let store = Arc::new(Storage::new(Compaction::default(), fields, sink.clone()));
    let log = Arc::new(MemoryLog::default());
    store.set_log(log.clone());
    *log.store.lock().unwrap() = Some(Arc::clone(&store));
    *log.unseen.lock().unwrap() = vec![(5, "first")];
    log.deliver();
    *log.unseen.lock().unwrap() = unseen.to_vec();
    (store, log, sink)
}

#[tokio::test(start_paused = true)]
async fn a_transaction_in_conflict_is_repeated_on_what_it_was_in_conflict_with() {
    let (store, log, _) = store(&[(7, "second"), (9, "third")]);
    let mut seen = Vec::new();
    let (count, writes) = store
        .commit(|tx| {
            let found = tx.get(&key("a")).unwrap().to_value();
            seen.push(found["data"].clone());
            tx.put(
                &key("b"),
                json!({"metadata": {"name": "b"}, "data": found["data"]}),
            );
            tx.put(&key("a"), json!({"metadata": {"name": "a"}}));
            Ok::<_, ()>(seen.len())
        })
        .await
        .unwrap();
    assert_eq!(count, 2);
    assert_eq!(seen, ["first", "third"]);
    // Its writes have the revisions of the log, and the store gets them from there alone.
    let revisions: Vec<u64> = writes.iter().map(|write| write.change.revision()).collect();
    assert_eq!(revisions, [19, 20]);
    assert_eq!(writes[0].assumed, Revision::new(10));
    let text = writes[0].change.after().unwrap().to_value();
    assert_eq!(text["metadata"]["resourceVersion"], "19");
    assert_eq!(store.revision(), Revision::new(9));
    let appended = log.appended.lock().unwrap();
    let conditions = [
        (key("a"), Revision::new(9)),
        (key("b"), Revision::default()),
    ];
    assert_eq!(appended[0].conditions, conditions.into());
}

#[tokio::test(start_paused = true)]
async fn a_rejection_is_of_a_state_that_is_not_older_than_the_call() {
    let read = |tx: &mut Transaction<'_>| {
        let found = tx.get(&key("a")).unwrap().to_value();
        if found["data"] == "second" {
            Ok(())
        } else {
            Err("not yet")
        }
    };
    let (store, ..) = self::store(&[(7, "second")]);
    assert!(matches!(
        store.commit_eventually(read).await,
        Err(CommitError::Rejected(_))
    ));
    store.commit(read).await.unwrap();
    let (store, ..) = self::store(&[(7, "third")]);
    assert!(matches!(
        store.commit(read).await,
        Err(CommitError::Rejected("not yet"))
    ));
}

#[test]
fn changes_of_one_revision_come_once_and_together() {
    let (store, _, sink) = store(&[]);
    let put = |name: &str| LoggedChange {
        key: key(name),
        object: Some(json!({"metadata": {"name": name}})),
    };
    let gone = |name: &str| LoggedChange {
        key: key(name),
        object: None,
    };
    store.apply_logged(Revision::new(6), vec![put("b")]);
    // The end of a lease deletes several keys, one of which this store could not read.
    store.apply_logged(Revision::new(8), vec![gone("a"), gone("b"), gone("unread")]);
    store.apply_logged(Revision::new(8), vec![put("again")]);
    assert_eq!(*sink.0.lock().unwrap(), [5, 6, 8, 8]);
    // Other keys of the log take revisions as well.
    store.apply_logged(Revision::new(12), Vec::new());
    assert_eq!(store.revision(), Revision::new(12));
    let left = store.view(|view| view.snapshot(key("a").resource()).count());
    assert_eq!(left, 0);
}

#[test]
#[should_panic(expected = "writes go through the log")]
fn a_store_with_a_log_takes_no_write_by_itself() {
    let (store, ..) = store(&[]);
    let put = |tx: &mut Transaction<'_>| tx.delete(&key("a"));
    drop(store.transact(|tx| Ok::<_, ()>(put(tx))));
}
