//! Faults of streams and bodies: their bytes, pieces, times and ends.

use std::io::ErrorKind;

use bytes::Bytes;

use super::*;
use crate::faults::{
    self, ChangedDuringInitialEvents, Coalesce, ConnectionRefused, Fault, HugeObjects,
    SeveredConnection, Trickle, Trigger, Unobserved,
};

const STREAMING: &str =
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

/// The pieces of a body until it ends or `seconds` have passed, and how it stands.
async fn pieces(body: &mut Body, seconds: u64) -> (Vec<Bytes>, &'static str) {
    let mut pieces = Vec::new();
    let end = timeout(Duration::from_secs(seconds), async {
        loop {
            match body.frame().await {
                None => return "ended",
                Some(Err(_)) => return "broken",
                Some(Ok(frame)) => pieces.push(frame.into_data().unwrap()),
            }
        }
    });
    let end = end.await.unwrap_or("open");
    (pieces, end)
}

/// Returns the bytes of a watch of `a` and `b` without faults.
async fn undisturbed() -> Vec<u8> {
    let server = with_config_maps(&["a", "b"]);
    let mut body = watch(&server, STREAMING).await;
    pieces(&mut body, 1).await.0.concat()
}

#[tokio::test(start_paused = true)]
async fn a_trickle_brings_every_byte_slowly() {
    let server = with_config_maps(&["a", "b"]);
    let rule = Trickle {
        bytes: 10,
        every_ms: 100,
    }
    .rule();
    let _guard = server.faults().install(rule);
    let start = Instant::now();
    let mut body = watch(&server, STREAMING).await;
    let whole = undisturbed().await;
    let mut received = Vec::new();
    while received.len() < whole.len() {
        let piece = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(piece.len() <= 10);
        received.extend_from_slice(&piece);
    }
    assert_eq!(received, whole);
    let pieces = u128::try_from(whole.len()).unwrap() / 10;
    assert!(start.elapsed().as_millis() >= (pieces - 1) * 100);

    let (list, waited) = seconds(get(&server, CONFIG_MAPS)).await;
    assert_eq!(names(&list.json()), ["a", "b"]);
    assert!(waited >= 3, "{waited}");
}

#[tokio::test(start_paused = true)]
async fn other_pieces_are_the_same_bytes() {
    let whole = undisturbed().await;
    let (mut is_cut, mut is_joined) = (false, false);
    for seed in 0..20 {
        let server = with_config_maps(&["a", "b"]);
        let list = get(&server, CONFIG_MAPS).await.text;
        let rule = Fault::Rechunk
            .rule()
            .when(Trigger::always().with_seed(seed));
        let _guard = server.faults().install(rule);
        let mut body = watch(&server, STREAMING).await;
        let (pieces, end) = pieces(&mut body, 1).await;
        assert_eq!((pieces.concat(), end), (whole.clone(), "open"), "{seed}");
        let newlines = |piece: &Bytes| piece.split(|byte| *byte == b'\n').count() - 1;
        is_cut |= pieces.iter().any(|piece| !piece.ends_with(b"\n"));
        is_joined |= pieces.iter().any(|piece| newlines(piece) > 1);
        assert_eq!(get(&server, CONFIG_MAPS).await.text, list);
    }
    assert!(is_cut && is_joined);
}

#[tokio::test(start_paused = true)]
async fn held_bytes_are_flushed_after_the_wait() {
    struct JoinAll;
    impl faults::Rule for JoinAll {
        fn on_frame(&mut self, _: &faults::FrameFacts<'_>) -> faults::FrameVerdict {
            faults::FrameVerdict::JoinNext
        }
    }
    let server = with_config_maps(&["a", "b"]);
    let _guard = server.faults().install(JoinAll);
    let mut body = watch(&server, STREAMING).await;
    let (first, _) = pieces(&mut body, 1).await;
    assert_eq!(first.len(), 1);
    assert_eq!(first.concat(), undisturbed().await);
    put(&server, "default", "c", "x");
    let (next, end) = pieces(&mut body, 1).await;
    assert_eq!((next.len(), end), (1, "open"));
}

