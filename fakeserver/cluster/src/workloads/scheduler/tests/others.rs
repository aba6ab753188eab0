//! Filters that look at the pods of other nodes: affinity, anti-affinity and topology spread.

use fakeserver_kinds::core::namespace;
use serde_json::{Value, json};

use super::{Fixture, node, pod};

const AFFINITY: &str = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY: &str = "node(s) didn't match pod anti-affinity rules";
const EXISTING: &str = "node(s) didn't satisfy existing pods anti-affinity rules";
const SPREAD: &str = "node(s) didn't match pod topology spread constraints";

fn term(app: &str, key: &str) -> Value {
    json!({"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key})
}

/// A pod with a required term of a kind.
fn related(name: &str, app: &str, kind: &str, term: Value) -> Value {
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    pod(
        name,
        json!({"app": app}),
        json!({"affinity": {kind: required}}),
    )
}

fn plain(name: &str, app: &str) -> Value {
    pod(name, json!({"app": app}), json!({}))
}

#[test]
fn a_pod_is_placed_near_others() {
    let cluster = Fixture::of_nodes(2);
    let near = related("p", "web", "podAffinity", term("db", "zone"));
    assert_eq!(cluster.reasons(&near), format!("2 {AFFINITY}"));
    let cluster = cluster.on("b", &plain("db", "db"));
    assert_eq!(cluster.place(&near).unwrap(), "b");
    let own = related("p", "web", "podAffinity", term("web", "zone"));
    assert_eq!(cluster.place(&own).unwrap(), "a", "the first of its kind");
    let cluster = cluster.on("b", &plain("web", "web"));
    assert_eq!(cluster.place(&own).unwrap(), "b");
    let nowhere = related("p", "web", "podAffinity", term("db", "rack"));
    assert_eq!(cluster.reasons(&nowhere), format!("2 {AFFINITY}"));
}

#[test]
fn a_pod_is_placed_away_from_others_and_they_from_it() {
    let cluster = Fixture::of_nodes(2).on("a", &plain("db", "db"));
    let away = related("p", "web", "podAntiAffinity", term("db", "zone"));
    assert_eq!(cluster.place(&away).unwrap(), "b");
    let cluster = cluster.on("b", &plain("db2", "db"));
    assert_eq!(cluster.reasons(&away), format!("2 {ANTI_AFFINITY}"));
    let hermit = related("h", "h", "podAntiAffinity", term("web", "zone"));
    let cluster = Fixture::of_nodes(2).on("a", &hermit);
    assert_eq!(cluster.place(&plain("p", "web")).unwrap(), "b");
    let mut cluster = cluster.on(
        "b",
        &related("i", "h", "podAntiAffinity", term("web", "zone")),
    );
    assert_eq!(cluster.reasons(&plain("p", "web")), format!("2 {EXISTING}"));
    // The domain of a node is that of its labels now.
    let moved = node("a", json!({}), json!({"pods": "3"}));
    cluster.scheduler.snapshot.set_node(super::Node::of(&moved));
    assert_eq!(cluster.place(&plain("p", "web")).unwrap(), "a");
}

#[test]
fn terms_are_about_namespaces() {
    let labelled =
        |name: &str, team: &str| json!({"metadata": {"name": name, "labels": {"team": team}}});
    let elsewhere = |mut pod: Value| {
        pod["metadata"]["namespace"] = json!("other");
        pod
    };
    let cluster = Fixture::of_nodes(2)
        .with(&namespace::KIND, labelled("default", "x"))
        .with(&namespace::KIND, labelled("other", "y"))
        .on("a", &elsewhere(plain("db", "db")));
    for (field, value, expected) in [
        ("namespaces", json!(["other"]), "b"),
        ("namespaces", json!(["default"]), "a"),
        ("namespaceSelector", json!({}), "b"),
        (
            "namespaceSelector",
            json!({"matchLabels": {"team": "y"}}),
            "b",
        ),
        (
            "namespaceSelector",
            json!({"matchLabels": {"team": "x"}}),
            "a",
        ),
    ] {
        let mut about = term("db", "zone");
        about[field] = value.clone();
        let away = related("p", "web", "podAntiAffinity", about.clone());
        // Node `a` has more pods than `b`, so that only the preference can attract the pod to `a`.
        let mut away = away;
        away["spec"]["nodeSelector"] = json!({"zone": "z0"});
        let result = cluster.place(&away);
        assert_eq!(
            result.is_ok(),
            expected == "a",
            "{field} {value}: {result:?}"
        );
        // The same from the other side.
        let hermit = related("h", "h", "podAntiAffinity", about);
        let other = Fixture::of_nodes(1)
            .with(&namespace::KIND, labelled("default", "x"))
            .with(&namespace::KIND, labelled("other", "y"))
            .on("a", &hermit);
        let result = other.place(&elsewhere(plain("p", "db")));
        assert_eq!(
            result.is_ok(),
            expected == "a",
            "{field} {value}: {result:?}"
        );
    }
}

#[test]
fn terms_are_about_pods_with_the_same_label() {
    let of_revision =
        |name: &str, hash: &str, spec: Value| pod(name, json!({"app": "web", "hash": hash}), spec);
    let mut same = term("web", "zone");
    same["matchLabelKeys"] = json!(["hash"]);
    let affinity =
        json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [same]}});
    let spec = json!({"affinity": affinity, "nodeSelector": {"zone": "z0"}});
    let cluster = Fixture::of_nodes(2).on("a", &of_revision("q", "1", json!({})));
    assert_eq!(
        cluster.place(&of_revision("p", "2", spec.clone())).unwrap(),
        "a"
    );
    assert!(cluster.place(&of_revision("p", "1", spec)).is_err());
}

