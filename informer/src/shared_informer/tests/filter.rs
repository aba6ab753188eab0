use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::informer::{Feed, counting_transform, held, list, planned, recorder, settle, texts};
use crate::{
    fixtures::{Value, key, object_with},
    handler::Filter,
    held_objects::HeldObjects,
    object::Object,
    shared_informer::builder::Plan,
    store::Delta,
};

/// Accepts all objects but those with the label `other`.
fn filter() -> Filter<Value> {
    Filter::by_field(".text", |text| text != "other").unwrap()
}

/// `n/a@1` with a text.
fn thing(name: &str, text: &str) -> Object<Value> {
    object_with(name, text, [])
}

async fn update(feed: &Feed, object: Object<Value>) {
    feed.0.send(Delta::Upserted(object)).unwrap();
    settle().await;
}

#[tokio::test(start_paused = true)]
async fn unselected_objects_are_neither_kept_nor_notified() {
    let plan = Plan {
        filter: Some(filter()),
        ..Plan::default()
    };
    let (informer, feed, _) = planned(plan);
    informer.start();
    let (handler, recording) = recorder();
    let _registration = informer.add_handler(handler);
    let first = vec![thing("a@1", "x"), thing("b@2", "other"), thing("c@3", "x")];
    feed.0.send(list("5", first)).unwrap();
    settle().await;
    assert_eq!(held(&informer), "a@1 c@3");
    assert_eq!(recording.take_text(), "(+a@1) (+c@3)");

    update(&feed, thing("b@6", "other")).await;
    assert_eq!(recording.take_text(), "");
    update(&feed, thing("b@7", "x")).await;
    update(&feed, thing("b@8", "y")).await;
    assert_eq!(recording.take_text(), "+b@7 ~b@7..8");
    update(&feed, thing("b@9", "other")).await;
    assert_eq!(recording.take_text(), "-b@9");
    assert_eq!(held(&informer), "a@1 c@3");
    // The version advances with unwanted objects, and a late event for one brings nothing back.
    assert_eq!(informer.last_sync_resource_version().as_str(), "9");
    update(&feed, thing("b@8", "y")).await;
    assert_eq!(recording.take_text(), "");
    feed.0.send(Delta::Deleted(thing("b@10", "other"))).unwrap();
    settle().await;
    assert_eq!(recording.take_text(), "");

    // A relist in which one leaves, one comes and one stays.
    let next = vec![
        thing("a@11", "other"),
        thing("b@12", "x"),
        thing("c@3", "x"),
    ];
    feed.0.send(list("15", next)).unwrap();
    settle().await;
    assert_eq!(held(&informer), "b@12 c@3");
    assert_eq!(recording.take_text(), "!a@1 +b@12");
    assert!(informer.undecodable().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_filter_sees_objects_as_they_arrive_and_before_the_transform() {
    let calls = Arc::new(AtomicU64::new(0));
    let plan = Plan {
        // What the transform made of it would not pass.
        filter: Some(Filter::by_field(".text", |text| !text.ends_with('!')).unwrap()),
        transform: counting_transform(&calls),
        ..Plan::default()
    };
    let (informer, feed, model) = planned(plan);
    informer.start();
    let original = thing("a@1", "x");
    let first = vec![original.clone(), thing("b@1", "no!")];
    feed.0.send(list("5", first)).unwrap();
    settle().await;
    assert_eq!(texts(&informer), "x!");
    assert_eq!(
        calls.load(Ordering::Relaxed),
        1,
        "not of objects outside of the filter"
    );
    let from_cache = model.lookup(original.metadata()).unwrap();
    feed.0.send(list("6", vec![from_cache])).unwrap();
    settle().await;
    assert_eq!(texts(&informer), "x!");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_filter_fails_is_reported_and_the_others_go_on() {
    let panics = Filter::of_value(|value: &Value| {
        if value.text == "panic" {
            std::panic::resume_unwind(Box::new("told to"));
        }
        true
    });
    let plan = Plan {
        filter: Some(panics),
        ..Plan::default()
    };
    let (informer, feed, _) = planned(plan);
    informer.start();
    let first = vec![thing("a@1", "x"), thing("b@2", "panic")];
    feed.0.send(list("5", first)).unwrap();
    settle().await;
    assert_eq!(held(&informer), "a@1");
    update(&feed, thing("a@6", "panic")).await;
    assert_eq!(held(&informer), "");
    let refused = informer.undecodable();
    assert_eq!((&refused[0].key, &refused[1].key), (&key("a"), &key("b")));
    assert_eq!(
        refused[0].source.to_string(),
        "the filter panicked: told to"
    );
    assert_eq!(informer.metrics().transform_failures, 2);
}
