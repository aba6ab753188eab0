//! Custom resources: defined, served, changed and gone.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Api;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

fn definition(versions: &[&str]) -> Value {
    let versions = versions.iter().enumerate().map(|(index, name)| {
        json!({
            "name": name,
            "served": true,
            "storage": index == 0,
            "subresources": {"status": {}},
            "selectableFields": [{"jsonPath": ".spec.color"}],
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {"color": {"type": "string", "default": "red"}}},
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}},
        })
    });
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": versions.collect::<Vec<_>>(),
        },
    })
}

/// Returns a widget with what objects of its kind say of themselves.
fn widget(mut object: Value) -> Value {
    object["kind"] = json!("Widget");
    object["apiVersion"] = json!("example.com/v1");
    object
}

async fn with_widgets() -> Api {
    let api = Api::new();
    api.post(DEFINITIONS, &definition(&["v1"])).await.created();
    api
}

#[tokio::test(start_paused = true)]
async fn a_definition_may_have_the_plural_of_a_built_in_kind() {
    let api = Api::new();
    let mut definition = definition(&["v1"]);
    definition["metadata"]["name"] = json!("bindings.example.com");
    definition["spec"]["names"] = json!({"plural": "bindings", "kind": "Binding"});
    api.post(DEFINITIONS, &definition).await.created();
    let path = "/apis/example.com/v1/namespaces/default/bindings";
    let binding = json!({"kind": "Binding", "apiVersion": "example.com/v1", "metadata": {"name": "a"}, "spec": {"color": "blue"}});
    let made = api.post(path, &binding).await.created();
    assert_eq!(made["spec"]["color"], "blue");
    assert_eq!(api.get(&format!("{path}/a")).await.ok(), made);
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_served_as_soon_as_it_is_defined() {
    let api = Api::new();
    assert_eq!(api.get(WIDGETS).await.text, "404 page not found\n");
    api.post(DEFINITIONS, &definition(&["v1"])).await.created();
    let crd = api
        .get(&format!("{DEFINITIONS}/widgets.example.com"))
        .await
        .ok();
    let conditions = crd["status"]["conditions"].as_array().unwrap();
    assert!(
        conditions
            .iter()
            .all(|condition| condition["status"] == "True")
    );

    let created = api
        .post(
            WIDGETS,
            &widget(json!({"metadata": {"name": "a"}, "spec": {}})),
        )
        .await
        .created();
    assert_eq!(created["spec"], json!({"color": "red"}));
    let groups = api.get("/apis").await.ok();
    let last = groups["groups"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["name"], "example.com");
    let selected = api
        .get(&format!("{WIDGETS}?fieldSelector=spec.color%3Dred"))
        .await
        .ok();
    assert_eq!(selected["items"].as_array().unwrap().len(), 1);
    assert_eq!(selected["items"][0]["kind"], "Widget");
}

#[tokio::test(start_paused = true)]
async fn all_versions_show_the_same_objects() {
    let api = Api::new();
    api.post(DEFINITIONS, &definition(&["v1", "v2"]))
        .await
        .created();
    api.post(
        WIDGETS,
        &widget(json!({"metadata": {"name": "a"}, "spec": {}})),
    )
    .await
    .created();
    let other = WIDGETS.replace("/v1/", "/v2/");
    let read = api.get(&format!("{other}/a")).await.ok();
    assert_eq!(read["apiVersion"], "example.com/v2");
    let group = api.get("/apis/example.com").await.ok();
    assert_eq!(group["preferredVersion"]["version"], "v2");
}

/// Returns the definition with these versions, of which the last one is stored and those that begin with `-` are not
/// served.
fn stored_last(names: &[&str]) -> Value {
    let mut definition = definition(names);
    let versions = definition["spec"]["versions"].as_array_mut().unwrap();
    let last = versions.len() - 1;
    for (place, version) in versions.iter_mut().enumerate() {
        let name = version["name"].as_str().unwrap().to_owned();
        version["name"] = json!(name.trim_start_matches('-'));
        version["served"] = json!(!name.starts_with('-'));
        version["storage"] = json!(place == last);
    }
    json!({"spec": {"versions": versions}})
}

async fn version_hash(api: &Api, version: &str) -> Value {
    let list = api.get(&format!("/apis/example.com/{version}")).await.ok();
    list["resources"][0]["storageVersionHash"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_definition_changes_its_storage_version_and_drops_the_old_one() {
    let api = Api::new();
    let created = api.post(DEFINITIONS, &definition(&["v1alpha1"])).await;
    assert_eq!(
        created.created()["status"]["storedVersions"],
        json!(["v1alpha1"])
    );
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let status = format!("{path}/status");
    let first_hash = version_hash(&api, "v1alpha1").await;
    assert_eq!(first_hash, "aXSEt3iQTdQ=");

    let changed = api.merge(&path, &stored_last(&["v1alpha1", "v1"])).await;
    let stored = |crd: Value| crd["status"]["storedVersions"].clone();
    assert_eq!(stored(changed.ok()), json!(["v1alpha1", "v1"]));
    let hash = version_hash(&api, "v1").await;
    assert_ne!(hash, first_hash);
    assert_eq!(version_hash(&api, "v1alpha1").await, hash);

    // Through the main resource a client can neither drop a version that may be stored, nor say that it is not.
    let dropped = api.merge(&path, &stored_last(&["v1"])).await.refused(422);
    assert!(
        dropped.contains(
            "status.storedVersions[0]: Invalid value: \"v1alpha1\": missing from spec.versions; v1alpha1 was previously \
             a storage version"
        ),
        "{dropped}"
    );
    let none_left = json!({"status": {"storedVersions": ["v1"]}});
    let kept = api.merge(&path, &none_left).await.ok();
    assert_eq!(stored(kept), json!(["v1alpha1", "v1"]));

    // A status is what a client says, until the definition itself is written.
    for (sent, recorded) in [
        (json!(["v1alpha1"]), json!(["v1alpha1", "v1"])),
        (json!([]), json!(["v1"])),
    ] {
        let change = json!({"status": {"storedVersions": sent}});
        let written = api.merge(&status, &change).await.ok();
        let sent = if sent == json!([]) { Value::Null } else { sent };
        assert_eq!(stored(written), sent);
        let label = json!({"metadata": {"labels": {"sent": sent.to_string().len().to_string()}}});
        assert_eq!(stored(api.merge(&path, &label).await.ok()), recorded);
    }
    let unknown = json!({"status": {"storedVersions": ["v1", "v9"]}});
    api.merge(&status, &unknown).await.ok();
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    let refused = api.merge(&path, &label).await.refused(422);
    assert!(
        refused.contains("v9 was previously a storage version, and must remain in spec.versions"),
        "{refused}"
    );
    let migrated = api.merge(&status, &none_left).await.ok();
    assert_eq!(stored(migrated), json!(["v1"]));
    let dropped = api.merge(&path, &stored_last(&["v1"])).await.ok();
    assert_eq!(stored(dropped), json!(["v1"]));
    let gone = api.get("/apis/example.com/v1alpha1/widgets").await;
    assert_eq!(gone.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_storage_version_that_is_not_served_has_no_hash() {
    let api = Api::new();
    api.post(DEFINITIONS, &definition(&["v1"])).await.created();
    let path = format!("{DEFINITIONS}/widgets.example.com");
    api.merge(&path, &stored_last(&["v1", "-v2"])).await.ok();
    assert_eq!(version_hash(&api, "v1").await, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn an_update_that_changes_nothing_writes_an_object_in_the_new_storage_version() {
    let api = with_widgets().await;
    let made = api
        .post(WIDGETS, &widget(json!({"metadata": {"name": "a"}})))
        .await
        .created();
    let path = format!("{WIDGETS}/a");
    assert_eq!(api.put(&path, &made).await.ok(), made);

    let definition = format!("{DEFINITIONS}/widgets.example.com");
    api.merge(&definition, &stored_last(&["v1", "v2"]))
        .await
        .ok();
    let finalizer = json!({"metadata": {"finalizers": ["example.com/f"]}});
    let before = api.merge(&path, &json!({})).await.ok();
    assert_ne!(
        before["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );
    let newer = "/apis/example.com/v2/namespaces/default/widgets/a";
    assert_eq!(
        api.merge(newer, &json!({})).await.ok()["metadata"],
        before["metadata"],
        "it is stored in the new version"
    );
    // A deletion leaves an object in its version.
    let held = api.merge(&path, &finalizer).await.ok();
    api.merge(&definition, &stored_last(&["v2", "v1"]))
        .await
        .ok();
    let marked = api.delete(&path).await.ok();
    let again = api.merge(&path, &json!({})).await.ok();
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    assert_ne!(version(&held), version(&marked));
    assert_ne!(version(&marked), version(&again));
    // It says so in a snapshot, too.
    api.merge(&definition, &stored_last(&["v1", "v2"]))
        .await
        .ok();
    let snapshot = api.server.snapshot();
    let restored = Api {
        server: fakeserver::FakeServer::builder()
            .with_snapshot(snapshot)
            .build(),
    };
    let migrated = restored.merge(&path, &json!({})).await.ok();
    assert_ne!(version(&migrated), version(&again));
    let unchanged = restored.merge(&path, &json!({})).await.ok();
    assert_eq!(version(&unchanged), version(&migrated));
}

#[tokio::test(start_paused = true)]
async fn an_object_in_a_version_that_was_dropped_too_early_cannot_be_read() {
    let api = with_widgets().await;
    let object = widget(json!({"metadata": {"name": "a"}}));
    api.post(WIDGETS, &object).await.created();
    let definition = format!("{DEFINITIONS}/widgets.example.com");
    api.merge(&definition, &stored_last(&["v1", "v2"]))
        .await
        .ok();
    let forgotten = json!({"status": {"storedVersions": ["v2"]}});
    api.merge(&format!("{definition}/status"), &forgotten)
        .await
        .ok();
    api.merge(&definition, &stored_last(&["v2"])).await.ok();
    let why = "request to convert CR from an invalid group/version: example.com/v1";
    let path = "/apis/example.com/v2/namespaces/default/widgets";
    assert_eq!(api.get(path).await.refused(500), why);
    let one = format!("{path}/a");
    assert_eq!(api.get(&one).await.refused(500), why);
    assert_eq!(api.merge(&one, &json!({})).await.refused(500), why);
    assert_eq!(api.delete(&one).await.refused(500), why);
    api.merge(&definition, &stored_last(&["v1", "v2"]))
        .await
        .ok();
    api.get(&one).await.ok();
}

#[tokio::test(start_paused = true)]
async fn an_update_that_changes_nothing_writes_new_defaults() {
    let api = with_widgets().await;
    let object = widget(json!({"metadata": {"name": "a"}, "spec": {}}));
    let made = api.post(WIDGETS, &object).await.created();
    let definition = format!("{DEFINITIONS}/widgets.example.com");
    let at = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size";
    let size = json!({"type": "integer", "default": 3});
    api.json_patch(
        &definition,
        &json!([{"op": "add", "path": at, "value": size}]),
    )
    .await
    .ok();
    let path = format!("{WIDGETS}/a");
    let read = api.get(&path).await.ok();
    assert_eq!(read["spec"]["size"], 3);
    let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
    assert_eq!(version(&read), version(&made));
    let written = api.put(&path, &read).await.ok();
    assert_ne!(version(&written), version(&made));
    assert_eq!(
        version(&api.put(&path, &written).await.ok()),
        version(&written)
    );
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_ends_has_no_verbs_that_write() {
    let api = with_widgets().await;
    let object = json!({"metadata": {"name": "a", "finalizers": ["example.com/f"]}});
    api.post(WIDGETS, &widget(object)).await.created();
    let hash = version_hash(&api, "v1").await;
    api.delete(&format!("{DEFINITIONS}/widgets.example.com"))
        .await
        .ok();
    let list = api.get("/apis/example.com/v1").await.ok();
    assert_eq!(
        list["resources"][0]["verbs"],
        json!(["delete", "deletecollection", "get", "list", "watch"])
    );
    assert_eq!(version_hash(&api, "v1").await, hash);
    assert_ne!(hash, Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_status_is_written_through_its_own_path() {
    let api = with_widgets().await;
    let a = format!("{WIDGETS}/a");
    api.post(
        WIDGETS,
        &widget(json!({"metadata": {"name": "a"}, "spec": {}, "status": {"x": 1}})),
    )
    .await
    .created();
    let status = api
        .merge(
            &format!("{a}/status"),
            &json!({"status": {"x": 2}, "spec": {"color": "blue"}}),
        )
        .await
        .ok();
    assert_eq!(status["status"], json!({"x": 2}));
    assert_eq!(status["spec"]["color"], "red");
    assert_eq!(status["metadata"]["generation"], 1);
    let changed = api
        .merge(&a, &json!({"spec": {"color": "blue"}, "status": null}))
        .await
        .ok();
    assert_eq!(changed["metadata"]["generation"], 2);
    assert_eq!(changed["status"], json!({"x": 2}));
}

#[tokio::test(start_paused = true)]
async fn names_that_another_definition_has_are_not_served_again() {
    let api = with_widgets().await;
    let mut other = definition(&["v1"]);
    other["metadata"]["name"] = json!("gadgets.example.com");
    other["spec"]["names"] = json!({"plural": "gadgets", "kind": "Widget"});
    api.post(DEFINITIONS, &other).await.created();
    let crd = api
        .get(&format!("{DEFINITIONS}/gadgets.example.com"))
        .await
        .ok();
    let accepted = &crd["status"]["conditions"][0];
    assert_eq!(accepted["reason"], "ListKindConflict");
    assert_eq!(accepted["status"], "False");
    api.get("/apis/example.com/v1/gadgets")
        .await
        .refused_plainly(404);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_definition_takes_its_objects_along() {
    let api = with_widgets().await;
    let a = format!("{WIDGETS}/a");
    let held =
        widget(json!({"metadata": {"name": "a", "finalizers": ["example.com/held"]}, "spec": {}}));
    api.post(WIDGETS, &held).await.created();
    api.post(
        WIDGETS,
        &widget(json!({"metadata": {"name": "b"}, "spec": {}})),
    )
    .await
    .created();
    let crd = format!("{DEFINITIONS}/widgets.example.com");
    let deleted = api.delete(&crd).await.ok();
    assert_eq!(
        deleted["metadata"]["finalizers"],
        json!(["customresourcecleanup.apiextensions.k8s.io"])
    );
    assert_eq!(
        api.post(
            WIDGETS,
            &widget(json!({"metadata": {"name": "c"}, "spec": {}}))
        )
        .await
        .refused(405),
        "create not allowed while custom resource definition is terminating"
    );
    tokio::time::sleep(Duration::from_secs(2)).await;
    api.get(&format!("{WIDGETS}/b")).await.refused(404);
    let held = api.get(&a).await.ok();
    assert!(held["metadata"].get("deletionTimestamp").is_some());
    api.get(&crd).await.ok();
    // The last object goes, and the definition with it.
    api.merge(&a, &json!({"metadata": {"finalizers": null}}))
        .await
        .ok();
    api.get(&crd).await.refused(404);
    assert_eq!(api.get(WIDGETS).await.text, "404 page not found\n");
    assert_eq!(
        api.get("/apis/example.com").await.text,
        "404 page not found\n"
    );
}

#[tokio::test(start_paused = true)]
async fn a_definition_that_others_hold_is_not_written_again() {
    let api = Api::new();
    let mut held = definition(&["v1"]);
    held["metadata"]["finalizers"] = json!(["example.com/held"]);
    api.post(DEFINITIONS, &held).await.created();
    let path = format!("{DEFINITIONS}/widgets.example.com");
    api.delete(&path).await.ok();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let before = api.get(&path).await.ok();
    assert_eq!(
        before["metadata"]["finalizers"],
        json!(["example.com/held"])
    );
    let mut other = definition(&["v1"]);
    other["metadata"]["name"] = json!("gadgets.example.com");
    other["spec"]["names"] = json!({"plural": "gadgets", "kind": "Gadget"});
    api.post(DEFINITIONS, &other).await.created();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(api.get(&path).await.ok(), before);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_its_definition() {
    let api = with_widgets().await;
    api.post(
        WIDGETS,
        &widget(json!({"metadata": {"name": "a"}, "spec": {}})),
    )
    .await
    .created();
    let path = format!("{WIDGETS}?watch=true&resourceVersion=0");
    let watched = api.get(&path);
    let deleted = async {
        api.delete(&format!("{DEFINITIONS}/widgets.example.com"))
            .await
            .ok();
    };
    let (watched, ()) = tokio::join!(watched, deleted);
    let events: Vec<Value> = watched
        .text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["ADDED", "DELETED"]);
    assert_eq!(api.server.stats().watchers, 0);
}

#[tokio::test(start_paused = true)]
async fn a_new_generation_of_a_definition_ends_watches_and_is_served() {
    let api = with_widgets().await;
    let path = format!("{WIDGETS}?watch=true");
    let watched = api.get(&path);
    let changed = async {
        let schema = json!([{"op": "add", "value": {"type": "integer"},
            "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size"}]);
        api.json_patch(&format!("{DEFINITIONS}/widgets.example.com"), &schema)
            .await
            .ok();
    };
    let (watched, ()) = tokio::join!(watched, changed);
    assert_eq!(watched.text, "");
    let created = api
        .post(
            WIDGETS,
            &widget(json!({"metadata": {"name": "a"}, "spec": {"size": 1}})),
        )
        .await
        .created();
    assert_eq!(created["spec"]["size"], 1);
}

#[tokio::test(start_paused = true)]
async fn an_invalid_definition_is_rejected_as_a_whole() {
    let api = Api::new();
    let mut crd = definition(&["v1"]);
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = json!({});
    let why = api.post(DEFINITIONS, &crd).await.refused(422);
    assert!(
        why.contains("properties[spec].type: Required value"),
        "{why}"
    );
    api.get("/apis/example.com").await.refused_plainly(404);
}

#[tokio::test(start_paused = true)]
async fn a_reset_server_has_no_custom_resources() {
    let api = with_widgets().await;
    api.server.reset();
    assert_eq!(api.get(WIDGETS).await.text, "404 page not found\n");
}

#[tokio::test(start_paused = true)]
async fn custom_resources_are_read_by_head() {
    let api = with_widgets().await;
    let body = r#"{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"a"},"status":{},"spec":{"color":"blue"}}"#;
    api.send("POST", WIDGETS, &[], body).await.created();
    for (path, code) in [
        (WIDGETS.to_owned(), 200),
        (format!("{WIDGETS}/a"), 200),
        (format!("{WIDGETS}/b"), 404),
        ("/api/v1/namespaces/default/configmaps".to_owned(), 405),
    ] {
        let answer = api.send("HEAD", &path, &[], "").await;
        assert_eq!(answer.code.as_u16(), code, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn metadata_has_no_lists_and_maps_without_items() {
    let api = with_widgets().await;
    let empty = json!({"name": "a", "labels": {}, "annotations": {}, "finalizers": [], "managedFields": []});
    let made = api
        .post(WIDGETS, &widget(json!({"metadata": empty, "spec": {}})))
        .await;
    let mut made = made.created()["metadata"].take();
    for field in ["labels", "annotations", "finalizers"] {
        assert_eq!(made[field].take(), Value::Null, "{field}");
    }
    let managers = made["managedFields"].take();
    assert_eq!(managers[0]["fieldsV1"].get("f:metadata"), None);

    let a = format!("{WIDGETS}/a");
    for labels in [json!({"x": "y"}), json!({})] {
        let change = json!([{"op": "add", "path": "/metadata/labels", "value": labels}]);
        let changed = api.json_patch(&a, &change).await.ok();
        let (value, managed) = (
            &changed["metadata"]["labels"],
            &changed["metadata"]["managedFields"],
        );
        let is_empty = labels == json!({});
        assert_eq!(*value == Value::Null, is_empty, "{value}");
        assert_eq!(
            managed.to_string().contains("f:labels"),
            !is_empty,
            "{managed}"
        );
    }
    // An empty list of managers is none; only an empty manager resets them.
    for (managers, is_reset) in [(json!([]), false), (json!([{}]), true)] {
        let changed = api
            .merge(&a, &json!({"metadata": {"managedFields": managers}}))
            .await
            .ok();
        assert_eq!(changed["metadata"].get("managedFields").is_none(), is_reset);
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_needs_kind_and_version() {
    let api = with_widgets().await;
    let missing = "Object 'Kind' is missing in '{\"metadata\":{\"name\":\"a\"}}'";
    let unnamed = json!({"metadata": {"name": "a"}});
    assert_eq!(
        api.post(WIDGETS, &unnamed).await.refused(400),
        format!(
            "the object provided is unrecognized (must be of type Widget): {missing} \
             ({{\"metadata\":{{\"name\":\"a\"}}}})"
        )
    );
    let unvalidated = format!("{WIDGETS}?fieldValidation=Ignore");
    assert_eq!(
        api.post(&unvalidated, &unnamed).await.refused(400),
        format!("Widget in version \"v1\" cannot be handled as a Widget: {missing}")
    );
    for (version, version_in_data) in [
        (json!(null), ""),
        (json!("/v2"), "v2"),
        (json!("x/v1"), "x/v1"),
    ] {
        let mut object = widget(unnamed.clone());
        object["apiVersion"] = version;
        assert_eq!(
            api.post(WIDGETS, &object).await.refused(400),
            format!(
                "the API version in the data ({version_in_data}) does not match the expected API version (example.com/v1)"
            )
        );
    }
    let mut other = widget(unnamed.clone());
    other["kind"] = json!("Gadget");
    let invalid =
        "Gadget.example.com \"a\" is invalid: kind: Invalid value: \"Gadget\": must be Widget";
    assert_eq!(api.post(WIDGETS, &other).await.refused(422), invalid);
    // One that is not there is missed first.
    let a = format!("{WIDGETS}/a");
    api.put(&a, &other).await.refused(404);
    api.post(WIDGETS, &widget(unnamed)).await.created();
    assert_eq!(api.put(&a, &other).await.refused(422), invalid);
}

#[tokio::test(start_paused = true)]
async fn paths_go_by_their_beginning_and_methods_by_their_verb() {
    let api = with_widgets().await;
    let a = format!("{WIDGETS}/a");
    let made = api
        .post(&a, &widget(json!({"metadata": {"name": "a"}})))
        .await
        .created();
    for path in [
        format!("{a}/status/more"),
        format!("{a}//"),
        format!("{a}%2F"),
    ] {
        assert_eq!(api.get(&path).await.ok(), made, "{path}");
    }
    assert_eq!(
        api.get(&format!("{a}/none/more")).await.refused(404),
        "widgets.example.com \"a\" not found"
    );
    for (method, path, operation) in [
        ("OPTIONS", a.clone(), ""),
        ("DELETE", format!("{a}/status"), "delete"),
        ("POST", format!("{a}/status"), "create"),
    ] {
        let answer = api.send(method, &path, &[], "").await;
        assert_eq!(
            answer.json()["details"],
            json!({"group": "example.com", "kind": "widgets"})
        );
        assert_eq!(
            answer.refused(405),
            format!("{operation} is not supported on resources of kind \"widgets.example.com\"")
        );
    }
    assert_eq!(
        api.send("PUT", WIDGETS, &[], "").await.refused(400),
        "name must be provided"
    );
    // Objects of all namespaces are only listed and watched.
    let everywhere = "/apis/example.com/v1/widgets";
    api.get(everywhere).await.ok();
    api.post(everywhere, &made).await.refused_plainly(404);
    let misplaced = format!("{everywhere}/a");
    api.get(&misplaced).await.refused_plainly(404);
}
