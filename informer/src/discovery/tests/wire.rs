//! The documents, recorded from a real server and made up.

use kube::core::discovery::Scope;
use serde_json::json;

use crate::discovery::{
    DiscoveryError, GroupVersion, ServerGroup, ServerResource,
    wire::{Root, is_aggregated, parse_core, parse_group, parse_resources, parse_root},
};

use super::server::AGGREGATED;

const API: &[u8] = include_bytes!("../../../tests/data/discovery/api.json");
const API_V1: &[u8] = include_bytes!("../../../tests/data/discovery/api-v1.json");
const APIS: &[u8] = include_bytes!("../../../tests/data/discovery/apis.json");
const APPS: &[u8] = include_bytes!("../../../tests/data/discovery/apps.json");
const APPS_V1: &[u8] = include_bytes!("../../../tests/data/discovery/apps-v1.json");
const BATCH_V1: &[u8] = include_bytes!("../../../tests/data/discovery/batch-v1.json");
const AGGREGATED_API: &[u8] = include_bytes!("../../../tests/data/discovery/aggregated-api.json");
const AGGREGATED_APIS: &[u8] = include_bytes!("../../../tests/data/discovery/aggregated-apis.json");

fn aggregated(is_core: bool, body: &[u8]) -> Vec<ServerGroup> {
    match parse_root(is_core, Some(AGGREGATED), body).unwrap() {
        Root::Aggregated(groups) => groups,
        Root::Plain(_) => panic!("plain"),
    }
}

fn resources_of<'a>(groups: &'a [ServerGroup], group: &str, version: &str) -> &'a [ServerResource] {
    let group = groups.iter().find(|it| it.name == group).unwrap();
    group.version(version).unwrap().resources.as_ref().unwrap()
}

fn sorted(resources: &[ServerResource]) -> Vec<ServerResource> {
    let mut resources = resources.to_vec();
    for resource in &mut resources {
        resource.subresources.sort_by(|a, b| a.name.cmp(&b.name));
    }
    resources.sort_by(|a, b| a.resource.cmp(&b.resource));
    resources
}

#[test]
fn both_forms_of_a_recorded_group_version_say_the_same() {
    let core = aggregated(true, AGGREGATED_API);
    let others = aggregated(false, AGGREGATED_APIS);
    for (groups, name, version, plain) in [
        (&core, "", "v1", API_V1),
        (&others, "apps", "v1", APPS_V1),
        (&others, "batch", "v1", BATCH_V1),
    ] {
        let plain = parse_resources(&GroupVersion::new(name, version), plain).unwrap();
        assert!(plain.len() > 1, "{name}/{version}");
        assert_eq!(sorted(&plain), sorted(resources_of(groups, name, version)));
    }
}

#[test]
fn both_forms_of_the_recorded_groups_have_one_order() {
    let Root::Plain(plain) = parse_root(false, Some("application/json"), APIS).unwrap() else {
        panic!("aggregated");
    };
    let aggregated = aggregated(false, AGGREGATED_APIS);
    let outlines = aggregated.iter().map(|group| {
        let versions: Vec<_> = group.versions.iter().map(|it| it.version.clone()).collect();
        (
            group.name.clone(),
            versions,
            group.preferred_version.clone(),
        )
    });
    let plain = plain.into_iter();
    let plain: Vec<_> = plain
        .map(|it| (it.name, it.versions, it.preferred_version))
        .collect();
    assert_eq!(outlines.collect::<Vec<_>>(), plain);
    assert!(plain.len() > 15);
    let core = parse_core(API).unwrap().unwrap();
    assert_eq!((&*core.name, &*core.versions), ("", &["v1".to_owned()][..]));
    let apps = parse_group(APPS).unwrap();
    assert_eq!(
        (&*apps.name, apps.preferred_version.as_deref()),
        ("apps", Some("v1"))
    );
}

#[test]
fn a_resource_is_read_with_all_that_is_stated_of_it() {
    let groups = aggregated(false, AGGREGATED_APIS);
    let deployments = resources_of(&groups, "apps", "v1")
        .iter()
        .find(|it| it.resource.resource == "deployments")
        .unwrap();
    assert_eq!(deployments.kind.to_string(), "Deployment.v1.apps");
    assert_eq!(deployments.singular_name, "deployment");
    assert_eq!(deployments.short_names, ["deploy"]);
    assert_eq!(deployments.categories, ["all"]);
    assert_eq!(deployments.scope, Scope::Namespaced);
    assert!(deployments.supports_all(&["list", "watch"]));
    assert!(!deployments.supports_all(&["list", "fly"]));
    let parts = deployments.subresources.iter();
    let parts: Vec<_> = parts
        .map(|it| format!("{}: {}", it.name, it.kind))
        .collect();
    assert_eq!(
        parts,
        ["scale: Scale.v1.autoscaling", "status: Deployment.v1.apps"]
    );
}

