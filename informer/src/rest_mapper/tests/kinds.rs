//! The resource of a kind.

use crate::{
    discovery::{GroupKind, ServerResources},
    rest_mapper::{RestMapperError, RestTable},
};

use super::{group, group_of, group_with, resource, table};

fn mapping(table: &RestTable, kind: &str, versions: &[&str]) -> String {
    let kind: GroupKind = kind.parse().unwrap();
    match table.rest_mapping(&kind, versions) {
        Ok(resolved) => resolved.mapping.resource.to_string(),
        Err(error) => error.to_string(),
    }
}

fn mappings(table: &RestTable, kind: &str, versions: &[&str]) -> Vec<String> {
    let kind: GroupKind = kind.parse().unwrap();
    let found = table.rest_mappings(&kind, versions).unwrap();
    found.iter().map(|it| it.resource.to_string()).collect()
}

fn versions() -> RestTable {
    table([
        group("", &["v1"], &[("pods", "Pod")]),
        group_of(
            "a.io",
            &[
                ("v2", Some(&[("foos", "Foo")])),
                ("v1", Some(&[("foos", "Foo"), ("bars", "Bar")])),
                ("v1beta1", Some(&[("foos", "Foo")])),
            ],
        ),
        group("b.io", &["v1"], &[("foos", "Foo")]),
    ])
}

#[test]
fn the_first_of_the_versions_that_has_the_kind_is_taken() {
    let table = versions();
    let check = |kind: &str, versions: &[&str], expected: &str| {
        assert_eq!(
            mapping(&table, kind, versions),
            expected,
            "{kind} {versions:?}"
        );
    };
    check("Foo.a.io", &[], "foos.v2.a.io");
    check("Foo.a.io", &["v1"], "foos.v1.a.io");
    check("Foo.a.io", &["v9", "v1beta1", "v1"], "foos.v1beta1.a.io");
    check("Foo.b.io", &["v1"], "foos.v1.b.io");
    check("Pod", &["v1"], "pods.v1.");
    // A version that is empty or internal is none.
    check("Foo.a.io", &["", "__internal"], "foos.v2.a.io");
    check("Foo.a.io", &["__internal", "v1"], "foos.v1.a.io");
    // Only in a version that is not preferred.
    check("Bar.a.io", &[], "bars.v1.a.io");
}

#[test]
fn all_versions_are_listed_in_order() {
    let table = versions();
    let in_order = ["foos.v2.a.io", "foos.v1.a.io", "foos.v1beta1.a.io"];
    assert_eq!(mappings(&table, "Foo.a.io", &[]), in_order);
    assert_eq!(
        mappings(&table, "Foo.a.io", &["v1beta1", "v2", "v9"]),
        ["foos.v1beta1.a.io", "foos.v2.a.io"]
    );
    assert_eq!(mappings(&table, "Bar.a.io", &[]), ["bars.v1.a.io"]);
}

#[test]
fn a_kind_that_is_not_served_is_an_error_about_the_kind() {
    let table = versions();
    let check = |kind: &str, versions: &[&str], expected: &str| {
        let kind: GroupKind = kind.parse().unwrap();
        for error in [
            table.rest_mapping(&kind, versions).unwrap_err(),
            table.rest_mappings(&kind, versions).unwrap_err(),
        ] {
            assert!(matches!(error, RestMapperError::NoKindMatch { .. }));
            assert!(error.is_no_match());
            assert_eq!(error.to_string(), expected);
        }
    };
    check(
        "Foo.a.io",
        &["v9"],
        "the server has no kind \"Foo.a.io\" in version v9; did you mean one of Foo.v2.a.io, \
         Foo.v1.a.io, Foo.v1beta1.a.io, Foo.v1.b.io?",
    );
    check(
        "Bar.b.io",
        &["v1", "v2"],
        "the server has no kind \"Bar.b.io\" in any of the versions v1, v2; did you mean \
         Bar.v1.a.io?",
    );
    check(
        "Widget",
        &[],
        "the server has no kind \"Widget\"; check the name, or install what defines it",
    );
    // The group of a kind is never a beginning, and an empty one is the core group.
    check(
        "Foo.a",
        &[],
        "the server has no kind \"Foo.a\"; did you mean one of Foo.v2.a.io, Foo.v1.a.io, \
         Foo.v1beta1.a.io, Foo.v1.b.io?",
    );
    check(
        "PodList",
        &[],
        "the server has no kind \"PodList\"; check the name, or install what defines it",
    );
}

#[test]
fn a_kind_that_may_be_in_a_version_that_failed_is_unknown() {
    let table = table([group_of(
        "a.io",
        &[("v2", None), ("v1", Some(&[("foos", "Foo")]))],
    )]);
    let ask = |kind: &str, versions: &[&str]| {
        table.rest_mapping(&kind.parse::<GroupKind>().unwrap(), versions)
    };
    assert!(ask("Bar.a.io", &[]).unwrap_err().is_unknown());
    assert!(ask("Foo.a.io", &["v2"]).unwrap_err().is_unknown());
    assert!(ask("Bar.a.io", &["v1"]).unwrap_err().is_no_match());
    assert!(ask("Foo.b.io", &[]).unwrap_err().is_no_match());
    // Found, with a warning where the failed version would come first.
    assert_eq!(ask("Foo.a.io", &[]).unwrap().warnings.len(), 1);
    assert_eq!(ask("Foo.a.io", &["v2", "v1"]).unwrap().warnings.len(), 1);
    assert_eq!(ask("Foo.a.io", &["v1", "v2"]).unwrap().warnings.len(), 0);
    assert_eq!(ask("Foo.a.io", &["v1"]).unwrap().warnings.len(), 0);
}

#[test]
fn the_spelling_of_the_server_is_answered() {
    let table = versions();
    let kind = GroupKind::new("a.io", "foo");
    let found = table.rest_mapping(&kind, &[]).unwrap().mapping;
    assert_eq!(found.kind.kind, "Foo");
    // Two kinds that differ in case only: the exact one.
    let table = RestTable::new(ServerResources::from_resources([
        resource("a.io", "v1", "foos", "FOO"),
        resource("a.io", "v1", "others", "Foo").with_singular_name("other"),
    ]));
    assert_eq!(mapping(&table, "Foo.a.io", &[]), "others.v1.a.io");
    assert_eq!(mapping(&table, "FOO.a.io", &[]), "foos.v1.a.io");
}

#[test]
fn of_resources_that_share_a_kind_the_one_that_can_be_listed_holds_the_objects() {
    let templates = resource("a.io", "v1", "templates", "Template");
    let processed = resource("a.io", "v1", "processedtemplates", "Template")
        .with_singular_name("processedtemplate")
        .with_verbs(&["create"]);
    for order in [
        vec![templates.clone(), processed.clone()],
        vec![processed.clone(), templates.clone()],
    ] {
        let table = table([group_with("a.io", "v1", order)]);
        assert_eq!(mapping(&table, "Template.a.io", &[]), "templates.v1.a.io");
        // A name leads to what has it.
        let named = super::resolve(&table, "processedtemplates");
        assert_eq!(named, "processedtemplates.v1.a.io");
    }
    // Between equals the last, as in client-go.
    let others = resource("a.io", "v1", "others", "Template").with_singular_name("other");
    let table = table([group_with("a.io", "v1", vec![templates, others])]);
    assert_eq!(mapping(&table, "Template.a.io", &[]), "others.v1.a.io");
}
