//! Attributes, rules and policies as values.

use fakeserver_kinds::{
    core::service::range::ServiceRange,
    initial_objects,
    rbac::{
        self,
        policy::{
            Attributes, GROUP, Policy, PolicyRule, ResourceAttributes, RoleRef, Target,
            missing_rights,
        },
    },
};
use fakeserver_value::user::UserInfo;
use fakeserver_versions::KubernetesVersion;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proptest::{collection::vec, prelude::*, sample::subsequence};
use serde_json::{Value, json};

use super::{impersonation, request_attributes};
use crate::edge::request::Query;

/// `GET /api/v1/pods?watch=1` as attributes.
fn attributes(line: &str) -> Attributes {
    let (method, uri) = line.split_once(' ').unwrap();
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    request_attributes(&method, path, &Query::parse(Some(query)))
}

fn user(name: &str, groups: &[&str]) -> UserInfo {
    UserInfo::new(name).with_groups(groups.iter().copied())
}

/// Requests, and what they are to rules.
const REQUESTS: [(&str, &str); 23] = [
    ("GET /api/v1/pods", "list /v1 pods ns= name="),
    ("GET /api/v1/pods?watch=true", "watch /v1 pods ns= name="),
    ("GET /api/v1/pods?watch=0", "list /v1 pods ns= name="),
    ("GET /api/v1/watch/pods", "watch /v1 pods ns= name="),
    (
        "PUT /api/v1/watch/namespaces/a/pods/p",
        "update /v1 pods ns=a name=p",
    ),
    (
        "DELETE /api/v1/watch/pods",
        "deletecollection /v1 pods ns= name=",
    ),
    (
        "GET /api/v1/namespaces/a/pods/p",
        "get /v1 pods ns=a name=p",
    ),
    (
        "HEAD /api/v1/namespaces/a/pods/p",
        "get /v1 pods ns=a name=p",
    ),
    (
        "POST /api/v1/namespaces/a/pods/p/eviction",
        "create /v1 pods/eviction ns=a name=p",
    ),
    (
        "GET /api/v1/namespaces/a/pods/p/proxy/x/y",
        "get /v1 pods/proxy ns=a name=p",
    ),
    (
        "PUT /apis/apps/v1/namespaces/a/deployments/d/status",
        "update apps/v1 deployments/status ns=a name=d",
    ),
    (
        "PATCH /apis/g.io/v2/things/t%20t",
        "patch g.io/v2 things ns= name=t t",
    ),
    (
        "DELETE /api/v1/namespaces/a/pods",
        "deletecollection /v1 pods ns=a name=",
    ),
    (
        "DELETE /api/v1/namespaces/a",
        "delete /v1 namespaces ns=a name=a",
    ),
    (
        "PUT /api/v1/namespaces/a/finalize",
        "update /v1 namespaces/finalize ns=a name=a",
    ),
    ("GET /api/v1/namespaces", "list /v1 namespaces ns= name="),
    (
        "GET /api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Ds,type=x",
        "list /v1 secrets ns=a name=s",
    ),
    (
        "GET /api/v1/secrets?watch=1&fieldSelector=type=x,metadata.name==s",
        "watch /v1 secrets ns= name=s",
    ),
    (
        "GET /api/v1/secrets?fieldSelector=metadata.name=..",
        "list /v1 secrets ns= name=",
    ),
    ("GET /api/v1", "get /api/v1"),
    ("GET /apis/apps/v1", "get /apis/apps/v1"),
    ("POST /_control/reset", "post /_control/reset"),
    ("GET /", "get /"),
];

#[test]
fn a_request_is_a_verb_on_a_resource_or_on_a_path() {
    let check = |line: &str, expected: &str| {
        let found = attributes(line);
        let target = match &found.target {
            Target::Path(path) => path.clone(),
            Target::Resource(at) => format!(
                "{}/{} {} ns={} name={}",
                at.group,
                at.version,
                at.combined(),
                at.namespace,
                at.name
            ),
        };
        assert_eq!(format!("{} {target}", found.verb), expected, "{line}");
    };
    for (line, expected) in REQUESTS {
        check(line, expected);
    }
}

