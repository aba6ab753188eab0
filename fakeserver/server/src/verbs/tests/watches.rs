//! GET of collections with `watch`.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_watch_from_nothing_begins_with_the_state_and_marks_its_end_if_bookmarks_are_taken() {
    let server = with_config_maps(&["b", "a"]);
    for (parameters, expected) in [
        ("", vec!["ADDED a", "ADDED b"]),
        ("resourceVersion=0", vec!["ADDED a", "ADDED b"]),
        (
            "allowWatchBookmarks=true",
            vec!["ADDED a", "ADDED b", "BOOKMARK "],
        ),
        (
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
            vec!["ADDED a", "ADDED b", "BOOKMARK "],
        ),
        (
            "sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
            vec![],
        ),
        ("labelSelector=app%3Dy", vec![]),
        ("fieldSelector=metadata.name%3Db", vec!["ADDED b"]),
    ] {
        let mut body = watch(&server, parameters).await;
        assert_eq!(events(&mut body, 1).await.0, expected, "{parameters}");
    }
    assert_eq!(server.stats().watchers, 0);
}

#[tokio::test(start_paused = true)]
async fn objects_enter_and_leave_a_selection() {
    let server = with_config_maps(&["a"]);
    let parameters = format!(
        "resourceVersion={}&labelSelector=app%3Dx",
        server.revision()
    );
    let mut body = watch(&server, &parameters).await;
    put(&server, "default", "b", "y");
    put(&server, "default", "b", "x");
    put(&server, "default", "b", "x");
    put(&server, "default", "b", "y");
    put(&server, "other", "c", "x");
    delete(&server, "default", "b");
    delete(&server, "default", "a");
    let expected = ["ADDED b", "MODIFIED b", "DELETED b", "DELETED a"].map(String::from);
    assert_eq!(events(&mut body, 1).await, (expected.to_vec(), "open"));
}

#[tokio::test(start_paused = true)]
async fn a_compacted_version_is_an_error_event() {
    let server = with_config_maps(&["a", "b"]);
    let old = server.revision() - 1;
    let now = server.revision();
    server.compact();
    let mut body = watch(&server, &format!("resourceVersion={old}")).await;
    assert_eq!(
        events(&mut body, 1).await.0,
        ["ADDED b"],
        "watches outlive a compaction"
    );

    server.expire();
    let answer = get(
        &server,
        &format!("{CONFIG_MAPS}?watch=1&resourceVersion={old}"),
    )
    .await;
    assert_eq!(answer.code, StatusCode::OK);
    let message = format!("too old resource version: {old} ({now})");
    assert_eq!(answer.json()["object"]["message"], message);
    assert_eq!(answer.json()["object"]["code"], 410);
    let mut body = watch(&server, &format!("resourceVersion={now}")).await;
    assert_eq!(events(&mut body, 1).await, (vec![], "open"));
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_waits_for_its_version_and_then_fails_in_the_stream() {
    let server = with_config_maps(&["a"]);
    let future = server.revision() + 1;
    let parameters = format!(
        "resourceVersion={future}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    );
    let (mut body, waited) = seconds(watch(&server, &parameters)).await;
    assert_eq!(waited, 3);
    assert_eq!(
        events(&mut body, 1).await,
        (vec!["ERROR 504".to_owned()], "ended")
    );

    let (mut body, _) = tokio::join!(watch(&server, &parameters), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        put(&server, "default", "b", "x")
    });
    assert_eq!(events(&mut body, 1).await.0, ["ADDED a", "ADDED b"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_lasts_as_long_as_it_asks_or_half_an_hour_to_an_hour() {
    let server = FakeServer::builder().build();
    let mut body = watch(&server, "timeoutSeconds=7").await;
    assert_eq!(
        seconds(events(&mut body, 10_000)).await,
        ((vec![], "ended"), 7)
    );
    let mut lengths = Vec::new();
    for _ in 0..5 {
        let mut body = watch(&server, "").await;
        lengths.push(seconds(events(&mut body, 10_000)).await.1);
    }
    assert!(
        lengths.iter().all(|length| (1_800..3_600).contains(length)),
        "{lengths:?}"
    );
    lengths.dedup();
    assert_eq!(lengths.len(), 5, "drawn anew for each");
}

#[tokio::test(start_paused = true)]
async fn the_deprecated_paths_watch_and_an_object_itself_does_not() {
    let server = with_config_maps(&["a", "b"]);
    for (path, expected) in [
        (
            "/api/v1/watch/configmaps?fieldSelector=metadata.namespace=default",
            vec!["ADDED a", "ADDED b"],
        ),
        (
            "/api/v1/watch/namespaces/default/configmaps",
            vec!["ADDED a", "ADDED b"],
        ),
        (
            "/api/v1/watch/namespaces/default/configmaps/b",
            vec!["ADDED b"],
        ),
        (
            "/api/v1/watch/namespaces",
            vec![
                "ADDED default",
                "ADDED kube-node-lease",
                "ADDED kube-public",
                "ADDED kube-system",
            ],
        ),
        ("/api/v1/watch/namespaces/default", vec!["ADDED default"]),
    ] {
        let mut body = open(&server, path, &[]).await.into_body();
        assert_eq!(
            events(&mut body, 1).await,
            (expected.into_iter().map(String::from).collect(), "open"),
            "{path}"
        );
    }
    let object = get(&server, &format!("{CONFIG_MAPS}/a?watch=1")).await;
    assert_eq!(object.json()["kind"], "ConfigMap");
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_can_be_watched() {
    let server = with_config_maps(&["a"]);
    let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let path = format!("{CONFIG_MAPS}?watch=1&allowWatchBookmarks=1");
    let mut body = open(&server, &path, &[("Accept", accept)])
        .await
        .into_body();
    for expected in ["ADDED", "BOOKMARK"] {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let event: Value = serde_json::from_slice(&frame).unwrap();
        assert_eq!(event["type"], expected);
        assert_eq!(event["object"]["kind"], "PartialObjectMetadata");
        assert_eq!(event["object"].get("data"), None);
    }
}
