//! Queries of the table.

use crate::discovery::{
    Availability, DiscoveryError, GroupVersion, ServerGroup, ServerResources, ServerVersion,
};

use super::{group, resource};

fn names<'a>(resources: impl Iterator<Item = &'a crate::discovery::ServerResource>) -> Vec<String> {
    resources.map(|it| it.resource.to_string()).collect()
}

/// A group whose newer version is preferred and lacks what the older one has.
fn grown() -> ServerGroup {
    ServerGroup::new(
        "a.io",
        [
            ServerVersion::served(
                "v1",
                vec![
                    resource("a.io", "v1", "foos", "Foo"),
                    resource("a.io", "v1", "relics", "Relic"),
                ],
            ),
            ServerVersion::served("v2", vec![resource("a.io", "v2", "foos", "Foo")]),
            ServerVersion::failed("v3", DiscoveryError::Stale),
        ],
    )
    .with_preferred_version("v2")
}

#[test]
fn a_preferred_resource_is_of_the_preferred_version_or_else_of_the_first_that_has_it() {
    let resources = ServerResources::new([group("", &["v1"], &[("pods", "Pod")]), grown()]);
    assert_eq!(
        names(resources.preferred_resources()),
        ["pods.v1.", "foos.v2.a.io", "relics.v1.a.io"]
    );
    assert_eq!(
        names(resources.resources()),
        ["pods.v1.", "foos.v1.a.io", "relics.v1.a.io", "foos.v2.a.io"]
    );
}

#[test]
fn preferred_namespaced_resources_are_without_those_of_the_cluster() {
    let mut nodes = resource("", "v1", "nodes", "Node");
    nodes.scope = kube::core::discovery::Scope::Cluster;
    let resources = ServerResources::from_resources([nodes, resource("", "v1", "pods", "Pod")]);
    assert_eq!(
        names(resources.preferred_namespaced_resources()),
        ["pods.v1."]
    );
}

#[test]
fn a_group_version_is_found_not_served_or_unknown() {
    let resources = ServerResources::new([grown()]);
    let ask =
        |group: &str, version: &str| resources.group_version(&GroupVersion::new(group, version));
    assert!(matches!(ask("a.io", "v2"), Availability::Found([_])));
    assert!(ask("a.io", "v4").is_not_served());
    assert!(ask("b.io", "v1").is_not_served());
    assert!(ask("a.io", "v3").is_unknown());
    let supported = resources.supports_version(&GroupVersion::new("a.io", "v3"));
    assert!(supported.is_unknown());
    assert!(!resources.is_complete());
}

#[test]
fn tables_by_hand_are_grouped_in_the_order_of_their_first_resources() {
    let resources = ServerResources::from_resources([
        resource("b.io", "v1", "foos", "Foo"),
        resource("a.io", "v1", "foos", "Foo"),
        resource("b.io", "v2", "foos", "Foo"),
        resource("b.io", "v1", "bars", "Bar"),
    ]);
    assert_eq!(
        names(resources.resources()),
        [
            "foos.v1.b.io",
            "bars.v1.b.io",
            "foos.v2.b.io",
            "foos.v1.a.io"
        ]
    );
    assert!(resources.is_complete());
}