#[test]
fn a_denial_is_in_the_words_of_the_api() {
    let denial = |line: &str| attributes(line).denial(&user("bob", &[]));
    assert_eq!(
        denial("GET /api/v1/namespaces/default/pods/x/log"),
        "User \"bob\" cannot get resource \"pods/log\" in API group \"\" in the namespace \"default\""
    );
    assert_eq!(
        denial("GET /apis/apps/v1/deployments"),
        "User \"bob\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope"
    );
    assert_eq!(
        denial("GET /metrics/<b>"),
        "User \"bob\" cannot get path \"/metrics/&lt;b&gt;\""
    );
}

fn rule(text: Value) -> PolicyRule {
    serde_json::from_value(text).unwrap()
}

#[test]
fn a_rule_allows_only_what_it_names() {
    let pods =
        json!({"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "pods/log"]});
    let named = json!({
        "verbs": ["*"], "apiGroups": ["*"], "resources": ["secrets"], "resourceNames": ["a", "b"],
    });
    let scales = json!({"verbs": ["update"], "apiGroups": ["apps"], "resources": ["*/scale"]});
    let paths = json!({"verbs": ["get"], "nonResourceURLs": ["/healthz", "/logs/*"]});
    let all = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]});
    let every_path = json!({"verbs": ["*"], "nonResourceURLs": ["*"]});
    for (text, line, is_allowed) in [
        (&pods, "GET /api/v1/pods", true),
        (&pods, "GET /api/v1/namespaces/a/pods/p/log", true),
        (&pods, "GET /api/v1/namespaces/a/pods/p/status", false),
        (&pods, "GET /api/v1/pods?watch=1", false),
        (&pods, "GET /apis/metrics.k8s.io/v1/pods", false),
        (&pods, "GET /pods", false),
        (&named, "DELETE /api/v1/namespaces/x/secrets/b", true),
        (&named, "DELETE /api/v1/namespaces/x/secrets/c", false),
        (&named, "GET /api/v1/namespaces/x/secrets", false),
        (
            &named,
            "GET /api/v1/namespaces/x/secrets?fieldSelector=metadata.name=a",
            true,
        ),
        (&named, "POST /api/v1/namespaces/x/secrets", false),
        (
            &scales,
            "PUT /apis/apps/v1/namespaces/a/deployments/d/scale",
            true,
        ),
        (
            &scales,
            "PUT /apis/apps/v1/namespaces/a/deployments/d",
            false,
        ),
        (
            &scales,
            "PUT /apis/apps/v1/namespaces/a/deployments/d/xscale",
            false,
        ),
        (&paths, "GET /healthz", true),
        (&paths, "GET /healthz/ping", false),
        (&paths, "GET /logs/a/b", true),
        (&paths, "GET /logs", false),
        (&paths, "POST /healthz", false),
        (&all, "PATCH /apis/g/v1/things/t/status", true),
        (&all, "GET /healthz", false),
        (&every_path, "POST /_control/reset", true),
        (&every_path, "GET /api/v1/pods", false),
    ] {
        let allowed = rule(text.clone()).allows(&attributes(line));
        assert_eq!(allowed, is_allowed, "{line} by {text}");
    }
}

fn role(namespace: &str, name: &str, rules: &Value) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name}, "rules": rules})
}

fn binding(namespace: &str, name: &str, kind: &str, role: &str, subject: &Value) -> Value {
    json!({
        "metadata": {"namespace": namespace, "name": name},
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role},
        "subjects": [subject],
    })
}

/// `jane`, the group `ops` and a service account have roles.
fn bound() -> Policy {
    let read = |resource| json!([{"verbs": ["get"], "apiGroups": [""], "resources": [resource]}]);
    let jane = json!({"kind": "User", "name": "jane"});
    Policy::new([
        (&rbac::cluster_role::KIND, role("", "nodes", &read("nodes"))),
        (&rbac::cluster_role::KIND, role("", "pods", &read("pods"))),
        (&rbac::role::KIND, role("a", "maps", &read("configmaps"))),
        (
            &rbac::cluster_role_binding::KIND,
            binding(
                "",
                "all",
                "ClusterRole",
                "nodes",
                &json!({"kind": "Group", "name": "ops"}),
            ),
        ),
        (
            &rbac::role_binding::KIND,
            binding("a", "p", "ClusterRole", "pods", &jane),
        ),
        (
            &rbac::role_binding::KIND,
            binding("b", "m", "Role", "maps", &jane),
        ),
        (
            &rbac::role_binding::KIND,
            binding(
                "a",
                "robot",
                "Role",
                "maps",
                &json!({"kind": "ServiceAccount", "name": "robot"}),
            ),
        ),
    ])
}

