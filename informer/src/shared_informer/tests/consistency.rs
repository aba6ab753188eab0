use futures::poll;
use tokio::time::sleep;

use super::informer::{LIMIT, settle};
use crate::{
    fixtures::{Value, object, object_with, undecodable},
    handler::Filter,
    indexer::Snapshot,
    list_watch::{ListRequest, Status, VersionMatch},
    object::Object,
    reflector::ReflectorOptions,
    shared_informer::{
        ConsistencyError, SharedInformer, SharedInformerBuilder, consistency::ListedState,
    },
    testing::{EventSender, Script, ScriptedCall, ScriptedListWatch, scripted},
};

fn objects(text: &str) -> Vec<Object<Value>> {
    text.split_whitespace().map(object).collect()
}

// === The comparison ===

/// `a@1` is an object, `?a@1` one that cannot be decoded; on both sides.
#[track_caller]
fn check(cached: &str, listed: &str, expected: &str) {
    let mut snapshot = Snapshot::new();
    for word in cached.split_whitespace() {
        match word.strip_prefix('?') {
            Some(refused) => drop(snapshot.mark_undecodable(undecodable(refused))),
            None => drop(snapshot.insert(object(word))),
        }
    }
    let mut state = ListedState::default();
    for word in listed.split_whitespace() {
        state.add(&match word.strip_prefix('?') {
            Some(refused) => Err(undecodable(refused)),
            None => Ok(object(word)),
        });
    }
    let differences = state.compare(&snapshot);
    let text: Vec<_> = differences.iter().map(ToString::to_string).collect();
    assert_eq!(text.join("; "), expected);
}

#[test]
fn differences_are_reported_by_key_in_order() {
    check("", "", "");
    check("n/a@1 b@2", "b@2 n/a@1", "");
    check("b@2 c@3", "b@2", "c not listed, cached at 3");
    check("b@2", "a@1 b@2", "a missing, listed at 1");
    check("a@1", "a@2", "a cached at 1, listed at 2");
    check("a@2", "a@1", "a cached at 2, listed at 1");
    check("a@1#x", "a@2#y", "a cached with uid x, listed with y");
    check(
        "n/c@1 n/b@1 n/a@1",
        "n/d@1 n/b@2 n/a@1",
        "n/b cached at 1, listed at 2; n/c not listed, cached at 1; n/d missing, listed at 1",
    );
}

#[test]
fn undecodable_objects_exist() {
    check("?a@1", "?a@1", "");
    // A transform or a filter failed for it.
    check("?a@1", "a@1", "");
    check("?a@1", "a@2", "a cached at 1, listed at 2");
    check("?a@1", "", "a not listed, cached at 1");
    check("", "?a@1", "a missing, listed at 1");
}

// === The check ===

fn builder() -> (
    SharedInformerBuilder<Value, ScriptedListWatch<Value>>,
    Script<Value>,
) {
    let (list_watch, script) = scripted();
    let options = ReflectorOptions {
        streaming_lists: false,
        page_size: Some(2),
        ..ReflectorOptions::default()
    };
    (
        SharedInformer::builder(list_watch).with_options(options),
        script,
    )
}

/// Answers the first list and opens the watch.
async fn synced(
    informer: &SharedInformer<Value>,
    script: &mut Script<Value>,
    text: &str,
    version: &str,
) -> EventSender<Value> {
    informer.start();
    script.expect_list().await.page(objects(text), version);
    let watch = script.expect_watch().await.open();
    informer.wait_for_cache_sync(LIMIT).await.unwrap();
    watch
}

