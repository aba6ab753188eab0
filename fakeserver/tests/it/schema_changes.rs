//! Managers of custom objects whose definition changes: other versions, other types of lists and maps.

use serde_json::{Value, json};

use crate::support::Api;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Returns a definition with a list `parts` and a map `options` of these types, in these versions, the last of which is stored.
fn definition(versions: &[&str], list: &Value, map: &str) -> Value {
    let mut parts = list.clone();
    let keys = list["x-kubernetes-list-map-keys"].as_array();
    parts["type"] = json!("array");
    parts["items"] = json!({
        "type": "object",
        "required": keys.cloned().unwrap_or_default(),
        "properties": {
            "id": {"type": "string"}, "name": {"type": "string"}, "size": {"type": "integer"},
        },
    });
    let version = |name: &&str| {
        json!({
            "name": name, "served": true, "storage": Some(name) == versions.last(),
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
                "type": "object",
                "properties": {
                    "parts": parts,
                    "options": {
                        "type": "object", "x-kubernetes-map-type": map,
                        "additionalProperties": {"type": "string"},
                    },
                },
            }}}},
        })
    };
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": versions.iter().map(version).collect::<Vec<_>>(),
        },
    })
}

fn keyed_by(key: &str) -> Value {
    json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]})
}

fn atomic() -> Value {
    json!({"x-kubernetes-list-type": "atomic"})
}

/// A server with a definition, to whose objects managers apply.
struct Widgets(Api);

impl Widgets {
    async fn new(versions: &[&str], list: &Value, map: &str) -> Self {
        let api = Api::new();
        api.post(DEFINITIONS, &definition(versions, list, map))
            .await
            .created();
        Self(api)
    }

    /// Replaces the versions of the definition.
    async fn change(&self, versions: &[&str], list: &Value, map: &str) {
        let spec = &definition(versions, list, map)["spec"];
        let change = json!({"spec": {"versions": spec["versions"]}});
        let path = format!("{DEFINITIONS}/widgets.example.com");
        self.0.merge(&path, &change).await.ok();
    }

    async fn apply(&self, version: &str, manager: &str, spec: &Value) -> crate::support::Answer {
        let path = format!("{}?fieldManager={manager}", path(version));
        let api_version = format!("example.com/{version}");
        let config = json!({
            "apiVersion": api_version, "kind": "Widget", "metadata": {"name": "w"}, "spec": spec,
        });
        self.0.apply(&path, config.to_string()).await
    }

    /// Returns the owners after an update of something else: manager and fields of the specification.
    async fn owners(&self, version: &str) -> Vec<(String, Value)> {
        let change = json!({"metadata": {"labels": {"touched": "yes"}}});
        let path = format!("{}?fieldManager=touch", path(version));
        let object = self.0.merge(&path, &change).await.ok();
        let entries = object["metadata"]["managedFields"].as_array();
        let entries = entries.into_iter().flatten();
        let owners = entries.filter(|entry| entry["manager"] != "touch");
        let owners = owners.map(|entry| {
            let manager = entry["manager"].as_str().unwrap().to_owned();
            (manager, entry["fieldsV1"]["f:spec"].clone())
        });
        let mut owners: Vec<_> = owners.collect();
        owners.sort_by(|(one, _), (other, _)| one.cmp(other));
        owners
    }
}

fn path(version: &str) -> String {
    format!("/apis/example.com/{version}/namespaces/default/widgets/w")
}

#[tokio::test(start_paused = true)]
async fn who_owns_parts_of_what_becomes_atomic_owns_it_as_a_whole() {
    let widgets = Widgets::new(&["v1"], &keyed_by("id"), "granular").await;
    let (a, b) = (json!({"id": "a"}), json!({"id": "b"}));
    let of_alice = json!({"parts": [a], "options": {"x": "1"}});
    let of_bob = json!({"parts": [b], "options": {"y": "1"}});
    widgets.apply("v1", "alice", &of_alice).await.created();
    widgets.apply("v1", "bob", &of_bob).await.ok();

    widgets.change(&["v1"], &atomic(), "atomic").await;
    let whole = json!({"f:options": {}, "f:parts": {}});
    let owners = [("alice", &whole), ("bob", &whole)];
    let owners = owners.map(|(manager, fields)| (manager.to_owned(), fields.clone()));
    assert_eq!(widgets.owners("v1").await, owners);
    let conflicts = widgets.apply("v1", "alice", &of_alice).await;
    assert_eq!(
        conflicts.refused(409),
        "Apply failed with 2 conflicts: conflicts with \"bob\":\n- .spec.options\n- .spec.parts"
    );
}

