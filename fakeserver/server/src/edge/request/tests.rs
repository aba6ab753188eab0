//! Tests of parsing requests.

use fakeserver_value::{parse::parse_object, resource_path::ResourcePath};
use fakeserver_versions::KubernetesVersion;
use proptest::prelude::*;

use super::{ApiPath, FeatureSettings, ListOptions, Query};

#[test]
fn paths_are_taken_apart() {
    let resource = |path: &str| match ApiPath::parse(path) {
        ApiPath::Resource(resource) => resource,
        other => panic!("{path}: {other:?}"),
    };
    let named = |namespace: Option<&str>, resource: &str, name: Option<&str>, sub: Option<&str>| {
        ResourcePath {
            version: "v1".into(),
            namespace: namespace.map(Into::into),
            resource: resource.into(),
            name: name.map(Into::into),
            subresource: sub.map(Into::into),
            ..ResourcePath::default()
        }
    };
    assert_eq!(resource("/api/v1/pods"), named(None, "pods", None, None));
    assert_eq!(resource("/api/v1/pods/"), named(None, "pods", None, None));
    assert_eq!(
        resource("/api/v1/namespaces"),
        named(None, "namespaces", None, None)
    );
    assert_eq!(
        resource("/api/v1/namespaces/n"),
        named(None, "namespaces", Some("n"), None)
    );
    for sub in ["status", "finalize"] {
        assert_eq!(
            resource(&format!("/api/v1/namespaces/n/{sub}")),
            named(None, "namespaces", Some("n"), Some(sub))
        );
    }
    assert_eq!(
        resource("/api/v1/namespaces/n/pods"),
        named(Some("n"), "pods", None, None)
    );
    assert_eq!(
        resource("/api/v1/namespaces/n/pods/p/status"),
        named(Some("n"), "pods", Some("p"), Some("status"))
    );
    assert_eq!(
        resource("/api/v1/namespaces/n/pods/a%20b").name.as_deref(),
        Some("a b")
    );
    let watch = resource("/apis/apps/v1/watch/namespaces/n/deployments/d");
    assert!(watch.is_watch);
    assert_eq!(watch.group, "apps");
    assert_eq!(watch.name.as_deref(), Some("d"));
}

#[test]
fn non_resource_paths_are_distinguished() {
    let check = |path: &str, expected: ApiPath| assert_eq!(ApiPath::parse(path), expected);
    check("/", ApiPath::Root);
    check("/api", ApiPath::CoreVersions);
    check("/apis/", ApiPath::Groups);
    check("/apis/apps", ApiPath::Group("apps".into()));
    check(
        "/apis/apps/v1",
        ApiPath::Version {
            group: "apps".into(),
            version: "v1".into(),
        },
    );
    check("/version", ApiPath::ServerVersion);
    check("/metrics", ApiPath::Metrics);
    check(
        "/readyz/ping",
        ApiPath::Health {
            endpoint: "readyz".into(),
            check: Some("ping".into()),
        },
    );
    check("/apis//", ApiPath::Other);
    check("/api/v1/watch", ApiPath::NoResource);
    let deeper = ApiPath::parse("/api/v1/namespaces/n/pods/p/log/more");
    assert!(matches!(deeper, ApiPath::Deeper(path) if path.subresource.as_deref() == Some("log")));
    check("nothing", ApiPath::Other);
}

#[test]
fn parameters_are_read_as_the_api_reads_them() {
    let query = Query::parse(Some("&limit=5&watch=maybe&a=1&a=2&labelSelector=x%3Dy"));
    assert_eq!(query.integer("limit"), Ok(Some(5)));
    assert_eq!(query.bool("watch"), Some(true));
    assert_eq!(query.get("a"), Some("1"));
    assert_eq!(query.text("labelSelector"), "x=y");
    let error = |text: &str| {
        Query::parse(Some(text))
            .integer("limit")
            .unwrap_err()
            .message
    };
    assert_eq!(
        error("limit=abc"),
        "strconv.ParseInt: parsing \"abc\": invalid syntax"
    );
    assert_eq!(
        error("limit=99999999999999999999"),
        "strconv.ParseInt: parsing \"99999999999999999999\": value out of range"
    );
}

#[test]
fn list_options_that_do_not_go_together_are_refused() {
    let features = FeatureSettings::default().of_version(KubernetesVersion::DEFAULT);
    let check = |query: &str, causes: &[&str]| {
        let refused = ListOptions::parse(&Query::parse(Some(query)))
            .unwrap()
            .validate(features);
        let found: Vec<String> = refused
            .err()
            .and_then(|status| status.details)
            .map(|details| {
                details
                    .causes
                    .iter()
                    .map(|cause| cause.message.clone())
                    .collect()
            })
            .unwrap_or_default();
        assert_eq!(found, causes, "{query}");
    };
    check("resourceVersion=5&resourceVersionMatch=Exact", &[]);
    check(
        "resourceVersionMatch=Exact",
        &["Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"],
    );
    check(
        "resourceVersion=0&resourceVersionMatch=Exact",
        &["Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""],
    );
    check(
        "watch=1&resourceVersion=5&resourceVersionMatch=Exact",
        &[
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            "Unsupported value: \"Exact\": supported values: \"NotOlderThan\"",
        ],
    );
    check(
        "watch=1&sendInitialEvents=false",
        &["Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"],
    );
    check(
        "watch=1&continue=x&resourceVersion=0",
        &["Forbidden: resourceVersionMatch is forbidden when continue is provided"],
    );
    check(
        "sendInitialEvents=true",
        &["Forbidden: sendInitialEvents is forbidden for list"],
    );
}

proptest! {
    #[test]
    fn no_path_makes_the_parser_panic(path in ".{0,60}") {
        let _ = ApiPath::parse(&path);
    }

    #[test]
    fn no_body_makes_the_parser_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let pods = match fakeserver_kinds::registry::Registry::builtin(KubernetesVersion::DEFAULT).lookup("", "v1", "pods") {
            fakeserver_kinds::registry::Lookup::Found(pods) => pods,
            other => panic!("{other:?}"),
        };
        let _ = parse_object(KubernetesVersion::DEFAULT, &body, &body, &pods.group_version_kind());
        let _ = super::parse_patch(&body);
    }
}