fn exactly(version: &str) -> ListRequest {
    ListRequest {
        resource_version: version.into(),
        version_match: Some(VersionMatch::Exact),
        limit: Some(2),
        continue_token: None,
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_is_asked_for_the_caches_version_and_what_comes_meanwhile_is_left_out() {
    let (builder, mut script) = builder();
    let informer = builder.build().unwrap();
    let watch = synced(&informer, &mut script, "a@1 b@2 c@3", "5").await;
    let server = async {
        let first = script.expect_list().await;
        assert_eq!(first.request, exactly("5"));
        // These belong to later versions.
        watch.modified(object("a@6"));
        watch.deleted(object("b@7"));
        settle().await;
        first.page_and_more(objects("a@1 b@2"), "5", "more");
        let second = script.expect_list().await;
        let token = second.request.continue_token.as_deref();
        assert_eq!((token, second.request.limit), (Some("more"), Some(2)));
        assert!(second.request.resource_version.is_unknown());
        assert_eq!(second.request.version_match, None);
        second.page(objects("c@3"), "5");
    };
    let (report, ()) = tokio::join!(informer.check_consistency(LIMIT), server);
    let report = report.unwrap();
    assert!(report.is_consistent(), "{report}");
    assert_eq!((report.objects, report.resource_version.as_str()), (3, "5"));
    assert_eq!(informer.last_sync_resource_version().as_str(), "7");
    assert_eq!(informer.metrics().inconsistencies, 0);
}

#[tokio::test(start_paused = true)]
async fn missed_changes_are_found_by_a_list() {
    let (builder, mut script) = builder();
    let informer = builder.with_name("orders").build().unwrap();
    assert_eq!(informer.name(), "orders");
    let watch = synced(&informer, &mut script, "a@1 b@2", "5").await;
    // On the server, `a` changed at 6 and `b` was deleted at 7, without an event.
    watch.added(object("c@8"));
    settle().await;
    let server = async {
        let call = script.expect_list().await;
        assert_eq!(call.request, exactly("8"));
        call.page(objects("a@6 c@8"), "8");
    };
    let (report, ()) = tokio::join!(informer.check_consistency(LIMIT), server);
    let report = report.unwrap();
    assert!(!report.is_consistent());
    let text = report.to_string();
    let expected =
        "at 8, 2 listed, 2 different; a cached at 1, listed at 6; b not listed, cached at 2";
    assert!(text.ends_with(expected), "{text}");
    assert_eq!(informer.metrics().inconsistencies, 2);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_the_server_has_forgotten_is_followed_by_the_next() {
    let (builder, mut script) = builder();
    let informer = builder.build().unwrap();
    let watch = synced(&informer, &mut script, "a@1", "5").await;
    let server = async {
        let gone = Status::new(410, "Expired", "told by the test");
        script.expect_list().await.fail(gone);
        script.expect_no_call_for(LIMIT / 2).await;
        watch.bookmark("9");
        let call = script.expect_list().await;
        assert_eq!(call.request, exactly("9"));
        call.page(objects("a@1"), "9");
    };
    let (report, ()) = tokio::join!(informer.check_consistency(LIMIT), server);
    assert!(report.unwrap().is_consistent());
}

#[tokio::test(start_paused = true)]
async fn a_check_that_cannot_be_made_says_why() {
    let (builder, mut script) = builder();
    let informer = builder.with_resource("things").build().unwrap();
    let error = informer.check_consistency(LIMIT).await.unwrap_err();
    assert_eq!(error.to_string(), "things not compared within 60s");
    let _watch = synced(&informer, &mut script, "a@1", "5").await;

    let refuse = async { script.expect_list().await.fail(Status::new(403, "", "no")) };
    let (outcome, ()) = tokio::join!(informer.check_consistency(LIMIT), refuse);
    let error = outcome.unwrap_err();
    assert!(
        matches!(&error, ConsistencyError::List { source, .. } if source.status().is_some()),
        "{error}"
    );
    let other = async { script.expect_list().await.page(objects("a@1"), "6") };
    let (outcome, ()) = tokio::join!(informer.check_consistency(LIMIT), other);
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "the server listed things at \"6\", asked for \"5\""
    );

    let other = informer.clone();
    let mut check = Box::pin(other.check_consistency(LIMIT));
    assert!(poll!(&mut check).is_pending());
    informer.shutdown().await;
    assert!(matches!(check.await, Err(ConsistencyError::Stopped { .. })));
    assert_eq!(informer.metrics().inconsistencies, 0);
}

#[tokio::test(start_paused = true)]
async fn filtered_objects_are_not_missing() {
    let (builder, mut script) = builder();
    let filter = Filter::of_metadata(|metadata| metadata.labels.get("x") == Some("1"));
    let informer = builder.with_filter(filter).build().unwrap();
    informer.start();
    let state = || {
        vec![
            object_with("a@1", "", [("x", "1")]),
            object_with("b@2", "", []),
        ]
    };
    script.expect_list().await.page(state(), "5");
    let _watch = script.expect_watch().await.open();
    let server = async { script.expect_list().await.page(state(), "5") };
    let (report, ()) = tokio::join!(informer.check_consistency(LIMIT), server);
    let report = report.unwrap();
    assert!(report.is_consistent(), "{report}");
    assert_eq!(report.objects, 1);
}

#[tokio::test(start_paused = true)]
async fn each_list_is_checked_where_that_was_asked_for_and_no_task_is_left() {
    let (builder, mut script) = builder();
    let informer = builder.with_consistency_checks().build().unwrap();
    let watch = synced(&informer, &mut script, "a@1", "5").await;
    let call = script.expect_list().await;
    assert_eq!(call.request, exactly("5"));
    call.page(objects("a@1"), "5");
    sleep(LIMIT).await;
    assert_eq!(informer.metrics().inconsistencies, 0);

    watch.error(Status::new(410, "Expired", "told by the test"));
    let relist = script.expect_list().await;
    // The informer's own list, not a check.
    assert_ne!(relist.request.version_match, Some(VersionMatch::Exact));
    relist.page(objects("a@1"), "9");
    // The watch and the check come in either order.
    let calls = [script.expect_call().await, script.expect_call().await];
    let mut checks = calls.into_iter().filter_map(|call| match call {
        ScriptedCall::List(call) => Some(call),
        ScriptedCall::Watch(_) => None,
    });
    let call = checks.next().expect("a check");
    assert_eq!(call.request, exactly("9"));
    call.page(objects("a@8"), "9");
    settle().await;
    assert_eq!(informer.metrics().inconsistencies, 1);
    informer.shutdown().await;
    assert_eq!(informer.task_count(), 0);
}