#[tokio::test(start_paused = true)]
async fn an_apply_reconciles_owners_before_it_merges() {
    let widgets = Widgets::new(&["v1"], &keyed_by("id"), "granular").await;
    let one = json!({"parts": [{"id": "a", "size": 1}]});
    widgets.apply("v1", "alice", &one).await.created();
    widgets.change(&["v1"], &atomic(), "granular").await;
    let two = json!({"parts": [{"id": "a", "size": 2}]});
    assert_eq!(
        widgets.apply("v1", "bob", &two).await.refused(409),
        "Apply failed with 1 conflict: conflict with \"alice\": .spec.parts"
    );
    let none = widgets.apply("v1", "alice", &json!({})).await.ok();
    assert_eq!(none["spec"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn parts_of_what_was_atomic_have_no_owner_until_they_are_written() {
    let widgets = Widgets::new(&["v1"], &atomic(), "atomic").await;
    let first = json!({"parts": [{"id": "a"}], "options": {"x": "1"}});
    widgets.apply("v1", "alice", &first).await.created();
    widgets.change(&["v1"], &keyed_by("id"), "granular").await;
    let whole = json!({"f:options": {}, "f:parts": {}});
    assert_eq!(widgets.owners("v1").await, [("alice".to_owned(), whole)]);
    // As if they had always been granular: what nobody owns stays.
    let second = json!({"parts": [{"id": "b"}], "options": {"y": "1"}});
    let merged = widgets.apply("v1", "alice", &second).await.ok();
    assert_eq!(
        merged["spec"],
        json!({"parts": [{"id": "a"}, {"id": "b"}], "options": {"x": "1", "y": "1"}})
    );
    let parts = json!({
        "f:options": {"f:y": {}},
        "f:parts": {"k:{\"id\":\"b\"}": {".": {}, "f:id": {}}},
    });
    assert_eq!(widgets.owners("v1").await, [("alice".to_owned(), parts)]);
}

#[tokio::test(start_paused = true)]
async fn items_without_a_new_key_fail_an_apply_and_reset_the_managers_of_an_update() {
    let widgets = Widgets::new(&["v1"], &keyed_by("id"), "granular").await;
    let part = json!({"parts": [{"id": "a"}]});
    widgets.apply("v1", "alice", &part).await.created();
    widgets.change(&["v1"], &keyed_by("name"), "granular").await;
    let named = json!({"parts": [{"id": "a", "name": "x"}]});
    assert_eq!(
        widgets.apply("v1", "alice", &named).await.refused(500),
        "failed to create typed live object (default/w; example.com/v1, Kind=Widget): .spec.parts: element 0: \
         associative list with keys has an element that omits all key fields [\"name\"] (and doesn't have default \
         values for any key fields)"
    );
    assert_eq!(widgets.owners("v1").await, []);
}

#[tokio::test(start_paused = true)]
async fn items_are_merged_by_new_keys_and_owned_by_them_from_then_on() {
    let widgets = Widgets::new(&["v1"], &keyed_by("id"), "granular").await;
    let part = json!({"parts": [{"id": "a", "name": "x"}]});
    widgets.apply("v1", "alice", &part).await.created();
    widgets.apply("v1", "bob", &part).await.ok();
    widgets.change(&["v1"], &keyed_by("name"), "granular").await;
    let sized = json!({"parts": [{"name": "x", "size": 2}]});
    let merged = widgets.apply("v1", "alice", &sized).await.ok();
    assert_eq!(
        merged["spec"]["parts"],
        json!([{"id": "a", "name": "x", "size": 2}])
    );
    let by_name = json!({"f:parts": {
        "k:{\"name\":\"x\"}": {".": {}, "f:name": {}, "f:size": {}},
    }});
    let by_id = json!({"f:parts": {"k:{\"id\":\"a\"}": {".": {}, "f:id": {}, "f:name": {}}}});
    assert_eq!(
        widgets.owners("v1").await,
        [("alice".to_owned(), by_name), ("bob".to_owned(), by_id)]
    );
}

#[tokio::test(start_paused = true)]
async fn managers_of_another_version_are_compared_in_it_without_a_webhook_too() {
    let widgets = Widgets::new(&["v1alpha1", "v1"], &keyed_by("id"), "granular").await;
    let one = json!({"options": {"x": "1"}});
    widgets.apply("v1alpha1", "alice", &one).await.created();
    let two = json!({"options": {"x": "2"}});
    assert_eq!(
        widgets.apply("v1", "bob", &two).await.refused(409),
        "Apply failed with 1 conflict: conflict with \"alice\": .spec.options.x"
    );
    let none = widgets.apply("v1", "alice", &json!({})).await.ok();
    assert_eq!(none["spec"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn a_manager_of_a_version_that_is_gone_fails_an_apply_and_resets_the_managers_of_an_update() {
    let widgets = Widgets::new(&["v1alpha1", "v1"], &keyed_by("id"), "granular").await;
    let one = json!({"options": {"x": "1"}});
    widgets.apply("v1alpha1", "alice", &one).await.created();
    widgets.change(&["v1"], &keyed_by("id"), "granular").await;
    assert_eq!(
        widgets.apply("v1", "bob", &one).await.refused(500),
        "request to convert CR to an invalid group/version: example.com/v1alpha1"
    );
    assert_eq!(widgets.owners("v1").await, []);
    widgets.apply("v1", "bob", &one).await.ok();
}
