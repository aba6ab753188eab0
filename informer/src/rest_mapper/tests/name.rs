//! The reading of names.

use crate::{
    discovery::{GroupVersionKind, GroupVersionResource},
    rest_mapper::{PartialResource, ResourceArg, RestMapperError, guess_plural},
};

fn check(text: &str, expected: &[&str]) {
    let arg: ResourceArg = text.parse().unwrap();
    let readings = arg.readings().iter();
    let readings: Vec<_> = readings
        .map(|it| {
            let part = |part: &Option<String>| part.clone().unwrap_or_else(|| "*".to_owned());
            format!("{}|{}|{}", it.name, part(&it.version), part(&it.group))
        })
        .collect();
    assert_eq!(readings, expected, "{text}");
    assert_eq!(arg.to_string(), text);
}

#[test]
fn a_name_has_one_or_two_readings() {
    check("pods", &["pods|*|*"]);
    check("Pod", &["Pod|*|*"]);
    check("deployments.apps", &["deployments|*|apps"]);
    check(
        "Deployment.v1.apps",
        &["Deployment|v1|apps", "Deployment|*|v1.apps"],
    );
    check(
        "foos.example.com",
        &["foos|example|com", "foos|*|example.com"],
    );
    check(
        "foos.v1.stable.example.com",
        &["foos|v1|stable.example.com", "foos|*|v1.stable.example.com"],
    );
    check("pods.v1.", &["pods|v1|"]);
    check("pods.", &["pods|*|"]);
    check("pods..", &["pods|*|"]);
    check("pods.__internal.", &["pods|*|"]);
}

#[test]
fn an_invalid_name_is_refused_with_the_reason() {
    let check = |text: &str, reason: &str| {
        let error = text.parse::<ResourceArg>().unwrap_err();
        assert!(matches!(error, RestMapperError::InvalidName { .. }));
        assert!(!error.is_no_match() && !error.is_retryable());
        assert!(error.to_string().contains(reason), "{error}");
    };
    check("", "begin with a name");
    check(".apps", "begin with a name");
    check("pods/status", "subresource");
    check("pods apps", "only letters");
    check("pods?watch=1", "only letters");
    check("pöds", "only letters");
}

#[test]
fn whole_names_become_partial_ones_and_are_printed_as_typed() {
    let resource = GroupVersionResource::new("apps", "v1", "deployments");
    assert_eq!(
        PartialResource::from(&resource).to_string(),
        "deployments.v1.apps"
    );
    let kind = GroupVersionKind::new("", "v1", "Pod");
    assert_eq!(PartialResource::from(&kind).to_string(), "Pod.v1.");
    let group = PartialResource::from(&resource.group_resource());
    assert_eq!(group.to_string(), "deployments.apps");
    assert_eq!(PartialResource::new("po").to_string(), "po");
    let no_version = PartialResource::new("po").with_version("__internal");
    assert_eq!(no_version.version, None);
}

#[test]
fn plurals_are_guessed_as_client_go_does() {
    let check = |kind: &str, plural: &str| assert_eq!(guess_plural(kind), plural);
    check("", "");
    check("Pod", "pods");
    check("ReplicationController", "replicationcontrollers");
    check("ImageRepository", "imagerepositories");
    check("miss", "misses");
    check("Ingress", "ingresses");
    check("lowercase", "lowercases");
    check("Endpoints", "endpoints");
    check("NetworkPolicy", "networkpolicies");
}