#[tokio::test(start_paused = true)]
async fn an_evicted_watch_sends_its_queue_and_ends() {
    let server = with_config_maps(&["a"]);
    let mut body = watch(&server, STREAMING).await;
    assert_eq!(events(&mut body, 1).await.0, ["ADDED a", "BOOKMARK "]);
    let rule = Fault::SlowReaderEvicted.rule().times(1);
    let _guard = server.faults().install(rule);
    for name in ["b", "c"] {
        put(&server, "default", name, "x");
    }
    let (seen, end) = events(&mut body, 60).await;
    assert_eq!(
        (seen, end),
        (vec!["ADDED b".into(), "ADDED c".into()], "ended")
    );
    assert_eq!(server.stats().watchers, 0);
}

#[tokio::test(start_paused = true)]
async fn half_of_a_list_comes_and_then_the_connection_breaks() {
    let server = with_config_maps(&["a", "b"]);
    let whole = get(&server, CONFIG_MAPS).await.text;
    let _guard = server.faults().install(Fault::ResetMidBody.rule().times(1));
    let mut body = open(&server, CONFIG_MAPS, &[]).await.into_body();
    let (half, end) = pieces(&mut body, 1).await;
    assert_eq!(end, "broken");
    assert_eq!(half.concat(), whole.as_bytes()[..whole.len() / 2]);
    assert_eq!(get(&server, CONFIG_MAPS).await.text, whole);
}

#[tokio::test(start_paused = true)]
async fn a_client_in_process_that_is_to_leave_meets_failures() {
    let server = with_config_maps(&["a"]);
    let mut body = watch(&server, "").await;
    assert_eq!(events(&mut body, 1).await.0, ["ADDED a"]);
    let guard = server.faults().install(Fault::GoAway.rule());
    let refused = open(&server, CONFIG_MAPS, &[]).await;
    let severed = refused.extensions().get::<SeveredConnection>();
    assert_eq!(
        severed,
        Some(&SeveredConnection(ErrorKind::ConnectionAborted))
    );
    put(&server, "default", "b", "x");
    assert_eq!(events(&mut body, 1).await, (Vec::new(), "broken"));
    drop(guard);
    let answer = open(&server, CONFIG_MAPS, &[]).await;
    assert_eq!(answer.extensions().get::<SeveredConnection>(), None);

    let _guard = server.faults().install(ConnectionRefused::default().rule());
    let refused = open(&server, CONFIG_MAPS, &[]).await;
    let severed = refused.extensions().get::<SeveredConnection>();
    assert_eq!(
        severed,
        Some(&SeveredConnection(ErrorKind::ConnectionRefused))
    );
}

#[tokio::test(start_paused = true)]
async fn initial_events_end_early_late_or_never() {
    let check = async |rule: Box<dyn faults::Rule>, expected: &[&str], end: &str| {
        let server = with_config_maps(&["a", "b"]);
        let _guard = server.faults().install(rule);
        let mut body = watch(&server, STREAMING).await;
        // Waits until the watch is open, so that none of these changes is in its initial state.
        let (mut seen, _) = events(&mut body, 1).await;
        put(&server, "default", "a", "y");
        delete(&server, "default", "b");
        let (rest, ended) = events(&mut body, 10).await;
        seen.extend(rest);
        assert_eq!(
            (seen.iter().map(String::as_str).collect::<Vec<_>>(), ended),
            (expected.to_vec(), end)
        );
    };
    let (a, b, changed, gone) = ("ADDED a", "ADDED b", "MODIFIED a", "DELETED b");
    let late = ChangedDuringInitialEvents { lasting_ms: 5_000 }.rule();
    let missing = Fault::InitialEventsEndMissing.rule();
    let after = Fault::EndAfterBookmark.rule();
    check(Box::new(late), &[a, b, changed, gone, "BOOKMARK "], "open").await;
    check(Box::new(missing), &[a, b, changed, gone], "open").await;
    check(Box::new(after), &[a, b, "BOOKMARK "], "ended").await;
}

