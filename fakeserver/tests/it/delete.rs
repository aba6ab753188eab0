//! DELETE, of objects and collections.

use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS, DEPLOYMENTS, PODS, deployment, pod, version};

/// The kinds of changes to a resource after a revision, and whether each left an object.
fn changes(api: &Api, group: &str, resource: &str, after: u64) -> Vec<String> {
    let history = api.server.history(group, "v1", resource, after);
    history
        .iter()
        .map(|change| format!("{:?}", change.kind()))
        .collect()
}

#[tokio::test]
async fn an_object_without_finalizers_goes_at_once() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let object = api.config_map("a").await;
    let deleted = api.delete(&path).await.ok();
    assert_eq!(deleted["status"], "Success");
    assert_eq!(
        deleted["details"],
        json!({"name": "a", "kind": "configmaps", "uid": object["metadata"]["uid"]})
    );
    assert_eq!(
        api.delete(&path).await.refused(404),
        "configmaps \"a\" not found"
    );
}

#[tokio::test]
async fn some_types_answer_with_the_object() {
    let api = Api::new();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    api.post(accounts, &json!({"metadata": {"name": "s"}}))
        .await
        .created();
    let deleted = api.delete(&format!("{accounts}/s")).await.ok();
    assert_eq!(deleted["kind"], "ServiceAccount");
    assert_eq!(version(&deleted), api.server.revision());
    api.post(DEPLOYMENTS, &deployment("d")).await.created();
    let deleted = api.delete(&format!("{DEPLOYMENTS}/d")).await.ok();
    assert_eq!(deleted["details"]["group"], "apps");
}

#[tokio::test]
async fn finalizers_keep_an_object_until_the_last_is_gone() {
    let api = Api::new();
    let path = format!("{DEPLOYMENTS}/d");
    let mut object = deployment("d");
    object["metadata"]["finalizers"] = json!(["example.com/f", "example.com/g"]);
    api.post(DEPLOYMENTS, &object).await.created();
    let marked = api.delete(&path).await.ok();
    assert_eq!(
        marked["metadata"]["deletionTimestamp"],
        "2026-01-01T00:00:00Z"
    );
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(marked["metadata"]["generation"], 2);
    // Again is no change.
    assert_eq!(api.delete(&path).await.ok(), marked);

    let message = api
        .merge(
            &path,
            &json!({"metadata": {"finalizers": ["example.com/f", "example.com/h"]}}),
        )
        .await
        .refused(422);
    assert!(
        message.contains("found new finalizers []string{\"example.com/h\"}"),
        "{message}"
    );
    let one = api
        .merge(
            &path,
            &json!({"metadata": {"finalizers": ["example.com/g"]}}),
        )
        .await
        .ok();
    assert_eq!(one["metadata"]["generation"], 2);
    let before = api.server.revision();
    let last = api
        .merge(&path, &json!({"metadata": {"finalizers": null}}))
        .await
        .ok();
    assert_eq!(
        version(&last),
        version(&one),
        "the last state keeps its version"
    );
    assert_eq!(changes(&api, "apps", "deployments", before), ["Deleted"]);
    api.get(&path).await.refused(404);
}

#[tokio::test]
async fn an_update_cannot_take_a_deletion_back() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let object = json!({"metadata": {"name": "a", "finalizers": ["example.com/f"]}});
    api.post(CONFIG_MAPS, &object).await.created();
    let marked = api.delete(&path).await.ok();
    let updated = api.put(&path, &object).await.ok();
    assert_eq!(updated, marked);
}

#[tokio::test]
async fn preconditions_hold_a_delete_back() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let object = api.config_map("a").await;
    let uid = object["metadata"]["uid"].as_str().unwrap();
    assert_eq!(
        api.delete_with(&path, &json!({"preconditions": {"uid": "x"}}))
            .await
            .refused(409),
        format!(
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (x) does not match the UID \
             in record ({uid}). The object might have been deleted and then recreated"
        )
    );
    api.delete_with(&path, &json!({"preconditions": {"resourceVersion": "1"}}))
        .await
        .refused(409);
    let right =
        json!({"preconditions": {"uid": uid, "resourceVersion": version(&object).to_string()}});
    api.delete_with(&path, &right).await.ok();
}

#[tokio::test]
async fn parameters_name_preconditions_too() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    let object = api.config_map("a").await;
    let (uid, version) = (
        object["metadata"]["uid"].as_str().unwrap(),
        version(&object),
    );
    for query in ["uid=x", "resourceVersion=1"] {
        api.delete(&format!("{path}?{query}")).await.refused(409);
    }
    // A body has them all, or there are none.
    let query = format!("{path}?resourceVersion=1");
    api.delete_with(&query, &json!({"dryRun": ["All"]}))
        .await
        .ok();
    let right = format!("{path}?uid={uid}&resourceVersion={version}");
    api.delete(&right).await.ok();
}

