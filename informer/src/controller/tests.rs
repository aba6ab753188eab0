//! Applies and patches that change nothing, and notifications that satisfy predicates.

use fakeserver::FakeServer;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::{
    Api, ResourceExt,
    api::{DynamicObject, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    Predicate,
    owned_fields::{is_applied, is_merged},
};
use crate::{
    handler::{Notification, NotificationCause},
    object::Object,
};

const MANAGER: &str = "operator";

fn update(old: &Value, new: &Value, cause: NotificationCause) -> Notification<ConfigMap> {
    let object = |meta: &Value| {
        let map = json!({"metadata": meta});
        Object::new(serde_json::from_value::<ConfigMap>(map).unwrap())
    };
    Notification::Update {
        old: object(old),
        new: object(new),
        cause,
    }
}

#[test]
fn predicates_are_about_what_differs() {
    let of = |changed: &Value| {
        let old = json!({"name": "a", "generation": 1, "resourceVersion": "1"});
        let mut new = old.clone();
        for (field, value) in changed.as_object().unwrap() {
            new[field] = value.clone();
        }
        let notification = update(&old, &new, NotificationCause::Live);
        let predicates = [
            Predicate::generation_changed(),
            Predicate::labels_changed(),
            Predicate::annotations_changed(),
            Predicate::resource_version_changed(),
            Predicate::deletion_or_finalizers_changed(),
            Predicate::spec_changed(),
        ];
        predicates.map(|predicate| predicate.holds(&notification))
    };
    let status = of(&json!({"resourceVersion": "2"}));
    assert_eq!(status, [false, false, false, true, false, false]);
    let spec = of(&json!({"resourceVersion": "2", "generation": 2}));
    assert_eq!(spec, [true, false, false, true, false, true]);
    let labels = of(&json!({"labels": {"a": "b"}}));
    assert_eq!(labels, [false, true, false, false, false, true]);
    let annotations = of(&json!({"annotations": {"a": "b"}}));
    assert_eq!(annotations, [false, false, true, false, false, true]);
    let deletion = of(&json!({"deletionTimestamp": "2026-01-01T00:00:00Z"}));
    assert_eq!(deletion, [false, false, false, false, true, true]);
    let finalizers = of(&json!({"finalizers": ["a/b"]}));
    assert_eq!(finalizers, [false, false, false, false, true, true]);
}

#[test]
fn a_kind_without_generations_changes_with_its_version_and_a_resync_counts() {
    let [one, two] = ["1", "2"].map(|version| json!({"name": "a", "resourceVersion": version}));
    let spec = Predicate::spec_changed();
    assert!(spec.holds(&update(&one, &two, NotificationCause::Live)));
    assert!(!spec.holds(&update(&one, &one, NotificationCause::Relist)));
    assert!(spec.holds(&update(&one, &one, NotificationCause::Resync)));
    let version = Predicate::resource_version_changed;
    assert!(!version().holds(&update(&one, &one, NotificationCause::Resync)));
    let notification = update(&one, &two, NotificationCause::Live);
    assert!(!version().not().holds(&notification));
    assert!(version().and(Predicate::any()).holds(&notification));
    assert!(
        !version()
            .and(Predicate::labels_changed())
            .holds(&notification)
    );
    assert!(
        version()
            .or(Predicate::labels_changed())
            .holds(&notification)
    );
}

#[test]
fn a_merge_patch_changes_nothing_if_all_its_values_are_there() {
    let live = json!({"status": {"ready": 1, "list": [1, 2], "text": "a"}});
    for (patch, is_there) in [
        (json!({"status": {"ready": 1}}), true),
        (json!({"status": {"ready": 2}}), false),
        (json!({"status": {"list": [1, 2]}}), true),
        (json!({"status": {"list": [1]}}), false),
        (json!({"status": {"gone": null}}), true),
        (json!({"status": {"text": null}}), false),
        (json!({"status": {"more": {}}}), false),
        (json!({}), true),
    ] {
        assert_eq!(is_merged(&live, &patch), is_there, "{patch}");
    }
}

/// Returns configurations of services: ports are a list by keys, finalizers a set, the selector a map that is owned as a whole.
fn service() -> impl Strategy<Value = Value> {
    let ports = prop::collection::btree_map(1..4_u16, prop::option::of("[ab]"), 1..4);
    let selector = prop::collection::btree_map("[ab]", "[xy]", 0..3);
    let finalizers = prop::collection::btree_set("example[.]com/[ab]", 0..3);
    let labels = prop::option::of(prop::collection::btree_map("[ab]", "[xy]", 0..3));
    (ports, selector, finalizers, labels).prop_map(|(ports, selector, finalizers, labels)| {
        let port = |(number, name): (u16, Option<String>)| {
            let name = name.unwrap_or_default();
            json!({"port": number, "protocol": "TCP", "name": format!("p{number}{name}")})
        };
        let mut service = json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "finalizers": finalizers, "labels": labels},
            "spec": {"selector": selector, "ports": ports.into_iter().map(port).collect::<Vec<_>>()},
        });
        leave_out_empty(&mut service);
        service
    })
}

