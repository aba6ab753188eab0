//! Each warning as the API words it, and no warnings about good objects.

use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::kind;
use crate::{apps::deployment, testing::warnings};

fn warnings_of(of: (&str, &str), object: &Value) -> Vec<String> {
    warnings(kind(of), object)
}

#[test]
fn names_of_which_no_hostname_can_be_made() {
    let dotted = json!({"metadata": {"name": "a.b"}, "spec": {}});
    assert_eq!(
        warnings_of(("", "pods"), &dotted),
        [
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is \
             recommended: [must not contain dots]"
        ]
    );
    for kind in [
        ("apps", "deployments"),
        ("apps", "replicasets"),
        ("batch", "jobs"),
        ("batch", "cronjobs"),
    ] {
        let warnings_of = warnings_of(kind, &dotted);
        assert!(
            warnings_of[0].contains("this is used in Pod names and hostnames"),
            "{warnings_of:?}"
        );
        assert_eq!(warnings_of.len(), 1);
    }
    assert_eq!(warnings_of(("", "configmaps"), &dotted), [""; 0]);
}

#[test]
fn other_kinds_get_warnings_about_ignored_and_removed_fields() {
    let annotated =
        |key: &str, spec: Value| json!({"metadata": {"annotations": {key: "x"}}, "spec": spec});
    for (kind, object, expected) in [
        (
            ("networking.k8s.io", "ingresses"),
            annotated("kubernetes.io/ingress.class", json!({})),
            r#"annotation "kubernetes.io/ingress.class" is deprecated, please use 'spec.ingressClassName' instead"#,
        ),
        (
            ("", "services"),
            json!({"spec": {"type": "ClusterIP", "clusterIP": "None", "sessionAffinity": "ClientIP"}}),
            "spec.SessionAffinity is ignored for headless services",
        ),
        (
            ("", "services"),
            json!({"spec": {"type": "ClusterIP", "sessionAffinity": "None", "externalIPs": ["1.2.3.4"]}}),
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        ),
        (
            ("", "persistentvolumes"),
            json!({"spec": {"persistentVolumeReclaimPolicy": "Recycle"}}),
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended \
             approach is to use dynamic provisioning.",
        ),
        (
            ("", "persistentvolumeclaims"),
            json!({"spec": {"resources": {"requests": {"storage": "500m"}}}}),
            r#"spec.resources.requests[storage]: fractional byte value "500m" is invalid, must be an integer"#,
        ),
        (
            ("apps", "statefulsets"),
            json!({"spec": {"revisionHistoryLimit": -1}}),
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
        ),
    ] {
        assert_eq!(warnings_of(kind, &object), [expected]);
    }
    let chosen = annotated(
        "kubernetes.io/ingress.class",
        json!({"ingressClassName": "k"}),
    );
    assert_eq!(
        warnings_of(("networking.k8s.io", "ingresses"), &chosen),
        [""; 0]
    );
}

#[test]
fn a_template_is_looked_at_when_it_changes() {
    let odd = json!({"containers": [{
        "name": "c",
        "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
    }]});
    let template = json!({"metadata": {"name": "d"}, "spec": {"template": {"spec": odd}}});
    let of_template = warnings_of(("apps", "deployments"), &template);
    assert!(of_template[0].starts_with("spec.template.spec.containers[0].env[1]: "));
    let again =
        deployment::KIND.warnings_of(KubernetesVersion::DEFAULT, &template, Some(&template));
    assert_eq!(again, [""; 0], "nothing new is wanted");
}
