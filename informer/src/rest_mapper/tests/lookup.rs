//! Which resource a name means, and what is said when none or several do.

use kube::core::discovery::Scope;

use crate::{
    discovery::{GroupVersionKind, ServerResource, ServerResources},
    rest_mapper::{PartialResource, ResourceArg, RestTable},
};

use super::{arg, error_of, group, group_of, group_with, resolve, resource, table};

/// A small cluster with the names that cause trouble.
fn cluster() -> RestTable {
    let with_short = |resource: ServerResource, short: &[&str]| resource.with_short_names(short);
    let core = vec![
        with_short(resource("", "v1", "pods", "Pod"), &["po"]).with_categories(&["all"]),
        with_short(resource("", "v1", "endpoints", "Endpoints"), &["ep"]),
        with_short(resource("", "v1", "events", "Event"), &["ev"]),
        ServerResource::new(
            GroupVersionKind::new("", "v1", "Node"),
            "nodes",
            Scope::Cluster,
        ),
    ];
    let apps = vec![
        with_short(
            resource("apps", "v1", "deployments", "Deployment"),
            &["deploy"],
        )
        .with_categories(&["all"]),
    ];
    let events = vec![with_short(
        resource("events.k8s.io", "v1", "events", "Event"),
        &["ev"],
    )];
    let storage = vec![with_short(
        resource("storage.k8s.io", "v1", "storageclasses", "StorageClass"),
        &["sc"],
    )];
    let metrics = vec![
        resource("metrics.k8s.io", "v1beta1", "pods", "PodMetrics").with_singular_name(""),
        resource("metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics").with_singular_name("node"),
    ];
    table([
        group_with("events.k8s.io", "v1", events),
        group_with("apps", "v1", apps),
        group_with("storage.k8s.io", "v1", storage),
        group_with("metrics.k8s.io", "v1beta1", metrics),
        group_with("", "v1", core),
    ])
}

#[test]
fn names_mean_what_client_go_says() {
    let table = cluster();
    let check = |name: &str, expected: &str| assert_eq!(resolve(&table, name), expected, "{name}");
    // Plural, singular, short and kind.
    check("pods", "pods.v1.");
    check("pod", "pods.v1.");
    check("po", "pods.v1.");
    check("Pod", "pods.v1.");
    check("PODS", "pods.v1.");
    check("deploy", "deployments.v1.apps");
    // Group, and its beginning.
    check("deployments.apps", "deployments.v1.apps");
    check("deploy.apps", "deployments.v1.apps");
    check("storageclasses.storage", "storageclasses.v1.storage.k8s.io");
    check("sc.stor", "storageclasses.v1.storage.k8s.io");
    check("pods.metrics.k8s.io", "pods.v1beta1.metrics.k8s.io");
    check("pods.metrics", "pods.v1beta1.metrics.k8s.io");
    // Version.
    check("Deployment.v1.apps", "deployments.v1.apps");
    check("deploy.v1.apps", "deployments.v1.apps");
    check("pods.v1.", "pods.v1.");
    check("pods.v1beta1.metrics.k8s.io", "pods.v1beta1.metrics.k8s.io");
    // Core first, then the order of discovery.
    check("events", "events.v1.");
    check("events.events.k8s.io", "events.v1.events.k8s.io");
    check("nodes", "nodes.v1.");
    // The core group stands for any that has it, if it has not.
    check("events.v1.", "events.v1.");
    check("deployments.v1.", "deployments.v1.apps");
    // Kinds whose names are others: the singular is not the kind.
    check("NodeMetrics", "nodes.v1beta1.metrics.k8s.io");
    check(
        "nodemetrics.v1beta1.metrics.k8s.io",
        "nodes.v1beta1.metrics.k8s.io",
    );
    // A singular that the server does not say is guessed from the kind.
    check("podmetrics", "pods.v1beta1.metrics.k8s.io");
    // Singular and plural at once is one resource.
    check("endpoints", "endpoints.v1.");
}

#[test]
fn a_short_name_of_several_means_the_first_and_warns_of_the_others_once() {
    assert_eq!(
        resolve(&cluster(), "ev"),
        "events.v1. (short name \"ev\" could also match lower priority resource \
         events.events.k8s.io)"
    );
    // Versions of one resource are no ambiguity.
    let foos = |version: &str| resource("a.io", version, "foos", "Foo").with_short_names(&["f"]);
    let bars = |version: &str| resource("b.io", version, "bars", "Bar").with_short_names(&["f"]);
    let table = RestTable::new(ServerResources::from_resources([
        foos("v2"),
        foos("v1"),
        bars("v2"),
        bars("v1"),
    ]));
    let warning = "short name \"f\" could also match lower priority resource bars.b.io";
    assert_eq!(resolve(&table, "f"), format!("foos.v2.a.io ({warning})"));
    assert_eq!(resolve(&table, "f.b.io"), "bars.v2.b.io");
}

