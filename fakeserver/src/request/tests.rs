//! Tests of how requests are read.

use proptest::prelude::*;

use super::{ApiPath, ListOptions, Query, ResourcePath, json_syntax::syntax_error};

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
fn what_is_no_resource_is_told_apart() {
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
    check("/api/v1//pods", ApiPath::Other);
    check("/api/v1/namespaces/n/pods/p/log/more", ApiPath::Other);
    check("/api/v1/%ff", ApiPath::Other);
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
    let check = |query: &str, causes: &[&str]| {
        let refused = ListOptions::parse(&Query::parse(Some(query)))
            .unwrap()
            .validate();
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

#[test]
fn broken_json_is_told_in_the_words_of_the_api() {
    let check = |text: &str, error: &str| {
        assert_eq!(
            syntax_error(text.as_bytes()).as_deref(),
            Some(error),
            "{text}"
        );
    };
    check("", "unexpected end of JSON input");
    check(
        "{not json",
        "invalid character 'n' looking for beginning of object key string",
    );
    check("{\"a\" 1}", "invalid character '1' after object key");
    check(
        "{\"a\":1 2}",
        "invalid character '2' after object key:value pair",
    );
    check("[1 2]", "invalid character '2' after array element");
    check("{} x", "invalid character 'x' after top-level value");
    check("tru", "unexpected end of JSON input");
    check(
        "nil",
        "invalid character 'i' in literal null (expecting 'u')",
    );
    check("\"\\q\"", "invalid character 'q' in string escape code");
    check(
        "1.x",
        "invalid character 'x' after decimal point in numeric literal",
    );
    check(
        "\u{e9}",
        "invalid character 'Ã' looking for beginning of value",
    );
}

#[test]
fn nesting_without_end_is_refused() {
    let deep = "[".repeat(1_000_000);
    assert_eq!(
        syntax_error(deep.as_bytes()).as_deref(),
        Some("exceeded max depth")
    );
}

proptest! {
    #[test]
    fn a_syntax_error_is_found_exactly_where_serde_finds_one(text in r#"[\[\]{}:,"a1tn\\. -]{0,16}"#) {
        let ours = syntax_error(text.as_bytes()).is_none();
        let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn no_path_makes_the_parser_panic(path in ".{0,60}") {
        let _ = ApiPath::parse(&path);
    }

    #[test]
    fn no_body_makes_the_parser_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let pods = match crate::registry::Registry::builtin().lookup("", "v1", "pods") {
            crate::registry::Lookup::Found(pods) => pods,
            other => panic!("{other:?}"),
        };
        let _ = super::parse_object(&body, &pods.group_version_kind());
        let _ = super::parse_patch(&body);
    }
}
