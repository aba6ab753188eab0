//! States in the end: what runs have in common, and what makes a difference.

use serde_json::json;

use super::*;

fn state(objects: &[(&str, Value)]) -> EndState {
    let values: Vec<Value> = objects.iter().map(|(_, value)| value.clone()).collect();
    let names = Names::of(&values);
    let mut found: BTreeMap<String, Vec<Arc<Value>>> = BTreeMap::new();
    for (resource, value) in objects {
        let title = names.title(resource, value);
        let value = Arc::new(names.common(value));
        found.entry(title).or_default().push(value);
    }
    EndState {
        objects: found,
        untouched: BTreeMap::new(),
    }
}

fn pod(name: &str, uid: &str, phase: &str) -> (&'static str, Value) {
    let pod = json!({
        "metadata": {"name": name, "namespace": "shop", "uid": uid, "generateName": "web-"},
        "status": {"phase": phase, "startTime": format!("2026-01-0{uid}T00:00:00Z")},
    });
    ("pods", pod)
}

#[test]
fn runs_are_equal_but_for_names_times_and_uids() {
    let ours = state(&[pod("web-abcde", "1", "Running")]);
    let theirs = state(&[pod("web-fghij", "2", "Running")]);
    assert_eq!(ours.differences(&theirs, &Mask::default()), []);
}

#[test]
fn names_of_volumes_and_addresses_are_drawn_by_the_server() {
    let drawn = |uid: &str, address: &str| {
        let pod = json!({"metadata": {"name": "p", "uid": "4"}, "status": {"podIP": address}});
        let endpoints = json!({"metadata": {"name": "e", "uid": "5"}, "subsets": [{"addresses": [{"ip": address}]}]});
        let volume = json!({"metadata": {"name": format!("pvc-{uid}"), "uid": "1"}});
        let claim = json!({
            "metadata": {"name": "data", "namespace": "shop", "uid": uid},
            "spec": {"volumeName": format!("pvc-{uid}")},
        });
        let address = json!({"kind": "IPAddress", "metadata": {"name": address, "uid": "3"}});
        state(&[
            ("pods", pod),
            ("endpoints", endpoints),
            ("persistentvolumes", volume),
            ("persistentvolumeclaims", claim),
            ("ipaddresses.networking.k8s.io", address),
        ])
    };
    let ours = drawn("7c9e6679-7425-40de-944b-e07fc1f90ae7", "10.0.0.17");
    let theirs = drawn("16fd2706-8baf-433b-82eb-8c7fada847da", "10.0.9.1");
    assert_eq!(ours.differences(&theirs, &Mask::default()), []);
}

#[test]
fn hashes_of_templates_are_drawn_by_the_server() {
    let drawn = |hash: &str| {
        let name = format!("web-{hash}");
        let labels = json!({"pod-template-hash": hash});
        let set =
            json!({"kind": "ReplicaSet", "metadata": {"name": name, "labels": labels, "uid": "1"}});
        let pod = json!({"kind": "Pod", "metadata": {
            "name": format!("{name}-abcde"), "generateName": format!("{name}-"), "labels": labels, "uid": "2",
        }});
        let message = format!("ReplicaSet \"{name}\" has successfully progressed.");
        let status = json!({"collisionCount": hash.len(), "conditions": [{"message": message}]});
        let deployment = json!({"metadata": {"name": "web", "uid": "3"}, "status": status});
        state(&[
            ("replicasets.apps", set),
            ("pods", pod),
            ("deployments.apps", deployment),
        ])
    };
    let difference = drawn("5d9c").differences(&drawn("77fbc"), &Mask::default());
    assert_eq!(difference, []);
}

#[test]
fn differences_name_the_object_and_the_field() {
    let ours = state(&[pod("web-abcde", "1", "Running")]);
    let theirs = state(&[pod("web-fghij", "2", "Failed")]);
    let found = ours.differences(&theirs, &Mask::default());
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["pods shop/web-*: status.phase is \"Failed\" instead of \"Running\""]
    );
    assert_eq!(ours.differences(&theirs, &Mask::learn(&found)), []);
    let two = state(&[
        pod("web-abcde", "1", "Running"),
        pod("web-fghij", "2", "Running"),
    ]);
    let found = ours.differences(&two, &Mask::default());
    assert_eq!(
        found[0].to_string(),
        "pods shop/web-* there are 2 instead of 1"
    );
}

#[test]
fn a_state_that_a_file_keeps_is_compared_with_another_server() {
    let untouched = |state: &mut EndState| {
        let value = Arc::new(json!({"rules": []}));
        let version = ("7".to_owned(), 3);
        let name = "clusterroles view".to_owned();
        let same = (name.clone(), Arc::clone(&value));
        state.untouched.insert(version, same);
        state.objects.insert(name, vec![value]);
    };
    let mut ours = state(&[pod("web-abcde", "1", "Running")]);
    untouched(&mut ours);
    let text = serde_json::to_string(&ours.stored()).unwrap();
    assert!(!text.contains("rules"), "{text}");
    let mut theirs = state(&[pod("web-fghij", "2", "Failed")]);
    untouched(&mut theirs);
    let kept = serde_json::from_str(&text).unwrap();
    let (restored, unknown) = EndState::restored(&kept, &theirs);
    assert_eq!(unknown, Vec::<String>::new());
    assert_eq!(restored.differences(&ours, &Mask::default()), []);
    assert_eq!(restored.differences(&theirs, &Mask::default()).len(), 1);
    // One that was changed there cannot be compared.
    theirs.untouched.clear();
    let (_, unknown) = EndState::restored(&kept, &theirs);
    assert_eq!(unknown, ["clusterroles view"]);
}

#[test]
fn leftovers_of_intermediate_states_are_not_compared() {
    let claim = |name: &str| {
        let metadata = json!({"namespace": "shop", "name": name});
        json!({"kind": "PersistentVolumeClaim", "metadata": metadata})
    };
    let volume = |name: &str| {
        let spec = json!({"claimRef": {"namespace": "shop", "name": name}});
        json!({"kind": "PersistentVolume", "spec": spec})
    };
    let replica_set = |replicas: u32, owner: &str| {
        let owners = json!([{"kind": owner, "controller": true}]);
        json!({
            "kind": "ReplicaSet",
            "metadata": {"name": "web", "ownerReferences": owners},
            "spec": {"replicas": replicas},
        })
    };
    let set = json!({
        "kind": "StatefulSet",
        "metadata": {"namespace": "shop", "name": "db"},
        "spec": {"replicas": 2, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]},
    });
    let values = [
        set,
        claim("data-db-1"),
        claim("data-db-2"),
        volume("data-db-1"),
        volume("data-db-2"),
        claim("data-db-x"),
        claim("data-other-2"),
        replica_set(0, "Deployment"),
        replica_set(1, "Deployment"),
        replica_set(0, "Website"),
    ];
    let leftovers = Leftovers::of(&values);
    let places = (0..).zip(&values);
    let left: Vec<u32> = places
        .filter_map(|(place, value)| leftovers.include(value).then_some(place))
        .collect();
    assert_eq!(left, [2, 4, 7]);
}