#[test]
fn full_names_beat_short_names_also_of_a_later_group() {
    let table = table([
        group_with(
            "",
            "v1",
            vec![resource("", "v1", "pods", "Pod").with_short_names(&["po"])],
        ),
        group_with(
            "rivers.io",
            "v1",
            vec![resource("rivers.io", "v1", "po", "River")],
        ),
    ]);
    assert_eq!(resolve(&table, "po"), "po.v1.rivers.io");
    assert_eq!(resolve(&table, "po.v1."), "po.v1.rivers.io");
    assert!(error_of(&table, "po.v2.rivers.io").is_no_match());
}

#[test]
fn a_short_name_keeps_the_version_that_was_asked_for() {
    let foos = |version: &str| resource("a.io", version, "foos", "Foo").with_short_names(&["f"]);
    let only_old = |version: &str| resource("a.io", version, "foos", "Foo");
    let table = RestTable::new(ServerResources::from_resources([
        only_old("v2"),
        foos("v1"),
    ]));
    assert_eq!(
        resolve(&table, "f"),
        "foos.v2.a.io",
        "the name is the resource's"
    );
    assert_eq!(resolve(&table, "f.v1.a.io"), "foos.v1.a.io");
    assert_eq!(
        resolve(&table, "f.v9.a.io"),
        "the server has no resource \"f.v9.a.io\"; did you mean foos.v1.a.io?"
    );
}

#[test]
fn a_group_beats_the_groups_that_begin_with_it_whatever_the_order() {
    let table = table([
        group(
            "storage.k8s.io",
            &["v1"],
            &[("foos", "Foo"), ("bars", "Bar")],
        ),
        group("storage", &["v1"], &[("foos", "Foo")]),
    ]);
    assert_eq!(resolve(&table, "foos.storage"), "foos.v1.storage");
    assert_eq!(resolve(&table, "foos.stor"), "foos.v1.storage.k8s.io");
    assert_eq!(resolve(&table, "bars.storage"), "bars.v1.storage.k8s.io");
}

#[test]
fn an_unserved_name_is_an_error_with_suggestions() {
    let table = cluster();
    let check = |name: &str, expected: &str| {
        assert_eq!(resolve(&table, name), expected);
        assert!(error_of(&table, name).is_no_match());
        assert!(!error_of(&table, name).is_unknown());
    };
    check(
        "deploymens",
        "the server has no resource \"deploymens\"; did you mean deployments.v1.apps?",
    );
    check(
        "deployments.v9.apps",
        "the server has no resource \"deployments.v9.apps\"; did you mean deployments.v1.apps?",
    );
    check(
        "events.extensions",
        "the server has no resource \"events.extensions\"; did you mean one of events.v1., \
         events.v1.events.k8s.io?",
    );
    check(
        "widgets",
        "the server has no resource \"widgets\"; check the name, or install what defines it",
    );
    // Nothing is made up from kinds.
    check(
        "podlists",
        "the server has no resource \"podlists\"; check the name, or install what defines it",
    );
}

#[test]
fn one_name_of_two_resources_in_one_version_is_ambiguous() {
    // The plural of one is the singular of the other.
    let table = RestTable::new(ServerResources::from_resources([
        resource("a.io", "v1", "news", "News"),
        resource("a.io", "v1", "newses", "Newses").with_singular_name("news"),
    ]));
    let error = error_of(&table, "news");
    assert!(error.is_ambiguous() && !error.is_no_match() && !error.is_retryable());
    assert_eq!(
        error.to_string(),
        "\"news\" may be any of news.v1.a.io, newses.v1.a.io; ask by one of these names"
    );
    assert!(table.singular_of(&arg("news")).unwrap_err().is_ambiguous());
    let both = table.resources_for(&arg("news")).unwrap();
    assert_eq!(both.len(), 2);
    assert_eq!(resolve(&table, "newses"), "newses.v1.a.io");
}

#[test]
fn resources_of_a_failed_group_are_unknown_and_not_missing() {
    let table = table([
        group("a.io", &["v1"], &[("foos", "Foo")]),
        group_of("b.io", &[("v1", None), ("v2", Some(&[("bars", "Bar")]))]),
    ]);
    let unknown = |name: &str| {
        let error = error_of(&table, name);
        assert!(error.is_unknown() && error.is_retryable(), "{error}");
        assert!(!error.is_no_match());
    };
    unknown("widgets");
    unknown("widgets.b.io");
    unknown("widgets.b");
    unknown("widgets.v1.b.io");
    assert_eq!(
        error_of(&table, "widgets").to_string(),
        "whether the server has \"widgets\" is not known, because discovery failed \
         (b.io/v1: the server's own knowledge of it is stale)"
    );
    assert!(error_of(&table, "widgets.a.io").is_no_match());
    assert!(error_of(&table, "widgets.v2.b.io").is_no_match());
    // What is known is found, and what would come before it is said.
    assert_eq!(resolve(&table, "foos"), "foos.v1.a.io");
    assert_eq!(
        resolve(&table, "bars"),
        "bars.v2.b.io (another resource may come first: b.io/v1: the server's own knowledge of \
         it is stale)"
    );
    assert_eq!(resolve(&table, "bars.v2.b.io"), "bars.v2.b.io");
}