/// A pod that is spread over zones by a constraint with these fields.
fn spread(name: &str, fields: &Value) -> Value {
    let mut constraint = json!({
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    });
    for (field, value) in fields.as_object().unwrap() {
        constraint[field] = value.clone();
    }
    let spec = json!({"topologySpreadConstraints": [constraint]});
    pod(name, json!({"app": "web"}), spec)
}

#[test]
fn pods_are_spread_over_domains() {
    let cluster = Fixture::of_nodes(2).on("a", &plain("1", "web"));
    let cluster = cluster
        .on("b", &plain("2", "db"))
        .on("b", &plain("3", "db"));
    let even = spread("p", &json!({}));
    assert_eq!(
        cluster.place(&even).unwrap(),
        "b",
        "though it has more pods"
    );
    let uneven = spread("p", &json!({"maxSkew": 2}));
    assert_eq!(cluster.place(&uneven).unwrap(), "a");
    let nowhere = spread("p", &json!({"topologyKey": "rack"}));
    assert_eq!(
        cluster.reasons(&nowhere),
        format!("2 {SPREAD} (missing required label)")
    );
    let many = spread("p", &json!({"minDomains": 3}));
    assert_eq!(cluster.place(&many).unwrap(), "b");
    let cluster = cluster.on("b", &plain("4", "web"));
    assert_eq!(
        cluster.reasons(&many),
        format!("1 Too many pods, 1 {SPREAD}")
    );
    let loose = spread(
        "p",
        &json!({"minDomains": 3, "whenUnsatisfiable": "ScheduleAnyway"}),
    );
    assert_eq!(cluster.place(&loose).unwrap(), "a");
}

#[test]
fn nodes_that_a_pod_may_not_run_on_are_domains_or_not() {
    let mut nodes = Vec::new();
    for (name, zone) in [("a", "z0"), ("b", "z1"), ("c", "z2")] {
        nodes.push(node(
            name,
            json!({"zone": zone, "for": zone}),
            json!({"pods": "9"}),
        ));
    }
    nodes[2]["spec"]["taints"] = json!([{"key": "k", "effect": "NoSchedule"}]);
    let cluster = Fixture::new(&nodes)
        .on("a", &plain("1", "web"))
        .on("b", &plain("2", "web"));
    let pod = |fields: Value| spread("p", &fields);
    // The tainted node is a domain without pods, unless taints count.
    let strict = cluster.reasons(&pod(json!({})));
    assert_eq!(
        strict,
        format!("1 node(s) had untolerated taint(s), 2 {SPREAD}")
    );
    let honored = pod(json!({"nodeTaintsPolicy": "Honor"}));
    assert_eq!(cluster.place(&honored).unwrap(), "a");
    // A node that the pod does not select is no domain, unless it is to be one.
    let mut selecting = pod(json!({}));
    selecting["spec"]["nodeSelector"] = json!({"for": "z0"});
    assert_eq!(cluster.place(&selecting).unwrap(), "a");
    let mut ignoring = pod(json!({"nodeAffinityPolicy": "Ignore"}));
    ignoring["spec"]["nodeSelector"] = json!({"for": "z0"});
    assert_eq!(
        cluster.reasons(&ignoring),
        format!(
            "1 node(s) didn't match Pod's node affinity/selector, 1 {SPREAD}, \
             1 node(s) had untolerated taint(s)"
        )
    );
}

#[test]
fn pods_that_are_going_do_not_count_for_the_spread() {
    let mut going = plain("1", "web");
    going["metadata"]["deletionTimestamp"] = json!(super::NOW);
    let cluster = Fixture::of_nodes(2)
        .on("a", &going)
        .on("b", &plain("2", "web"));
    assert_eq!(cluster.place(&spread("p", &json!({}))).unwrap(), "a");
}