#[tokio::test(start_paused = true)]
async fn initial_events_come_in_an_order_that_follows_from_the_seed() {
    let order = async |seed| {
        let server = with_config_maps(&["a", "b", "c", "d"]);
        let rule = Fault::InitialEventsShuffled
            .rule()
            .when(Trigger::always().with_seed(seed));
        let _guard = server.faults().install(rule);
        let mut body = watch(&server, STREAMING).await;
        let (mut seen, _) = events(&mut body, 1).await;
        assert_eq!(seen.pop().as_deref(), Some("BOOKMARK "));
        seen
    };
    let first = order(1).await;
    assert_eq!(order(1).await, first);
    let mut sorted = first.clone();
    sorted.sort();
    assert_eq!(sorted, ["ADDED a", "ADDED b", "ADDED c", "ADDED d"]);
    let mut orders = vec![first];
    for seed in 2..6 {
        orders.push(order(seed).await);
    }
    orders.dedup();
    assert!(orders.len() > 1);
}

#[tokio::test(start_paused = true)]
async fn of_several_states_the_last_is_seen() {
    let server = with_config_maps(&["a"]);
    let mut body = watch(&server, STREAMING).await;
    events(&mut body, 1).await;
    let _guard = server.faults().install(Coalesce { window_ms: 50 }.rule());
    for app in ["1", "2", "3"] {
        put(&server, "default", "a", app);
    }
    put(&server, "default", "b", "1");
    delete(&server, "default", "b");
    let (pieces, end) = pieces(&mut body, 1).await;
    let text = String::from_utf8(pieces.concat()).unwrap();
    let seen: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let seen: Vec<_> = seen
        .iter()
        .map(|event| {
            (
                event["type"].as_str().unwrap(),
                event["object"]["data"]["app"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(seen, [("MODIFIED", "3"), ("ADDED", "1"), ("DELETED", "1")]);
    assert_eq!(end, "open");
}

#[tokio::test(start_paused = true)]
async fn unobserved_changes_are_in_the_next_list() {
    let server = with_config_maps(&["a"]);
    let mut body = watch(&server, STREAMING).await;
    events(&mut body, 1).await;
    let rule = Unobserved { lasting_ms: 5_000 }.rule().times(1);
    let _guard = server.faults().install(rule);
    delete(&server, "default", "a");
    put(&server, "default", "a", "again");
    assert_eq!(events(&mut body, 4).await, (Vec::new(), "open"));
    assert_eq!(
        events(&mut body, 2).await,
        (vec!["ERROR 410".into()], "ended")
    );
    let list = get(&server, CONFIG_MAPS).await.json();
    assert_eq!(list["items"][0]["data"]["app"], "again");
}

#[tokio::test(start_paused = true)]
async fn unknown_fields_are_added_to_each_object_of_a_response() {
    let one = format!("{CONFIG_MAPS}/a");
    let server = with_config_maps(&["a"]);
    let before = get(&server, &one).await.text;
    let guard = server.faults().install(Fault::UnknownFields.rule());
    let list = get(&server, CONFIG_MAPS).await.json();
    let object = get(&server, &one).await.json();
    let mut body = watch(&server, STREAMING).await;
    let (frames, _) = pieces(&mut body, 1).await;
    let event: Value = serde_json::from_slice(&frames[0]).unwrap();
    for object in [&list["items"][0], &object, &event["object"]] {
        assert_eq!(object["fromTheFuture"]["a"][0], 1);
        assert_eq!(object["metadata"]["fromTheFuture"]["c"], "\u{1F600}");
        assert_eq!(object["data"]["app"], "x");
    }
    let bookmark: Value = serde_json::from_slice(&frames[1]).unwrap();
    assert_eq!(bookmark["object"].get("fromTheFuture"), None);
    let missing = get(&server, &format!("{CONFIG_MAPS}/none")).await.json();
    assert_eq!(missing.get("fromTheFuture"), None);
    drop(guard);
    assert_eq!(get(&server, &one).await.text, before);

    let _guard = server
        .faults()
        .install(HugeObjects { bytes: 1_500_000 }.rule());
    assert!(get(&server, &one).await.text.len() > 1_500_000);
    put(&server, "default", "a", "y");
    let (frames, _) = pieces(&mut body, 1).await;
    assert!(frames[0].len() > 1_500_000);
}
