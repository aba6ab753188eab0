//! Bad requests: they are rejected, and nothing is half done.

use proptest::prelude::*;
use serde_json::json;

use crate::support::{Api, CONFIG_MAPS};

#[tokio::test]
async fn bodies_that_are_no_objects_are_refused() {
    let api = Api::new();
    let before = api.server.revision();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!(
        "{{\"data\":{}1{}}}",
        "{\"a\":".repeat(5_000),
        "}".repeat(5_000)
    );
    let bodies: [&[u8]; 10] = [
        b"",
        b"{",
        b"null",
        b"\"text\"",
        b"{\"metadata\":[]}",
        b"{\"metadata\":{\"name\":\"a\xff\"}}",
        b"\x00\x01\x02",
        b"{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":1}}}",
        deep.as_bytes(),
        deep_object.as_bytes(),
    ];
    for body in bodies {
        for (method, path) in [
            ("POST", CONFIG_MAPS.to_owned()),
            ("PUT", format!("{CONFIG_MAPS}/a")),
        ] {
            let answer = api.send(method, &path, &[], body.to_vec()).await;
            assert!(
                matches!(answer.code.as_u16(), 400 | 422),
                "{method} {:?}: {answer:?}",
                &body[..body.len().min(40)]
            );
        }
    }
    assert_eq!(api.server.revision(), before);
}

#[tokio::test]
async fn a_number_that_is_no_double_is_refused_where_anything_may_stand() {
    let api = Api::new();
    let body = r#"{"metadata":{"name":"a"},"revision":1,"data":{"a":[{"b":1e999}]}}"#;
    let path = "/apis/apps/v1/namespaces/default/controllerrevisions";
    let answer = api.send("POST", path, &[], body.as_bytes().to_vec()).await;
    let why = answer.refused(400);
    assert!(why.contains("cannot unmarshal number 1e999"), "{why}");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let api = Api::new();
    let large = json!({"metadata": {"name": "a"}, "data": {"k": "x".repeat(4 << 20)}});
    assert_eq!(
        api.post(CONFIG_MAPS, &large).await.refused(413),
        "Request entity too large: limit is 3145728"
    );
}