/// Takes out what is empty, as serializers of typed objects do. Whether an empty map is there is in doubt: it is sent.
fn leave_out_empty(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.values_mut().for_each(leave_out_empty);
        fields.retain(|_, field| {
            let is_empty = field.is_null()
                || field.as_object().is_some_and(serde_json::Map::is_empty)
                || field.as_array().is_some_and(Vec::is_empty);
            !is_empty
        });
    }
}

async fn apply(api: &Api<DynamicObject>, desired: &Value) -> Value {
    let params = PatchParams::apply(MANAGER).force();
    let applied = api
        .patch("web", &params, &Patch::Apply(desired))
        .await
        .unwrap();
    serde_json::to_value(applied).unwrap()
}

async fn check_applies(first: Value, second: Value) -> Result<(), TestCaseError> {
    let server = FakeServer::builder().build();
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Service"));
    let api: Api<DynamicObject> = Api::namespaced_with(server.client(), "default", &kind);
    let live = apply(&api, &first).await;
    prop_assert!(
        is_applied(&live, &first, MANAGER),
        "{first} is there: {live}"
    );
    prop_assert!(!is_applied(&live, &first, "another"));
    let is_there = is_applied(&live, &second, MANAGER);
    let after = apply(&api, &second).await;
    let is_same = live["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"];
    prop_assert!(is_same || !is_there, "{second} changes {live}");
    // Nor is one missed, but for empty maps and lists, which have no owner.
    let has_empty = [&first, &second].iter().any(|service| {
        let text = service.to_string();
        text.contains("{}") || text.contains("[]")
    });
    prop_assert!(
        is_there || !is_same || has_empty,
        "{second} changes nothing of {live}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn an_apply_is_left_out_only_if_the_server_would_change_nothing(first in service(), second in service()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(Box::pin(check_applies(first, second)))?;
    }
}

#[tokio::test(start_paused = true)]
async fn fields_of_other_managers_are_distinguished() {
    let server = FakeServer::builder().build();
    let api: Api<Service> = Api::namespaced(server.client(), "default");
    let desired = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"ports": [{"port": 80, "protocol": "TCP"}]},
    });
    let live = |service: Service| serde_json::to_value(service).unwrap();
    let params = PatchParams::apply(MANAGER);
    let created = api
        .patch("web", &params, &Patch::Apply(&desired))
        .await
        .unwrap();
    assert!(is_applied(&live(created), &desired, MANAGER));
    // Another manager's label is no concern of ours; another's value of our field is.
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    let labelled = api
        .patch("web", &PatchParams::default(), &Patch::Merge(label))
        .await
        .unwrap();
    assert!(is_applied(&live(labelled), &desired, MANAGER));
    let port = json!([{"op": "replace", "path": "/spec/ports/0/port", "value": 81}]);
    let patch = Patch::Json::<()>(serde_json::from_value(port).unwrap());
    let changed = api
        .patch("web", &PatchParams::default(), &patch)
        .await
        .unwrap();
    assert!(!is_applied(&live(changed.clone()), &desired, MANAGER));
    let mut without = changed;
    without.managed_fields_mut().clear();
    assert!(
        !is_applied(&live(without), &desired, MANAGER),
        "in case of doubt"
    );
}
