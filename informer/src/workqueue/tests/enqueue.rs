use std::{sync::Arc, time::Duration};

use super::super::{AddOptions, Enqueue, OwnerKind, Priority, WorkQueue, WorkQueueOptions};
use crate::{
    fixtures::{Value, key, object},
    handler::{EventHandler, Notification, NotificationCause},
    object::{
        Deleted, Labels, Metadata, Object, ObjectKey, OwnerReference, ResourceVersion, Tombstone,
        TombstoneReason,
    },
};

/// `apps/v1 Deployment web`, with `!` behind it for the controller.
fn owner(text: &str) -> OwnerReference {
    let words: Vec<_> = text.split(' ').collect();
    OwnerReference {
        api_version: words[0].into(),
        kind: words[1].into(),
        name: words[2].trim_end_matches('!').into(),
        uid: text.into(),
        is_controller: text.ends_with('!'),
    }
}

fn owned(name: &str, owners: &[&str]) -> Object<Value> {
    let owners: Arc<[_]> = owners.iter().copied().map(owner).collect();
    let metadata = Metadata {
        key: key(name),
        uid: name.into(),
        resource_version: ResourceVersion::new("1"),
        labels: Labels::default(),
        owners,
        is_terminating: false,
    };
    Object::from_parts(metadata, Arc::default())
}

fn add(object: Object<Value>, cause: NotificationCause) -> Notification<Value> {
    Notification::Add { object, cause }
}

/// Returns the queued items, in the order in which they are handed out.
async fn queued(queue: &WorkQueue<ObjectKey>) -> Vec<String> {
    let mut items = Vec::new();
    while !queue.is_empty() {
        let item = queue.get().await.unwrap();
        items.push(item.to_string());
        item.done();
    }
    items
}

#[tokio::test(start_paused = true)]
async fn changes_overtake_what_was_there_before_and_what_is_reported_again() {
    let queue = WorkQueue::with_options(WorkQueueOptions::controller_runtime());
    let mut handler = Enqueue::for_object(&queue);
    handler.on_notification(&add(object("a/old@1"), NotificationCause::Initial));
    let resynced = object("a/resynced@1");
    handler.on_notification(&Notification::Update {
        old: resynced.clone(),
        new: resynced,
        cause: NotificationCause::Resync,
    });
    handler.on_notification(&add(object("a/new@3"), NotificationCause::Live));
    handler.on_notification(&add(object("a/found@3"), NotificationCause::Relist));
    // Nothing else is known of it.
    let deleted = Deleted::Tombstone(Tombstone {
        key: key("a/gone"),
        last_known: None,
        reason: TombstoneReason::MissedDelete,
    });
    let cause = NotificationCause::Relist;
    handler.on_notification(&Notification::Delete { deleted, cause });
    assert_eq!(
        queued(&queue).await,
        ["a/new", "a/found", "a/gone", "a/old", "a/resynced"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_leads_to_the_owner_that_controls_it() {
    let cases: &[(OwnerKind, &[&str], &[&str])] = &[
        (
            OwnerKind::new("apps", "Deployment"),
            &["apps/v1 Deployment web!"],
            &["a/web"],
        ),
        // Of any version, but of no other group or kind.
        (
            OwnerKind::new("apps", "Deployment"),
            &["apps/v2 Deployment web!"],
            &["a/web"],
        ),
        (
            OwnerKind::new("apps", "Deployment"),
            &["x/v1 Deployment web!"],
            &[],
        ),
        (
            OwnerKind::new("apps", "Deployment"),
            &["v1 Deployment web!"],
            &[],
        ),
        (
            OwnerKind::new("apps", "Deployment"),
            &["apps/v1 ReplicaSet web!"],
            &[],
        ),
        (OwnerKind::new("", "Node"), &["v1 Node n!"], &["a/n"]),
        (
            OwnerKind::new("", "Node").with_cluster_scope(),
            &["v1 Node n!"],
            &["n"],
        ),
        (
            OwnerKind::new("apps", "Deployment"),
            &["apps/v1 Deployment web"],
            &[],
        ),
        (
            OwnerKind::new("apps", "Deployment").with_any_owner(),
            &["apps/v1 Deployment web", "apps/v1 Deployment db!"],
            &["a/db", "a/web"],
        ),
        (OwnerKind::new("apps", "Deployment"), &[], &[]),
    ];
    for (kind, owners, expected) in cases {
        let queue = WorkQueue::new();
        let mut handler = Enqueue::for_owner(&queue, kind.clone());
        handler.on_notification(&add(owned("a/pod", owners), NotificationCause::Live));
        assert_eq!(queued(&queue).await, *expected, "{kind:?} {owners:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn old_and_new_owner_receive_of_an_update_and_the_last_of_a_deletion() {
    let queue = WorkQueue::new();
    let mut handler = Enqueue::for_owner(&queue, OwnerKind::new("apps", "Deployment"));
    let old = owned("a/pod", &["apps/v1 Deployment old!"]);
    let new = owned("a/pod", &["apps/v1 Deployment new!"]);
    let cause = NotificationCause::Live;
    handler.on_notification(&Notification::Update {
        old,
        new: new.clone(),
        cause,
    });
    assert_eq!(queued(&queue).await, ["a/new", "a/old"]);
    let deleted = Deleted::Tombstone(Tombstone {
        key: key("a/pod"),
        last_known: Some(new),
        reason: TombstoneReason::MissedDelete,
    });
    handler.on_notification(&Notification::Delete { deleted, cause });
    assert_eq!(queued(&queue).await, ["a/new"]);
}

#[tokio::test(start_paused = true)]
async fn a_function_says_what_an_object_leads_to_and_how_it_is_added() {
    let queue = WorkQueue::new();
    let both = |object: &Object<Value>| [1, 2].map(|n| format!("{}-{n}", object.key()));
    let mut handler = Enqueue::with(&queue, both)
        .with_add_options(|_| AddOptions::new().with_after(Duration::from_secs(5)));
    handler.on_notification(&add(object("a/x@1"), NotificationCause::Live));
    assert_eq!((queue.len(), queue.delayed_len()), (0, 2));
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(*queue.get().await.unwrap(), "a/x-1");
    assert_eq!(*queue.get().await.unwrap(), "a/x-2");

    let mut limited = Enqueue::with(&queue, |_: &Object<Value>| Some("again".to_owned()))
        .with_add_options(|_| {
            AddOptions::new()
                .with_rate_limit()
                .with_priority(Priority::LOW)
        });
    for failures in 1..=2 {
        limited.on_notification(&add(object("a/x@1"), NotificationCause::Live));
        assert_eq!(queue.num_requeues(&"again".to_owned()), failures);
    }
}