#[test]
fn bindings_give_roles_to_users_groups_and_service_accounts() {
    let policy = bound();
    let robot = UserInfo::service_account("a", "robot");
    let elsewhere = UserInfo::service_account("b", "robot");
    let jane = user("jane", &[]);
    for (user, line, expected) in [
        (
            &user("x", &["ops"]),
            "GET /api/v1/nodes/n",
            Ok(
                "RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"nodes\" to Group \"ops\"",
            ),
        ),
        (&user("ops", &[]), "GET /api/v1/nodes/n", Err("")),
        (
            &jane,
            "GET /api/v1/namespaces/a/pods/p",
            Ok("RBAC: allowed by RoleBinding \"p/a\" of ClusterRole \"pods\" to User \"jane\""),
        ),
        (
            &jane,
            "GET /api/v1/namespaces/b/pods/p",
            Err("RBAC: role.rbac.authorization.k8s.io \"maps\" not found"),
        ),
        (&jane, "GET /api/v1/pods", Err("")),
        (
            &robot,
            "GET /api/v1/namespaces/a/configmaps/c",
            Ok(
                "RBAC: allowed by RoleBinding \"robot/a\" of Role \"maps\" to ServiceAccount \"robot/a\"",
            ),
        ),
        (&elsewhere, "GET /api/v1/namespaces/a/configmaps/c", Err("")),
        (&user("x", &["system:masters"]), "PATCH /metrics", Ok("")),
    ] {
        let decision = policy.decide(user, &attributes(line));
        let reason = decision.reason.as_str();
        let found = if decision.is_allowed {
            Ok(reason)
        } else {
            Err(reason)
        };
        assert_eq!(found, expected, "{} {line}", user.name());
    }
}

