//! Tables, YAML, compression, and JSON for people.

use std::io::Read;

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, PODS, pod};

const TABLE: (&str, &str) = ("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");

fn column_names(table: &Value) -> Vec<&str> {
    let columns = table["columnDefinitions"].as_array().unwrap().iter();
    columns
        .map(|column| column["name"].as_str().unwrap())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_table_has_a_row_for_each_object() {
    let api = Api::new();
    api.post(PODS, &pod("p", "")).await.created();
    api.post(PODS, &pod("q", "n")).await.created();
    tokio::time::advance(std::time::Duration::from_secs(90)).await;
    let table = api.send("GET", PODS, &[TABLE], Body::empty()).await.ok();
    assert_eq!(table["kind"], "Table");
    assert_eq!(
        column_names(&table),
        [
            "Name",
            "Ready",
            "Status",
            "Restarts",
            "Age",
            "IP",
            "Node",
            "Nominated Node",
            "Readiness Gates"
        ]
    );
    let version = api.get(PODS).await.ok()["metadata"]["resourceVersion"].take();
    assert_eq!(table["metadata"]["resourceVersion"], version);
    let rows = table["rows"].as_array().unwrap();
    let cells = json!([
        "q", "0/1", "Pending", "0", "90s", "<none>", "n", "<none>", "<none>"
    ]);
    assert_eq!(rows[1]["cells"], cells);
    assert_eq!(rows[1]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(rows[1]["object"]["metadata"]["name"], "q");
    assert!(rows[1]["object"].get("spec").is_none());

    let one = api
        .send("GET", &format!("{PODS}/p"), &[TABLE], Body::empty())
        .await
        .ok();
    assert_eq!(one["rows"].as_array().unwrap().len(), 1);
    assert_eq!(
        one["metadata"]["resourceVersion"],
        one["rows"][0]["object"]["metadata"]["resourceVersion"]
    );
    let empty = "/api/v1/namespaces/kube-system/pods";
    let empty = api.send("GET", empty, &[TABLE], Body::empty()).await.ok();
    assert_eq!(empty["rows"], json!([]));
}

#[tokio::test]
async fn rows_include_the_requested_part_of_the_object() {
    let api = Api::new();
    let created = api.config_map("a").await;
    for (include, expected) in [("None", Value::Null), ("Object", created)] {
        let path = format!("{CONFIG_MAPS}?includeObject={include}");
        let table = api.send("GET", &path, &[TABLE], Body::empty()).await.ok();
        assert_eq!(table["rows"][0]["object"], expected);
        assert_eq!(table["rows"][0]["cells"][1], 1);
    }
    let path = format!("{CONFIG_MAPS}?includeObject=Some");
    let refused = api
        .send("GET", &path, &[TABLE], Body::empty())
        .await
        .refused(400);
    assert!(
        refused.starts_with("Unable to convert to Table as requested: includeObject"),
        "{refused}"
    );
    // A failure is a Status, for any requested view.
    let missing = format!("{CONFIG_MAPS}/missing");
    api.send("GET", &missing, &[TABLE], Body::empty())
        .await
        .refused(404);
}

#[tokio::test]
async fn a_long_table_comes_in_pieces_that_are_one_document() {
    let api = Api::new();
    let text = "x".repeat(100 << 10);
    for place in 0..40 {
        let object = json!({"metadata": {"name": format!("a-{place:02}")}, "data": {"text": text}});
        api.post(CONFIG_MAPS, &object).await.created();
    }
    let list = api.get(CONFIG_MAPS).await.ok();
    let objects = list["items"].as_array().unwrap().iter();
    let expected: Vec<Value> = objects
        .map(|object| {
            json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
        })
        .collect();
    let table = api
        .send("GET", CONFIG_MAPS, &[TABLE], Body::empty())
        .await
        .ok();
    let rows = table["rows"].as_array().unwrap().iter();
    let found: Vec<Value> = rows.map(|row| row["object"].clone()).collect();
    assert_eq!(found, expected);
}

#[tokio::test(start_paused = true)]
async fn only_the_first_table_of_a_watch_names_the_columns() {
    let api = Api::new();
    let first = api.config_map("a").await;
    api.config_map("b").await;
    api.delete(&format!("{CONFIG_MAPS}/b")).await.ok();
    let version = first["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!("{CONFIG_MAPS}?watch=1&timeoutSeconds=1&resourceVersion={version}");
    let events = api.send("GET", &path, &[TABLE], Body::empty()).await.text;
    let events: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), 2);
    assert_eq!(column_names(&events[0]["object"]), ["Name", "Data", "Age"]);
    assert_eq!(events[1]["object"]["columnDefinitions"], Value::Null);
    assert_eq!(events[1]["type"], "DELETED");
    let row = &events[1]["object"]["rows"][0];
    assert_eq!(row["cells"][0], "b");
    assert_ne!(
        row["object"]["metadata"]["resourceVersion"],
        events[0]["object"]["metadata"]["resourceVersion"]
    );
}

#[tokio::test]
async fn yaml_is_the_same_object_in_other_words() {
    let api = Api::new();
    let created = api.config_map("a").await;
    let yaml = [("accept", "application/yaml")];
    let answer = api
        .send("GET", &format!("{CONFIG_MAPS}/a"), &yaml, Body::empty())
        .await;
    assert_eq!(answer.headers["content-type"], "application/yaml");
    assert!(
        answer
            .text
            .starts_with("apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\n"),
        "{answer:?}"
    );
    // What was read can be sent back.
    let sends = [("content-type", "application/yaml")];
    let same = api
        .send("PUT", &format!("{CONFIG_MAPS}/a"), &sends, answer.text)
        .await
        .ok();
    assert_eq!(same, created);
    let list = api.send("GET", CONFIG_MAPS, &yaml, Body::empty()).await;
    assert!(list.text.contains("kind: ConfigMapList\n"), "{list:?}");
    let refused = api
        .send("GET", &format!("{CONFIG_MAPS}/none"), &yaml, Body::empty())
        .await;
    assert_eq!(
        (
            refused.code.as_u16(),
            refused.text.contains("reason: NotFound\n")
        ),
        (404, true)
    );
    let watch = api
        .send(
            "GET",
            &format!("{CONFIG_MAPS}?watch=1"),
            &yaml,
            Body::empty(),
        )
        .await;
    assert_eq!(watch.code, 406);
}

#[tokio::test]
async fn long_answers_are_compressed_for_clients_that_accept_gzip() {
    let api = Api::new();
    let gzip = [("accept-encoding", "gzip")];
    for index in 0..40 {
        let object =
            json!({"metadata": {"name": format!("c{index:02}")}, "data": {"k": "x".repeat(4_000)}});
        api.post(CONFIG_MAPS, &object).await.created();
    }
    let plain = api.get(CONFIG_MAPS).await;
    assert!(!plain.headers.contains_key("content-encoding"));
    let answer = api.send("GET", CONFIG_MAPS, &gzip, Body::empty()).await;
    assert_eq!(answer.headers["content-encoding"], "gzip");
    assert_eq!(answer.headers["vary"], "Accept-Encoding");
    assert!(answer.bytes.len() < plain.bytes.len() / 10);
    let mut text = String::new();
    flate2::read::GzDecoder::new(&*answer.bytes)
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, plain.text);

    let short = api
        .send(
            "GET",
            &format!("{CONFIG_MAPS}?limit=20"),
            &gzip,
            Body::empty(),
        )
        .await;
    assert!(
        !short.headers.contains_key("content-encoding"),
        "80 KB go as they are"
    );
    assert_eq!(short.ok()["items"].as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn people_get_json_that_they_can_read() {
    let api = Api::new();
    api.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    for (path, headers) in [
        (format!("{path}?pretty=true"), ("accept", "*/*")),
        (path.clone(), ("accept", "application/json;pretty=1")),
        (path.clone(), ("user-agent", "curl/8")),
    ] {
        let answer = api.send("GET", &path, &[headers], Body::empty()).await;
        assert!(
            answer.text.starts_with("{\n  \"kind\": \"ConfigMap\",\n"),
            "{answer:?}"
        );
    }
    // Failures too, and nothing ends with a newline then.
    let missing = format!("{CONFIG_MAPS}/missing");
    for (path, header) in [
        (missing.clone(), ("user-agent", "curl/8")),
        (format!("{missing}?pretty=true"), ("accept", "*/*")),
        (format!("{CONFIG_MAPS}?limit=x&pretty=1"), ("accept", "*/*")),
    ] {
        let answer = api.send("GET", &path, &[header], Body::empty()).await;
        assert!(
            answer.text.starts_with("{\n  \"kind\": \"Status\",\n"),
            "{answer:?}"
        );
        assert!(answer.text.ends_with("\n}"), "{answer:?}");
        assert_eq!(answer.headers["content-type"], "application/json");
    }
    let refused = api
        .send("GET", &missing, &[("accept", "*/*")], Body::empty())
        .await;
    assert!(refused.text.starts_with("{\"kind\":\"Status\",") && refused.text.ends_with("}\n"));
    let plain = api
        .send(
            "GET",
            &path,
            &[("accept", "application/json")],
            Body::empty(),
        )
        .await;
    assert!(plain.text.starts_with("{\"kind\""));
}