#[tokio::test]
async fn namespaces_and_definitions_check_preconditions_in_their_own_words() {
    let api = Api::new();
    let path = "/api/v1/namespaces/default";
    let namespace = api.get(path).await.ok();
    let uid = namespace["metadata"]["uid"].as_str().unwrap();
    assert_eq!(
        api.delete_with(path, &json!({"preconditions": {"uid": "x"}}))
            .await
            .refused(409),
        format!(
            "Operation cannot be fulfilled on namespaces \"default\": Precondition failed: UID in precondition: x, UID \
             in object meta: {uid}"
        )
    );
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let definition = json!({
        "metadata": {"name": "kites.sky.example"},
        "spec": {
            "group": "sky.example",
            "scope": "Namespaced",
            "names": {"plural": "kites", "kind": "Kite"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }],
        },
    });
    let created = api.post(definitions, &definition).await.created();
    let path = format!("{definitions}/kites.sky.example");
    let stored = api.get(&path).await.ok();
    assert_eq!(created["metadata"]["uid"], stored["metadata"]["uid"]);
    assert_eq!(
        api.delete(&format!("{path}?resourceVersion=1"))
            .await
            .refused(409),
        format!(
            "Operation cannot be fulfilled on customresourcedefinitions.apiextensions.k8s.io \"kites.sky.example\": \
             Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: {}",
            version(&stored)
        )
    );
}

#[tokio::test]
async fn a_cascading_deletion_takes_the_finalizer_of_orphans_from_a_namespace() {
    let api = Api::new();
    let namespaces = "/api/v1/namespaces";
    for (name, options) in [
        ("a", json!({})),
        ("b", json!({"orphanDependents": false})),
        ("c", json!({"propagationPolicy": "Background"})),
    ] {
        let finalizers = ["example.com/f", "orphan"];
        let object = json!({"metadata": {"name": name, "finalizers": finalizers}});
        api.post(namespaces, &object).await.created();
        let path = format!("{namespaces}/{name}");
        api.delete_with(&path, &options).await;
        let left = &api.get(&path).await.ok()["metadata"]["finalizers"];
        let kept = if name == "b" {
            &finalizers[..1]
        } else {
            &finalizers
        };
        assert_eq!(*left, json!(kept), "{name}");
    }
}

#[tokio::test]
async fn propagation_policies_leave_their_finalizers() {
    let api = Api::new();
    let path = format!("{CONFIG_MAPS}/a");
    api.config_map("a").await;
    let finalizers = |object: Value| object["metadata"]["finalizers"].clone();
    let orphan = api
        .delete_with(&path, &json!({"propagationPolicy": "Orphan"}))
        .await
        .ok();
    assert_eq!(finalizers(orphan), json!(["orphan"]));
    let foreground = api
        .delete(&format!("{path}?propagationPolicy=Foreground"))
        .await
        .ok();
    assert_eq!(finalizers(foreground), json!(["foregroundDeletion"]));
    // What was asked before stays, unless something else is asked now.
    assert_eq!(
        finalizers(api.delete(&path).await.ok()),
        json!(["foregroundDeletion"])
    );
    let gone = api
        .delete(&format!("{path}?propagationPolicy=Background"))
        .await
        .ok();
    assert_eq!(gone["status"], "Success");
    api.get(&path).await.refused(404);
}

#[tokio::test]
async fn a_pod_on_a_node_gets_time_to_stop() {
    let api = Api::new();
    let path = format!("{PODS}/p");
    api.post(PODS, &pod("p", "node")).await.created();
    let grace = |pod: &Value| {
        let metadata = &pod["metadata"];
        let deadline = metadata["deletionTimestamp"].as_str().unwrap().to_owned();
        (
            metadata["deletionGracePeriodSeconds"].as_i64().unwrap(),
            deadline,
        )
    };
    let first = api.delete(&path).await.ok();
    assert_eq!(grace(&first), (30, "2026-01-01T00:00:30Z".to_owned()));
    assert_eq!(first["metadata"]["generation"], 2);
    // It can only be shortened.
    let longer = api
        .delete(&format!("{path}?gracePeriodSeconds=60"))
        .await
        .ok();
    assert_eq!(longer, first);
    let shorter = api
        .delete(&format!("{path}?gracePeriodSeconds=5"))
        .await
        .ok();
    assert_eq!(grace(&shorter), (5, "2026-01-01T00:00:05Z".to_owned()));
    assert_eq!(shorter["metadata"]["generation"], 2);
    let before = api.server.revision();
    let gone = api
        .delete(&format!("{path}?gracePeriodSeconds=0"))
        .await
        .ok();
    assert_eq!(grace(&gone).0, 0);
    assert_eq!(changes(&api, "", "pods", before), ["Updated", "Deleted"]);
    api.get(&path).await.refused(404);
}