#[test]
fn a_sum_of_roles_has_the_rules_of_all_whom_it_selects() {
    let labelled = |name: &str, label: &str, more: Value| {
        let mut role = json!({"metadata": {"name": name, "labels": {label: "true"}}});
        role.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        role
    };
    let select = |label: &str| json!({"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]});
    let rules =
        |verb: &str| json!({"rules": [{"verbs": [verb], "apiGroups": ["g"], "resources": ["r"]}]});
    // Two that select each other end as well.
    let policy = Policy::new([
        (
            &rbac::cluster_role::KIND,
            labelled(
                "top",
                "b",
                json!({"aggregationRule": select("a"), "rules": null}),
            ),
        ),
        (
            &rbac::cluster_role::KIND,
            labelled("mid", "a", json!({"aggregationRule": select("b")})),
        ),
        (
            &rbac::cluster_role::KIND,
            labelled("leaf", "b", rules("get")),
        ),
        (
            &rbac::cluster_role::KIND,
            labelled("other", "c", rules("delete")),
        ),
    ]);
    for name in ["top", "mid"] {
        let reference = RoleRef {
            kind: "ClusterRole".to_owned(),
            name: name.to_owned(),
            ..RoleRef::default()
        };
        let rules = policy.rules_of(&reference, "").unwrap();
        assert_eq!(rules.len(), 1, "{name}");
        assert_eq!(rules[0].verbs, ["get"], "{name}");
    }
}

#[test]
fn a_cluster_begins_with_the_roles_of_users() {
    let mut objects = initial_objects(
        KubernetesVersion::DEFAULT,
        "2026-01-01T00:00:00Z",
        ServiceRange::DEFAULT,
    );
    objects.retain(|(kind, _)| kind.group() == GROUP);
    let of = |role: &str, name: &str| {
        let subject = json!({"kind": "User", "name": name});
        (
            &rbac::role_binding::KIND,
            binding("a", name, "ClusterRole", role, &subject),
        )
    };
    objects.extend([
        of("view", "viewer"),
        of("edit", "editor"),
        of("admin", "owner"),
    ]);
    let policy = Policy::new(objects);
    let who = |line: &str| -> Vec<&str> {
        let names = ["viewer", "editor", "owner"];
        let may = |name: &&str| {
            policy
                .decide(&user(name, &[]), &attributes(line))
                .is_allowed
        };
        names.into_iter().filter(may).collect()
    };
    assert_eq!(
        who("GET /api/v1/namespaces/a/pods"),
        ["viewer", "editor", "owner"]
    );
    assert_eq!(who("GET /api/v1/namespaces/a/secrets"), ["editor", "owner"]);
    assert_eq!(
        who("PATCH /apis/apps/v1/namespaces/a/deployments/d"),
        ["editor", "owner"]
    );
    let roles = "POST /apis/rbac.authorization.k8s.io/v1/namespaces/a/roles";
    assert_eq!(who(roles), ["owner"]);
    assert_eq!(who("GET /api/v1/namespaces/b/pods"), [""; 0]);
    assert_eq!(who("GET /api/v1/nodes"), [""; 0]);

    let everybody = user("x", &["system:authenticated"]);
    let anonymous = UserInfo::anonymous();
    for (line, for_everybody, for_anonymous) in [
        ("GET /apis/apps/v1", true, false),
        ("GET /version", true, true),
        ("GET /_control/stats", false, false),
        (
            "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            true,
            false,
        ),
    ] {
        let may = |user| policy.decide(user, &attributes(line)).is_allowed;
        assert_eq!(
            (may(&everybody), may(&anonymous)),
            (for_everybody, for_anonymous),
            "{line}"
        );
    }
}

#[test]
fn an_rbac_write_grants_no_more_than_the_writer_has() {
    let held = [
        rule(json!({"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods", "*/log"]})),
        rule(
            json!({"verbs": ["*"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["s"]}),
        ),
        rule(json!({"verbs": ["get"], "nonResourceURLs": ["/logs/*"]})),
    ];
    let held: Vec<&PolicyRule> = held.iter().collect();
    let bob = user("bob", &["a", "b"]);
    let missing = |granted: Value| missing_rights(&bob, &held, &[rule(granted)]);
    for covered in [
        json!({"verbs": ["list"], "apiGroups": [""], "resources": ["pods", "pods/log", "nodes/log"]}),
        json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}),
        json!({"verbs": ["delete"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["s"]}),
        json!({"verbs": ["get"], "nonResourceURLs": ["/logs/*", "/logs/a"]}),
        json!({"verbs": []}),
    ] {
        assert_eq!(missing(covered.clone()), None, "{covered}");
    }
    assert_eq!(
        missing(json!({
            "verbs": ["get", "watch", "delete"], "apiGroups": [""], "resources": ["secrets", "pods"],
        }))
        .unwrap(),
        "user \"bob\" (groups=[\"a\" \"b\"]) is attempting to grant RBAC permissions not currently held:\n\
         {APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"delete\"]}\n\
         {APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\" \"watch\" \"delete\"]}"
    );
    for lacking in [
        json!({"verbs": ["*"], "apiGroups": [""], "resources": ["pods"]}),
        json!({"verbs": ["get"], "apiGroups": ["*"], "resources": ["pods"]}),
        json!({"verbs": ["get"], "nonResourceURLs": ["/logs"]}),
    ] {
        assert!(missing(lacking.clone()).is_some(), "{lacking}");
    }
}

/// A rule over a few words, some of which stand for all.
fn any_rule() -> impl Strategy<Value = PolicyRule> {
    fn some(words: &[&str], at_least: usize) -> impl Strategy<Value = Vec<String>> + use<> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let most = words.len();
        subsequence(words, at_least..=most)
    }
    let resources = (
        some(&["get", "list", "*"], 1),
        some(&["", "apps", "*"], 1),
        some(&["pods", "pods/log", "*/log", "*"], 1),
        some(&["a", "b"], 0),
    );
    let resources =
        resources.prop_map(
            |(verbs, api_groups, resources, resource_names)| PolicyRule {
                verbs,
                api_groups,
                resources,
                resource_names,
                non_resource_urls: Vec::new(),
            },
        );
    let paths = (
        some(&["get", "*"], 1),
        some(&["/a", "/a/*", "/a/b", "*"], 1),
    );
    let paths = paths.prop_map(|(verbs, non_resource_urls)| PolicyRule {
        verbs,
        non_resource_urls,
        ..PolicyRule::default()
    });
    prop_oneof![3 => resources, 1 => paths]
}