#[test]
fn the_parameters_of_the_content_type_decide_in_any_order() {
    let check = |content_type: &str, expected: bool| {
        assert_eq!(is_aggregated(content_type), expected, "{content_type}");
    };
    check(AGGREGATED, true);
    check(
        "application/json; as=APIGroupDiscoveryList; v=v2; g=apidiscovery.k8s.io",
        true,
    );
    check(
        "application/json;g=\"apidiscovery.k8s.io\";v=v2;as=APIGroupDiscoveryList;charset=utf-8",
        true,
    );
    check("application/json", false);
    check("application/json;charset=utf-8", false);
    check(
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        false,
    );
    check(
        "application/json;g=apidiscovery.k8s.io;v=v2;as=Table",
        false,
    );
    check(
        "text/plain;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        false,
    );
    check("", false);
}

#[test]
fn stale_versions_are_failures_and_not_preferred() {
    let body = json!({"kind": "APIGroupDiscoveryList", "items": [
        {"metadata": {"name": "mixed.io"}, "versions": [
            {"version": "v2", "freshness": "Stale", "resources": [{"resource": "old"}]},
            {"version": "v1", "freshness": "Current"},
        ]},
        {"metadata": {"name": "gone.io"}, "versions": [{"version": "v1", "freshness": "Stale"}]},
    ]});
    let groups = aggregated(false, body.to_string().as_bytes());
    let failures: Vec<_> = groups.iter().flat_map(ServerGroup::failures).collect();
    let failures: Vec<_> = failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        failures,
        [
            "mixed.io/v2: the server's own knowledge of it is stale",
            "gone.io/v1: the server's own knowledge of it is stale",
        ]
    );
    assert_eq!(groups[0].preferred_version.as_deref(), Some("v1"));
    assert_eq!(groups[1].preferred_version, None);
}

#[test]
fn an_aggregated_resource_without_a_kind_is_left_out_and_parts_take_the_kind_of_the_whole() {
    let body = json!({"kind": "APIGroupDiscoveryList", "items": [
        {"metadata": {"name": "a.io"}, "versions": [{"version": "v1", "resources": [
            {"resource": "nameless", "scope": "Cluster", "verbs": ["get"]},
            {"resource": "hollow", "responseKind": {"group": "", "version": "", "kind": ""}},
            {"resource": "foos", "responseKind": {"kind": "Foo"}, "verbs": null, "subresources": [
                {"subresource": "status", "verbs": ["get"]},
                {"subresource": "scale",
                 "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"}},
            ]},
        ]}]},
    ]});
    let groups = aggregated(false, body.to_string().as_bytes());
    let resources = resources_of(&groups, "a.io", "v1");
    let [foos] = resources else {
        panic!("{resources:?}");
    };
    assert_eq!(foos.kind.to_string(), "Foo.v1.a.io");
    let kinds: Vec<_> = foos
        .subresources
        .iter()
        .map(|it| it.kind.to_string())
        .collect();
    assert_eq!(kinds, ["Foo.v1.a.io", "Scale.v1.autoscaling"]);
}

#[test]
fn a_null_list_is_an_empty_one() {
    let version = GroupVersion::new("a.io", "v1");
    let empty = br#"{"kind":"APIResourceList","resources":null}"#;
    assert_eq!(parse_resources(&version, empty).unwrap(), []);
    let null_verbs =
        br#"{"kind":"APIResourceList","resources":[{"name":"foos","kind":"Foo","verbs":null}]}"#;
    assert_eq!(parse_resources(&version, null_verbs).unwrap().len(), 1);
    assert_eq!(
        parse_core(br#"{"kind":"APIVersions","versions":null}"#).unwrap(),
        None
    );
    assert!(aggregated(false, br#"{"kind":"APIGroupDiscoveryList","items":null}"#).is_empty());
}

#[test]
fn a_plain_group_without_a_preference_has_none() {
    let outline = parse_group(
        br#"{"kind":"APIGroup","name":"a.io","versions":[{"version":"v1"}],"preferredVersion":{"version":""}}"#,
    );
    assert_eq!(outline.unwrap().preferred_version, None);
}

#[test]
fn a_document_that_is_something_else_is_an_error_and_not_an_empty_server() {
    let version = GroupVersion::new("a.io", "v1");
    let check = |body: &str| {
        let body = body.as_bytes();
        let errors = [
            parse_root(true, None, body).err(),
            parse_root(false, None, body).err(),
            parse_root(false, Some(AGGREGATED), body).err(),
            parse_group(body).err(),
            parse_resources(&version, body).err(),
        ];
        for error in errors {
            let error = error.unwrap_or_else(|| panic!("{body:?} was read"));
            assert!(matches!(error, DiscoveryError::Protocol { .. }), "{error}");
            assert!(!error.is_retryable());
        }
    };
    check("");
    check("{}");
    check("[]");
    check("null");
    check("<html><body>sign in</body></html>");
    check(r#"{"kind":"Status","status":"Failure"}"#);
    check(r#"{"kind":"APIResourceLis"#);
}
