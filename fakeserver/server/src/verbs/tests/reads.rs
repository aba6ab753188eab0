//! GET of objects and collections.

use super::*;

const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

#[tokio::test(start_paused = true)]
async fn an_object_comes_with_its_kind_and_ends_with_a_newline() {
    let server = with_config_maps(&["a"]);
    let answer = get(&server, &format!("{CONFIG_MAPS}/a")).await;
    assert_eq!(answer.code, StatusCode::OK);
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!(
        answer.text,
        format!(
            "{}{}{}\n",
            r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","resourceVersion":""#,
            server.revision(),
            r#"","labels":{"app":"x"}},"data":{"app":"x"}}"#,
        )
    );
    let missing = get(&server, &format!("{CONFIG_MAPS}/b")).await;
    assert_eq!(missing.code, StatusCode::NOT_FOUND);
    assert_eq!(missing.json()["message"], r#"configmaps "b" not found"#);
}

#[tokio::test(start_paused = true)]
async fn people_get_it_indented() {
    let server = with_config_maps(&["a"]);
    let plain = get(&server, CONFIG_MAPS).await;
    for (path, agent) in [("", "curl/8.5.0"), ("?pretty=true", "kubectl/v1.36")] {
        let path = format!("{CONFIG_MAPS}{path}");
        let pretty = get_with(&server, &path, &[("User-Agent", agent)]).await;
        assert!(
            pretty
                .text
                .starts_with("{\n  \"kind\": \"ConfigMapList\",\n"),
            "{}",
            pretty.text
        );
        assert_eq!(pretty.json(), plain.json());
    }
    let path = format!("{CONFIG_MAPS}?pretty=false");
    let by_curl = get_with(&server, &path, &[("User-Agent", "curl/8.5.0")]).await;
    assert_eq!(by_curl.text, plain.text);
}

#[tokio::test(start_paused = true)]
async fn partial_metadata_has_no_other_fields() {
    let server = with_config_maps(&["a"]);
    let object = get_with(
        &server,
        &format!("{CONFIG_MAPS}/a"),
        &[("Accept", METADATA)],
    )
    .await;
    let list = get_with(&server, CONFIG_MAPS, &[("Accept", METADATA_LIST)])
        .await
        .json();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list["apiVersion"], "meta.k8s.io/v1");
    let object = object.json();
    assert_eq!(list["items"][0], object);
    assert_eq!(object["kind"], "PartialObjectMetadata");
    assert_eq!(object["metadata"]["labels"]["app"], "x");
    assert_eq!(object.get("data"), None);
    let refused = get_with(&server, CONFIG_MAPS, &[("Accept", METADATA)]).await;
    assert_eq!(refused.code, StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_metadata_without_items_has_null_for_them() {
    let server = with_config_maps(&[]);
    let accept = [("Accept", METADATA_LIST)];
    let list = get_with(&server, CONFIG_MAPS, &accept).await.json();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    assert_eq!(list.get("items"), Some(&Value::Null));
    let objects = get_with(&server, CONFIG_MAPS, &[]).await.json();
    assert_eq!(objects["items"], json!([]));
}

#[tokio::test(start_paused = true)]
async fn a_version_of_the_future_is_waited_for() {
    let server = with_config_maps(&["a"]);
    let future = server.revision() + 1;
    for path in [
        format!("{CONFIG_MAPS}/a?resourceVersion={future}"),
        format!("{CONFIG_MAPS}?resourceVersion={future}"),
        format!("{CONFIG_MAPS}?resourceVersion={future}&resourceVersionMatch=Exact"),
    ] {
        let (answer, waited) = seconds(get(&server, &path)).await;
        assert_eq!(
            (answer.code, waited),
            (StatusCode::GATEWAY_TIMEOUT, 3),
            "{path}"
        );
        assert_eq!(answer.headers["retry-after"], "1");
        let status = answer.json();
        assert_eq!(
            status["details"]["causes"][0]["reason"],
            "ResourceVersionTooLarge"
        );
    }
    let path = format!("{CONFIG_MAPS}?resourceVersion={future}");
    let (answer, _) = tokio::join!(get(&server, &path), async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        put(&server, "default", "b", "x")
    });
    assert_eq!(names(&answer.json()), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn pages_of_one_list_have_one_state() {
    let server = FakeServer::builder().with_bootstrap(false).build();
    // '-' comes before '/': in all namespaces, "a-b" comes before "a".
    for (namespace, name) in [("a", "1"), ("a", "2"), ("a-b", "3"), ("b", "4")] {
        put(&server, namespace, name, "x");
    }
    let whole = get(&server, "/api/v1/configmaps").await.json();
    assert_eq!(names(&whole), ["3", "1", "2", "4"]);
    let mut pages = Vec::new();
    let mut token = String::new();
    for number in 0_usize.. {
        let path = format!("/api/v1/configmaps?&limit=1&continue={token}");
        let page = get(&server, &path).await.json();
        assert_eq!(
            page["metadata"]["resourceVersion"],
            whole["metadata"]["resourceVersion"]
        );
        pages.extend(names(&page));
        let remaining = page["metadata"]["remainingItemCount"].as_u64();
        assert_eq!(remaining, [Some(3), Some(2), Some(1), None][number]);
        // Writes between the pages are not in the list.
        put(&server, "a", &format!("0-{number}"), "x");
        delete(
            &server,
            ["a", "b", "a-b", "a"][number],
            ["2", "4", "3", "1"][number],
        );
        match page["metadata"]["continue"].as_str() {
            Some(next) => next.clone_into(&mut token),
            None => break,
        }
    }
    assert_eq!(pages, names(&whole));
}

#[tokio::test(start_paused = true)]
async fn an_expired_list_continues_inconsistently_with_the_replacement_token() {
    let server = with_config_maps(&["a", "b", "c"]);
    let first = get(&server, &format!("{CONFIG_MAPS}?limit=1")).await.json();
    let token = first["metadata"]["continue"].as_str().unwrap().to_owned();
    let exact = format!(
        "{CONFIG_MAPS}?resourceVersionMatch=Exact&resourceVersion={}",
        server.revision()
    );
    put(&server, "default", "b2", "x");
    assert_eq!(names(&get(&server, &exact).await.json()), ["a", "b", "c"]);
    server.compact();

    let gone = get(&server, &exact).await;
    assert_eq!(
        (gone.code, &gone.json()["reason"]),
        (StatusCode::GONE, &json!("Expired"))
    );
    let gone = get(&server, &format!("{CONFIG_MAPS}?limit=1&continue={token}")).await;
    assert_eq!(gone.code, StatusCode::GONE);
    let next = gone.json()["metadata"]["continue"]
        .as_str()
        .unwrap()
        .to_owned();
    let page = get(&server, &format!("{CONFIG_MAPS}?limit=2&continue={next}"))
        .await
        .json();
    assert_eq!(names(&page), ["b", "b2"], "what came in between shows now");
    assert_eq!(
        page["metadata"]["resourceVersion"],
        server.revision().to_string()
    );
    let next = page["metadata"]["continue"].as_str().unwrap();
    let page = get(&server, &format!("{CONFIG_MAPS}?limit=2&continue={next}"))
        .await
        .json();
    assert_eq!(
        names(&page),
        ["c"],
        "and the token of that page has a version again"
    );
}

#[tokio::test(start_paused = true)]
async fn selectors_choose_and_hide_the_remaining_count() {
    let server = with_config_maps(&["a", "b", "c", "d"]);
    put(&server, "default", "b", "y");
    let select = async |parameters: &str| {
        get(&server, &format!("{CONFIG_MAPS}?{parameters}"))
            .await
            .json()
    };
    assert_eq!(
        names(&select("labelSelector=app%3Dx").await),
        ["a", "c", "d"]
    );
    assert_eq!(
        names(&select("fieldSelector=metadata.name%3Dc").await),
        ["c"]
    );
    let page = select("labelSelector=app%3Dx&limit=2").await;
    assert_eq!(names(&page), ["a", "c"]);
    assert!(page["metadata"]["continue"].is_string());
    assert_eq!(page["metadata"].get("remainingItemCount"), None);
    let bad = get(
        &server,
        &format!("{CONFIG_MAPS}?fieldSelector=spec.foo%3D1"),
    )
    .await;
    assert_eq!(bad.code, StatusCode::BAD_REQUEST);
}

#[tokio::test(start_paused = true)]
async fn a_large_list_comes_in_pieces() {
    let server = FakeServer::builder().build();
    let app = "x".repeat(200);
    for number in 0..2_000 {
        put(&server, "default", &format!("n{number:04}"), &app);
    }
    let mut body = open(&server, CONFIG_MAPS, &[]).await.into_body();
    let mut pieces = Vec::new();
    while let Some(frame) = body.frame().await {
        pieces.push(frame.unwrap().into_data().unwrap());
    }
    assert!(pieces.len() > 10, "{} pieces", pieces.len());
    assert!(pieces.iter().all(|piece| piece.len() < 80 << 10));
    let list: Value = serde_json::from_slice(&pieces.concat()).unwrap();
    assert_eq!(names(&list).len(), 2_000);
}

#[tokio::test(start_paused = true)]
async fn missing_objects_and_resources_are_404() {
    let server = FakeServer::builder().build();
    let check = async |path: &str, code: StatusCode, text: &str| {
        let answer = get(&server, path).await;
        assert_eq!(answer.code, code, "{path}");
        assert!(answer.text.contains(text), "{path}: {}", answer.text);
    };
    let unknown = "the server could not find the requested resource";
    check("/api/v1/nosuchthings", StatusCode::NOT_FOUND, unknown).await;
    check("/apis/apps/v9/deployments", StatusCode::NOT_FOUND, unknown).await;
    check(
        "/api/v1/namespaces/default/nodes",
        StatusCode::NOT_FOUND,
        unknown,
    )
    .await;
    check("/api/v1/pods/a", StatusCode::NOT_FOUND, unknown).await;
    check(
        "/api/v1/namespaces/default/configmaps/a/status",
        StatusCode::NOT_FOUND,
        unknown,
    )
    .await;
    check(
        "/apis/nosuch.group/v1/things",
        StatusCode::NOT_FOUND,
        "404 page not found",
    )
    .await;
    let bad = r#"resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid syntax"#;
    check(
        &format!("{CONFIG_MAPS}?resourceVersion=x"),
        StatusCode::BAD_REQUEST,
        bad,
    )
    .await;
    check(
        &format!("{CONFIG_MAPS}/a?resourceVersion=x"),
        StatusCode::INTERNAL_SERVER_ERROR,
        bad,
    )
    .await;
    check(
        &format!("{CONFIG_MAPS}?watch=1&resourceVersion=x"),
        StatusCode::INTERNAL_SERVER_ERROR,
        bad,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn requests_are_counted_by_resource_and_verb() {
    let server = with_config_maps(&["a"]);
    for path in ["", "", "/a", "?watch=1"] {
        open(&server, &format!("{CONFIG_MAPS}{path}"), &[]).await;
    }
    open(&server, "/apis/apps/v1/deployments", &[]).await;
    let requests = server.stats().requests;
    let counts = |resource: &str| {
        requests[resource]
            .iter()
            .map(|(verb, count)| format!("{verb} {count}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(counts("configmaps"), ["get 1", "list 2", "watch 1"]);
    assert_eq!(counts("deployments.apps"), ["list 1"]);
    server.reset();
    assert!(server.stats().requests.is_empty());
}
