//! `tools/cache/controller_test.go`.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use informer::{
    Deleted, HandlerFuncs, Object, ObjectKey, SharedInformer, Tombstone, TombstoneReason,
    testing::scripted,
};

use super::{TestValue, World, plain_options, settle, thing, things};

/// `TestTransformingInformer`
#[tokio::test(start_paused = true)]
async fn handlers_and_readers_see_transformed_objects_only() {
    let (list_watch, script) = scripted();
    let informer = SharedInformer::builder(list_watch)
        .with_options(plain_options())
        .with_transform(|thing: &mut TestValue| thing.0.insert_str(0, "seen "));
    let mut world = World::of(informer.build().unwrap(), script);
    let is_raw_seen = Arc::new(AtomicBool::new(false));
    let look = |is_raw_seen: &Arc<AtomicBool>| {
        let is_raw_seen = Arc::clone(is_raw_seen);
        move |object: &Object<TestValue>| {
            // Once, and not twice.
            let is_whole = object.get().0 == format!("seen {object:?}");
            is_raw_seen.fetch_or(!is_whole, Ordering::Relaxed);
        }
    };
    let (add, update, delete) = (look(&is_raw_seen), look(&is_raw_seen), look(&is_raw_seen));
    let handler = HandlerFuncs::new()
        .with_add(move |object, _| add(object))
        .with_update(move |old, new| {
            update(old);
            update(new);
        })
        .with_delete(move |deleted| delete(deleted.last_known().unwrap()));
    let registration = world.informer.add_handler(handler);

    let watch = world.list("n/a@1 n/b@2", "5").await;
    watch.modified(thing("n/a@6"));
    watch.added(thing("n/c@7"));
    watch.deleted(thing("n/a@8"));
    settle().await;
    let mut expired = informer::list_watch::Status::default();
    expired.code = 410;
    watch.error(expired);
    world.script.expect_list().await.page(things("n/c@7"), "9");
    settle().await;
    let expected = "(+n/a@1) (+n/b@2) ~n/a@1..6 +n/c@7 -n/a@8 !n/b@2";
    assert_eq!(world.recording.take_text(), expected);
    assert_eq!(registration.metrics().delivered, 6);
    assert!(!is_raw_seen.load(Ordering::Relaxed));
    let held = world.informer.lister().namespaced("n").get("c").unwrap();
    assert_eq!(held.get().0, "seen n/c@7");
}

/// `TestDeletionHandlingObjectToName`, `TestDeletedObjectGetObjectName`, `TestDeletedObjectGetKey`
#[test]
fn a_deletion_has_its_key_whatever_is_known_of_the_object() {
    let key = ObjectKey::new("n", "a");
    let tombstone = |key: &ObjectKey, last_known| {
        Deleted::Tombstone(Tombstone {
            key: key.clone(),
            last_known,
            reason: TombstoneReason::MissedDelete,
        })
    };
    let seen = Deleted::Object(thing("n/a@1"));
    assert_eq!((seen.key(), seen.is_tombstone()), (&key, false));
    let missed = tombstone(&key, Some(thing("n/a@1")));
    assert_eq!((missed.key(), missed.is_tombstone()), (&key, true));
    let unknown = tombstone(&key, None);
    assert_eq!(unknown.key(), &key);
    assert!(unknown.last_known().is_none());

    // A key is two names and never a text that has to be taken apart.
    let odd = ObjectKey::new("n", "a/b");
    let unknown = tombstone(&odd, None);
    assert_eq!(
        (unknown.key().namespace(), unknown.key().name()),
        ("n", "a/b")
    );
}