#[tokio::test]
async fn a_pod_on_no_node_goes_at_once() {
    let api = Api::new();
    api.post(PODS, &pod("p", "")).await.created();
    let gone = api
        .delete(&format!("{PODS}/p?gracePeriodSeconds=30"))
        .await
        .ok();
    assert_eq!(gone["metadata"]["deletionGracePeriodSeconds"], 0);
    api.get(&format!("{PODS}/p")).await.refused(404);
}

#[tokio::test]
async fn a_dry_run_deletes_nothing() {
    let api = Api::new();
    let object = api.config_map("a").await;
    let path = format!("{CONFIG_MAPS}/a");
    for query in ["dryRun=All", "dryRun=All&propagationPolicy=Orphan"] {
        api.delete(&format!("{path}?{query}")).await.ok();
        assert_eq!(api.get(&path).await.ok(), object);
    }
    api.delete_with(&path, &json!({"dryRun": ["All"]}))
        .await
        .ok();
    assert_eq!(api.get(&path).await.ok(), object);
    api.delete(&format!("{CONFIG_MAPS}?dryRun=All")).await.ok();
    assert_eq!(api.get(&path).await.ok(), object);
}

#[tokio::test]
async fn selected_objects_of_a_collection_are_deleted() {
    let api = Api::new();
    for (name, group, finalizers) in [
        ("a", "1", json!([])),
        ("b", "1", json!(["example.com/f"])),
        ("c", "2", json!([])),
    ] {
        let labels = json!({"g": group});
        let object =
            json!({"metadata": {"name": name, "labels": labels, "finalizers": finalizers}});
        api.post(CONFIG_MAPS, &object).await.created();
    }
    let before = api.server.revision();
    let list = api
        .delete(&format!("{CONFIG_MAPS}?labelSelector=g%3D1"))
        .await
        .ok();
    assert_eq!(list["kind"], "ConfigMapList");
    assert_eq!(list["metadata"]["resourceVersion"], before.to_string());
    let names: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert!(
        list["items"][1]["metadata"]
            .get("deletionTimestamp")
            .is_none()
    );
    assert_eq!(
        changes(&api, "", "configmaps", before),
        ["Deleted", "Updated"]
    );
    let left = api.get(CONFIG_MAPS).await.ok();
    assert_eq!(left["items"].as_array().unwrap().len(), 2);
    for path in ["/api/v1/configmaps", "/api/v1/namespaces"] {
        api.delete(path).await.refused(405);
    }
}

#[tokio::test]
async fn preconditions_hold_for_each_object_of_a_collection() {
    let api = Api::new();
    let objects = [
        api.config_map("a").await,
        api.config_map("b").await,
        api.config_map("c").await,
    ];
    let uid = |place: usize| objects[place]["metadata"]["uid"].as_str().unwrap();
    let left = async || {
        let list = api.get(CONFIG_MAPS).await.ok();
        let items = list["items"].as_array().unwrap().iter();
        let names = items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    let of_b = json!({"preconditions": {"uid": uid(1)}});
    assert_eq!(
        api.delete_with(CONFIG_MAPS, &of_b).await.refused(409),
        format!(
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition ({}) does not match the UID \
             in record ({}). The object might have been deleted and then recreated",
            uid(1),
            uid(0)
        )
    );
    assert_eq!(left().await, "a b c");
    // Those before the first that fails are gone.
    let of_a = json!({"preconditions": {"resourceVersion": version(&objects[0]).to_string()}});
    api.delete_with(CONFIG_MAPS, &of_a).await.refused(409);
    assert_eq!(left().await, "b c");
    // The version of the list is a precondition, too, without a body.
    let revision = api.server.revision();
    api.delete(&format!("{CONFIG_MAPS}?resourceVersion={revision}"))
        .await
        .refused(409);
    assert_eq!(left().await, "b c");
    let one = format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Db");
    api.delete_with(&one, &of_b).await.ok();
    assert_eq!(left().await, "c");
    // Options of the list are checked before those of the deletion.
    let path = format!("{CONFIG_MAPS}?resourceVersionMatch=Exact");
    let sideways = json!({"propagationPolicy": "Sideways"});
    let message = api.delete_with(&path, &sideways).await.refused(422);
    assert!(message.starts_with("ListOptions.meta.k8s.io"), "{message}");
}