/// Every request over those words.
fn every_request() -> Vec<Attributes> {
    let mut all = Vec::new();
    for verb in ["get", "list", "delete"] {
        for path in ["/a", "/a/b", "/a/b/c", "/b"] {
            all.push(Attributes::path(verb, path));
        }
        for group in ["", "apps", "x"] {
            for (resource, subresource) in [("pods", ""), ("pods", "log"), ("nodes", "log")] {
                for name in ["", "a", "c"] {
                    let target = ResourceAttributes {
                        group: group.to_owned(),
                        resource: resource.to_owned(),
                        subresource: subresource.to_owned(),
                        name: name.to_owned(),
                        ..ResourceAttributes::default()
                    };
                    all.push(Attributes::resource(verb, target));
                }
            }
        }
    }
    all
}

proptest! {
    /// Granted rights without missing ones allow nothing beyond the granter's own rights.
    #[test]
    fn rights_that_are_held_are_all_that_can_be_given(
        held in vec(any_rule(), 0..4),
        granted in vec(any_rule(), 1..3),
    ) {
        let own: Vec<&PolicyRule> = held.iter().collect();
        let is_held = missing_rights(&user("bob", &[]), &own, &granted).is_none();
        let may = |rules: &[PolicyRule], attributes: &Attributes| {
            rules.iter().any(|rule| rule.allows(attributes))
        };
        for attributes in every_request() {
            prop_assert!(
                !is_held || !may(&granted, &attributes) || may(&held, &attributes),
                "{attributes:?}"
            );
        }
        prop_assert_eq!(missing_rights(&user("bob", &[]), &own, &held), None);
    }
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let pairs = pairs.iter().map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        (name, HeaderValue::from_str(value).unwrap())
    });
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name, value);
    }
    headers
}

#[test]
fn impersonation_needs_a_permission_for_each_part() {
    let impersonated = |pairs: &[(&str, &str)]| impersonation(&headers(pairs));
    assert_eq!(impersonated(&[("user-agent", "x")]), Ok(None));
    let jane = impersonated(&[
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Extra-Acme.com%2fTeam", "t"),
    ]);
    let jane = jane.unwrap().unwrap();
    assert_eq!(
        jane.user.to_json(),
        json!({
            "username": "jane", "uid": "7", "groups": ["a", "b", "system:authenticated"],
            "extra": {"acme.com/team": ["t"]},
        })
    );
    let needs: Vec<String> = jane
        .needs
        .iter()
        .map(|need| match &need.target {
            Target::Resource(at) => {
                format!("{} {}.{} {}", need.verb, at.combined(), at.group, at.name)
            }
            Target::Path(path) => path.clone(),
        })
        .collect();
    assert_eq!(
        needs,
        [
            "impersonate users. jane",
            "impersonate groups. a",
            "impersonate groups. b",
            "impersonate uids.authentication.k8s.io 7",
            "impersonate userextras/acme.com/team.authentication.k8s.io t",
        ]
    );

    let robot = impersonated(&[("impersonate-user", "system:serviceaccount:ns:robot")]);
    let robot = robot.unwrap().unwrap();
    let account = ResourceAttributes {
        resource: "serviceaccounts".to_owned(),
        namespace: "ns".to_owned(),
        name: "robot".to_owned(),
        ..ResourceAttributes::default()
    };
    assert_eq!(robot.needs, [Attributes::resource("impersonate", account)]);
    assert!(robot.user.is_in("system:serviceaccounts:ns"));
    let nobody = impersonated(&[("impersonate-user", "system:anonymous")]);
    assert_eq!(
        nobody.unwrap().unwrap().user.groups(),
        ["system:unauthenticated"]
    );
    assert_eq!(
        impersonated(&[("impersonate-group", "a"), ("impersonate-uid", "7")]),
        Err(
            "requested &user.DefaultInfo{Name:\"\", UID:\"7\", Groups:[]string{\"a\"}, \
             Extra:map[string][]string(nil)} without impersonating a user name"
                .to_owned()
        )
    );
}