#[test]
fn a_group_that_failed_does_not_give_its_name_to_those_that_begin_with_it() {
    let table = table([
        group("storage.k8s.io", &["v1"], &[("foos", "Foo")]),
        group_of("storage", &[("v1", None)]),
    ]);
    assert!(error_of(&table, "foos.storage").is_unknown());
    assert_eq!(resolve(&table, "foos.storage.k"), "foos.v1.storage.k8s.io");
}

#[test]
fn a_group_that_has_a_name_is_not_warned_of_failed_groups_that_begin_with_it() {
    let table = table([
        group_of("storage.k8s.io", &[("v1", None)]),
        group("storage", &["v1"], &[("foos", "Foo")]),
    ]);
    assert_eq!(resolve(&table, "foos.storage"), "foos.v1.storage");
    let by_beginning = table.resolve(&arg("foos.stor")).unwrap();
    assert_eq!(by_beginning.warnings.len(), 1);
}

#[test]
fn every_resource_of_a_name_is_listed_in_order() {
    let table = cluster();
    let check = |name: &str, expected: &[&str]| {
        let found = table.resources_for(&arg(name)).unwrap();
        let found: Vec<_> = found.iter().map(|it| it.resource.to_string()).collect();
        assert_eq!(found, expected, "{name}");
    };
    check("pods", &["pods.v1.", "pods.v1beta1.metrics.k8s.io"]);
    check("events", &["events.v1.", "events.v1.events.k8s.io"]);
    check("events.v1.", &["events.v1."]);
    check("pods.metrics", &["pods.v1beta1.metrics.k8s.io"]);
    let nothing = table.resources_for(&arg("widgets")).unwrap_err();
    assert!(nothing.is_no_match());
}

#[test]
fn singular_names_come_from_the_server_or_the_kind() {
    let table = cluster();
    let check = |name: &str, expected: &str| {
        assert_eq!(table.singular_of(&arg(name)).unwrap(), expected, "{name}");
    };
    check("pods", "pod");
    check("po", "pod");
    check("pod", "pod");
    check("endpoints", "endpoints");
    check("pods.metrics.k8s.io", "podmetrics");
    assert!(
        table
            .singular_of(&arg("widgets"))
            .unwrap_err()
            .is_no_match()
    );
}

#[test]
fn a_category_has_each_resource_once() {
    let of = |group: &str, version: &str, plural: &str| {
        resource(group, version, plural, "Foo").with_categories(&["all", "mine"])
    };
    let table = RestTable::new(ServerResources::from_resources([
        of("a.io", "v2", "foos"),
        of("a.io", "v1", "foos"),
        of("a.io", "v1", "bars"),
        of("b.io", "v1", "foos"),
    ]));
    let names: Vec<_> = table
        .category("all")
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(names, ["foos.a.io", "bars.a.io", "foos.b.io"]);
    assert_eq!(table.category("mine").len(), 3);
    assert!(table.category("none").is_empty());
}

#[test]
fn a_mapping_is_what_kube_needs() {
    let table = cluster();
    let nodes = table.resolve(&arg("nodes")).unwrap().mapping;
    assert!(!nodes.is_namespaced());
    let deployments = table.resolve(&arg("deployment")).unwrap().mapping;
    assert!(deployments.is_namespaced());
    assert_eq!(
        deployments.kind.kind, "Deployment",
        "as the server spells it"
    );
    let theirs =
        kube::core::discovery::ApiResource::erase::<k8s_openapi::api::apps::v1::Deployment>(&());
    assert_eq!(deployments.api_resource(), theirs);
    let pods = table.resolve(&arg("po")).unwrap().mapping;
    let theirs = kube::core::discovery::ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&());
    assert_eq!(kube::core::discovery::ApiResource::from(&pods), theirs);
}

#[test]
fn partial_resources_leave_open_what_they_do_not_say() {
    let table = cluster();
    let ask = |resource: PartialResource| {
        let resolved = table.resolve(&ResourceArg::from(resource)).unwrap();
        resolved.mapping.resource.to_string()
    };
    assert_eq!(ask(PartialResource::new("pods")), "pods.v1.");
    let beta = PartialResource::new("pods").with_version("v1beta1");
    assert_eq!(ask(beta), "pods.v1beta1.metrics.k8s.io");
    let core = PartialResource::new("events").with_group("");
    assert_eq!(ask(core), "events.v1.");
}