#[tokio::test]
async fn strange_paths_are_not_found() {
    let api = Api::new();
    for path in [
        "//",
        "/api//pods",
        "/api/v1//pods",
        "/api/v1/namespaces/default/pods/a/status/more",
        "/api/v1/namespaces/default/pods/%ff",
        "/api/v1/namespaces/default/pods/a/b/c/d",
        "/api/v1/namespaces/default/pods/a/nosuch",
        "/api/v1/nodes/n/proxy",
        "/api/v1/namespaces/default/nodes",
        "/api/v1/pods/a",
    ] {
        assert_eq!(api.get(path).await.code.as_u16(), 404, "{path}");
    }
    // A namespace without a name is none, and slashes at the end are ignored.
    for path in [
        "/api/v1/namespaces//pods",
        "/api/v1/namespaces/default/pods//",
    ] {
        api.get(path).await.ok();
    }
    for path in ["/api/v1/watch", "/apis/none/v1/proxy"] {
        assert_eq!(
            api.get(path).await.refused_plainly(500),
            format!(
                "Internal Server Error: \"{path}\": failed to create RequestInfo: unable to determine kind and \
                 namespace from url, {path}\n"
            )
        );
    }
    // An escaped slash is one.
    api.get("/api/v1/namespaces/default/pods/a%2Fb")
        .await
        .refused(404);
    let escaped = json!({"metadata": {"name": "a/b"}});
    api.post(CONFIG_MAPS, &escaped).await.refused(422);
    for (method, path) in [
        ("PUT", CONFIG_MAPS),
        ("PATCH", CONFIG_MAPS),
        ("BREW", CONFIG_MAPS),
        ("HEAD", "/api"),
    ] {
        assert_eq!(
            api.send(method, path, &[], "").await.code.as_u16(),
            405,
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn findings_show_values_as_go_prints_them_and_empty_lists_as_they_were_sent() {
    let api = Api::new();
    let query = format!("{CONFIG_MAPS}?fieldManager=a%00b");
    let map = json!({"metadata": {"name": "m"}});
    let why = api.post(&query, &map).await.refused(422);
    assert!(why.contains(r#"Invalid value: "a\x00b": "#), "{why}");
    let query = format!("{CONFIG_MAPS}?fieldManager=%C3%A4%C2%A0b");
    let why = api.post(&query, &map).await.refused(422);
    assert!(
        why.contains(r#""ä\u00a0b": invalid character U+00A0 (at position 2)"#),
        "{why}"
    );

    let mut volume = json!({"metadata": {"name": "v"}, "spec": {
        "capacity": {}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"},
    }});
    let volumes = "/api/v1/persistentvolumes";
    let why = api.post(volumes, &volume).await.refused(422);
    assert!(
        why.contains("spec.capacity: Unsupported value: {}: "),
        "{why}"
    );
    volume["spec"]["capacity"] = json!(null);
    let why = api.post(volumes, &volume).await.refused(422);
    assert!(
        why.contains("spec.capacity: Unsupported value: null: "),
        "{why}"
    );
}

#[tokio::test]
async fn the_data_of_revisions_stays_as_it_was_sent() {
    let api = Api::new();
    let revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
    let patch = json!({"metadata": {"labels": {"a": "b"}}});
    for (name, data, is_patched) in [
        ("spaced", r#"{"b": 1, "a": 2}"#, false),
        ("compact", r#"{"b":1,"a":2}"#, true),
    ] {
        let body = format!(r#"{{"metadata":{{"name":"{name}"}},"revision":1,"data":{data}}}"#);
        let made = api.send("POST", revisions, &[], body.clone()).await;
        assert_eq!(made.created()["data"], json!({"a": 2, "b": 1}));
        let object = format!("{revisions}/{name}");
        api.send("PUT", &object, &[], body).await.ok();
        let merged = api.merge(&object, &patch).await;
        if is_patched {
            merged.ok();
        } else {
            let why = merged.refused(422);
            assert!(
                why.ends_with(r#"{"b":1,"a":2}: field is immutable"#),
                "{why}"
            );
        }
    }
}

#[tokio::test]
async fn a_limit_range_without_a_name_gets_one() {
    let api = Api::new();
    let ranges = "/api/v1/namespaces/default/limitranges";
    let range = json!({"metadata": {}, "spec": {"limits": []}});
    let made = api.post(ranges, &range).await.created();
    assert_eq!(made["metadata"]["name"].as_str().unwrap().len(), 36);
}

#[tokio::test]
async fn administrative_access_to_devices_needs_a_label_of_the_namespace() {
    let api = Api::new();
    let claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
    let claim = json!({"metadata": {"name": "a"}, "spec": {"devices": {"requests": [{
        "name": "r", "exactly": {"deviceClassName": "c.example.com", "adminAccess": true},
    }]}}});
    let why = api.post(claims, &claim).await.refused(422);
    assert!(
        why.ends_with(
            "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the \
             `resource.kubernetes.io/admin-access: true` label on the containing namespace"
        ),
        "{why}"
    );
    let labels = json!({"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}});
    api.merge("/api/v1/namespaces/default", &labels).await.ok();
    api.post(claims, &claim).await.created();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Every request is answered, and a rejected one leaves no trace.
    #[test]
    fn any_request_is_answered(
        method in prop::sample::select(vec!["GET", "POST", "PUT", "PATCH", "DELETE"]),
        path in prop::sample::select(vec![
            "/api/v1/namespaces/default/configmaps",
            "/api/v1/namespaces/default/configmaps/a",
            "/api/v1/namespaces/default/pods/p/status",
            "/api/v1/namespaces/n/finalize",
            "/apis/apps/v1/deployments",
        ]),
        query in "[a-zA-Z=&%,!()]{0,20}",
        media_type in prop::sample::select(vec![
            "application/json", "application/merge-patch+json", "application/json-patch+json", "text/plain",
        ]),
        body in "\\PC{0,40}|[\\[{\"a:0,\\]}]{0,30}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let api = Api::new();
            api.config_map("a").await;
            let before = api.server.revision();
            let uri = format!("{path}?{query}");
            prop_assume!(uri.parse::<http::Uri>().is_ok() && !query.contains("watch"));
            let answer = api.send(method, &uri, &[("content-type", media_type)], body).await;
            // A real server has no better code for options of a deletion that it cannot read.
            let is_told = answer.code.as_u16() < 500 || method == "DELETE";
            prop_assert!(is_told && answer.json()["kind"] != "", "{answer:?}");
            if !answer.code.is_success() {
                prop_assert_eq!(api.server.revision(), before);
            }
            Ok(())
        })?;
    }
}

/// Returns objects nested `levels` deep.
fn nested(levels: usize) -> serde_json::Value {
    (0..levels).fold(json!("x"), |inner, _| json!({"a": inner}))
}

#[tokio::test]
async fn stored_objects_of_any_depth_can_be_read() {
    let api = Api::new();
    let definition = json!({
        "metadata": {"name": "deeps.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "deeps", "singular": "deep", "kind": "Deep"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    api.post(definitions, &definition).await.created();
    let deeps = "/apis/example.com/v1/namespaces/default/deeps";
    let mut taken = 0;
    for levels in 85..130 {
        let path = format!("{deeps}/d{levels}");
        let object = json!({"kind": "Deep", "apiVersion": "example.com/v1",
            "metadata": {"name": format!("d{levels}")}, "spec": nested(levels)});
        let answer = api.post(deeps, &object).await;
        if answer.code.as_u16() != 201 {
            assert!(matches!(answer.code.as_u16(), 400 | 422), "{answer:?}");
            continue;
        }
        taken += 1;
        let change = json!({"metadata": {"labels": {"a": "b"}}});
        api.merge(&path, &change).await.ok();
        api.get(&path).await.ok();
    }
    assert!((1..20).contains(&taken), "{taken}");
    let before = api.server.revision();
    let path = format!("{deeps}/d85");
    let change = json!({"spec": nested(115)});
    api.merge(&path, &change).await.refused(400);
    let config = json!({
        "apiVersion": "example.com/v1", "kind": "Deep",
        "metadata": {"name": "applied"}, "spec": nested(115),
    });
    let applied = format!("{deeps}/applied?fieldManager=m");
    api.apply(&applied, config.to_string()).await.refused(400);
    assert_eq!(api.server.revision(), before);
    api.delete(&path).await.ok();
}
