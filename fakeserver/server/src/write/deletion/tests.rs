use fakeserver_kinds::registry::{Lookup, Registry};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::*;

/// Returns the result of deleting `object` at 00:01:00.
fn check(path: (&str, &str, &str), object: &Value, wanted: DeletionParameters) -> String {
    let Lookup::Found(resource) =
        Registry::builtin(KubernetesVersion::DEFAULT).lookup(path.0, path.1, path.2)
    else {
        panic!("{path:?} is built in")
    };
    let now = "2026-01-01T00:01:00.9Z".parse().unwrap();
    match decide(&resource.rules, wanted, object, now) {
        Verdict::Unchanged => "unchanged".to_owned(),
        Verdict::Marked(new) => {
            let metadata = &new["metadata"];
            format!(
                "{} {} {}",
                metadata["deletionTimestamp"].as_str().unwrap_or("-"),
                metadata["deletionGracePeriodSeconds"],
                metadata["finalizers"],
            )
        }
        Verdict::Gone { marked, .. } => format!("gone, marked: {}", marked.is_some()),
    }
}

const MAPS: (&str, &str, &str) = ("", "v1", "configmaps");
const PODS: (&str, &str, &str) = ("", "v1", "pods");

fn asking(propagation: Propagation) -> DeletionParameters {
    DeletionParameters {
        propagation: Some(propagation),
        ..DeletionParameters::default()
    }
}

#[test]
fn finalizers_keep_an_object_and_propagation_adds_them() {
    let plain = json!({"metadata": {}});
    assert_eq!(
        check(MAPS, &plain, DeletionParameters::default()),
        "gone, marked: false"
    );
    let foreground = asking(Propagation::Foreground);
    assert_eq!(
        check(MAPS, &plain, foreground),
        r#"2026-01-01T00:01:00Z 0 ["foregroundDeletion"]"#
    );
    let waiting = json!({"metadata": {"finalizers": ["a/b", "foregroundDeletion"]}});
    assert_eq!(
        check(MAPS, &waiting, DeletionParameters::default()),
        r#"2026-01-01T00:01:00Z 0 ["a/b","foregroundDeletion"]"#
    );
    assert_eq!(
        check(MAPS, &waiting, asking(Propagation::Orphan)),
        r#"2026-01-01T00:01:00Z 0 ["a/b","orphan"]"#
    );
    assert_eq!(
        check(MAPS, &waiting, asking(Propagation::Background)),
        r#"2026-01-01T00:01:00Z 0 ["a/b"]"#
    );
    let events = ("", "v1", "events");
    assert_eq!(check(events, &plain, foreground), "gone, marked: false");
}

#[test]
fn jobs_orphan_their_pods_by_default() {
    let plain = json!({"metadata": {}});
    for path in [
        ("batch", "v1", "jobs"),
        ("", "v1", "replicationcontrollers"),
    ] {
        assert_eq!(
            check(path, &plain, DeletionParameters::default()),
            r#"2026-01-01T00:01:00Z 0 ["orphan"]"#
        );
        assert_eq!(
            check(path, &plain, asking(Propagation::Background)),
            "gone, marked: false"
        );
    }
}

#[test]
fn a_pod_on_a_node_has_time_to_stop() {
    let spec = json!({"nodeName": "n", "terminationGracePeriodSeconds": 30});
    let running = json!({"metadata": {}, "spec": spec, "status": {"phase": "Running"}});
    let grace = |seconds| DeletionParameters {
        grace_period_seconds: Some(seconds),
        ..DeletionParameters::default()
    };
    assert_eq!(
        check(PODS, &running, DeletionParameters::default()),
        "2026-01-01T00:01:30Z 30 null"
    );
    assert_eq!(
        check(PODS, &running, grace(-5)),
        "2026-01-01T00:01:01Z 1 null"
    );
    assert_eq!(check(PODS, &running, grace(0)), "gone, marked: true");
    let ended = json!({"metadata": {}, "spec": spec, "status": {"phase": "Failed"}});
    assert_eq!(
        check(PODS, &ended, DeletionParameters::default()),
        "gone, marked: true"
    );
    let metadata = json!({
        "deletionTimestamp": "2026-01-01T00:01:30Z",
        "deletionGracePeriodSeconds": 30,
    });
    let stopping = json!({"metadata": metadata, "spec": spec});
    assert_eq!(
        check(PODS, &stopping, DeletionParameters::default()),
        "unchanged"
    );
    assert_eq!(check(PODS, &stopping, grace(60)), "unchanged");
    assert_eq!(
        check(PODS, &stopping, grace(5)),
        "2026-01-01T00:01:05Z 5 null"
    );
    assert_eq!(
        check(PODS, &stopping, grace(-3)),
        "2026-01-01T00:01:01Z 1 null"
    );
    // Begun a while ago: the shorter period has passed already, and its end does not move into the past.
    let metadata = json!({
        "deletionTimestamp": "2026-01-01T00:01:05Z",
        "deletionGracePeriodSeconds": 30,
    });
    let stopping = json!({"metadata": metadata, "spec": spec});
    assert_eq!(
        check(PODS, &stopping, grace(10)),
        "2026-01-01T00:01:00Z 1 null"
    );
    assert_eq!(check(PODS, &stopping, grace(0)), "gone, marked: true");
}
