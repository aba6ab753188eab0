//! The initial roles and bindings of a cluster, as far as users need them.
//!
//! Those of control-plane components are left out, since none runs here.

use serde_json::{Map, Value, json};

use super::{GROUP, Policy, PolicyRule, RoleRef};

use crate::kinds::{
    Kind,
    rbac::{cluster_role, cluster_role_binding},
};

const READ: &str = "get list watch";
const WRITE: &str = "create delete deletecollection patch update";
const READ_WRITE: &str = "create delete deletecollection get list patch update watch";
const AGGREGATE: &str = "rbac.authorization.k8s.io/aggregate-to-";

const ADMIN: &[Rule] = &[
    rule(
        "create",
        "authorization.k8s.io",
        "localsubjectaccessreviews",
    ),
    rule(READ_WRITE, GROUP, "rolebindings roles"),
];

const EDIT: &[Rule] = &[
    rule(
        READ,
        "",
        "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy",
    ),
    rule("impersonate", "", "serviceaccounts"),
    rule(
        WRITE,
        "",
        "pods pods/attach pods/exec pods/portforward pods/proxy",
    ),
    rule("create", "", "pods/eviction"),
    rule(
        WRITE,
        "",
        "configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets \
         serviceaccounts services services/proxy",
    ),
    rule("create", "", "serviceaccounts/token"),
    rule(
        WRITE,
        "apps",
        "daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets \
         statefulsets/scale",
    ),
    rule(WRITE, "autoscaling", "horizontalpodautoscalers"),
    rule(WRITE, "batch", "cronjobs jobs"),
    rule(
        WRITE,
        "extensions",
        "daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets \
         replicasets/scale replicationcontrollers/scale",
    ),
    rule(WRITE, "policy", "poddisruptionbudgets"),
    rule(WRITE, "networking.k8s.io", "ingresses networkpolicies"),
    rule(READ_WRITE, "coordination.k8s.io", "leases"),
];

const VIEW: &[Rule] = &[
    rule(
        READ,
        "",
        "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers \
         replicationcontrollers/scale serviceaccounts services services/status",
    ),
    rule(
        READ,
        "",
        "bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status \
         resourcequotas resourcequotas/status",
    ),
    rule(READ, "", "namespaces"),
    rule(READ, "discovery.k8s.io", "endpointslices"),
    rule(
        READ,
        "apps",
        "controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status \
         replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status",
    ),
    rule(
        READ,
        "autoscaling",
        "horizontalpodautoscalers horizontalpodautoscalers/status",
    ),
    rule(READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
    rule(
        READ,
        "extensions",
        "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status \
         networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale",
    ),
    rule(
        READ,
        "policy",
        "poddisruptionbudgets poddisruptionbudgets/status",
    ),
    rule(
        READ,
        "networking.k8s.io",
        "ingresses ingresses/status networkpolicies",
    ),
];

const BASIC_USER: &[Rule] = &[
    rule(
        "create",
        "authorization.k8s.io",
        "selfsubjectaccessreviews selfsubjectrulesreviews",
    ),
    rule("create", "authentication.k8s.io", "selfsubjectreviews"),
];

const AUTH_DELEGATOR: &[Rule] = &[
    rule("create", "authentication.k8s.io", "tokenreviews"),
    rule("create", "authorization.k8s.io", "subjectaccessreviews"),
];

const DISCOVERY: &[Rule] = &[Rule {
    verbs: "get",
    group: "",
    resources: "",
    urls: "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/",
}];

const PUBLIC_INFO: &[Rule] = &[Rule {
    verbs: "get",
    group: "",
    resources: "",
    urls: "/healthz /livez /readyz /version /version/",
}];

const CLUSTER_ADMIN: &[Rule] = &[
    rule("*", "*", "*"),
    Rule {
        verbs: "*",
        group: "",
        resources: "",
        urls: "*",
    },
];

/// The bindings of a new cluster: a role, and the groups that are bound to it.
const BINDINGS: [(&str, &[&str]); 4] = [
    ("cluster-admin", &["system:masters"]),
    ("system:basic-user", &["system:authenticated"]),
    ("system:discovery", &["system:authenticated"]),
    (
        "system:public-info-viewer",
        &["system:authenticated", "system:unauthenticated"],
    ),
];

/// A rule for one group, with spaces between the values.
struct Rule {
    verbs: &'static str,
    group: &'static str,
    resources: &'static str,
    urls: &'static str,
}

const fn rule(verbs: &'static str, group: &'static str, resources: &'static str) -> Rule {
    Rule {
        verbs,
        group,
        resources,
        urls: "",
    }
}

/// Returns the objects, each with its kind: roles of the cluster, then their bindings.
pub(crate) fn bootstrap_objects() -> Vec<(&'static Kind, Value)> {
    let mut roles = vec![
        sum("admin", "admin", None),
        role("cluster-admin", CLUSTER_ADMIN, None),
        sum("edit", "edit", Some("admin")),
        role("system:aggregate-to-admin", ADMIN, Some("admin")),
        role("system:aggregate-to-edit", EDIT, Some("edit")),
        role("system:aggregate-to-view", VIEW, Some("view")),
        role("system:auth-delegator", AUTH_DELEGATOR, None),
        role("system:basic-user", BASIC_USER, None),
        role("system:discovery", DISCOVERY, None),
        role("system:public-info-viewer", PUBLIC_INFO, None),
        sum("view", "view", Some("edit")),
    ];
    // In a cluster a controller fills in the rules of the sums.
    let policy = Policy::new(roles.iter().map(|role| (&cluster_role::KIND, role.clone())));
    for role in &mut roles {
        let name = role["metadata"]["name"].as_str().unwrap_or_default();
        let reference = RoleRef {
            kind: "ClusterRole".to_owned(),
            name: name.to_owned(),
            ..RoleRef::default()
        };
        let granted = policy.rules_of(&reference, "");
        role["rules"] = json!(granted.expect("the role is one of those"));
    }
    let cluster_roles = roles.into_iter().map(|role| (&cluster_role::KIND, role));
    let bindings = BINDINGS.iter().map(|(name, groups)| {
        let subjects: Vec<Value> = groups
            .iter()
            .map(|group| json!({"kind": "Group", "apiGroup": GROUP, "name": group}))
            .collect();
        let mut binding = object(name, None);
        binding["subjects"] = json!(subjects);
        binding["roleRef"] = json!({"apiGroup": GROUP, "kind": "ClusterRole", "name": name});
        (&cluster_role_binding::KIND, binding)
    });
    cluster_roles.chain(bindings).collect()
}

/// An object with the metadata that all of them have; `part_of` is the role that it is a part of.
fn object(name: &str, part_of: Option<&str>) -> Value {
    let mut labels = Map::new();
    labels.insert("kubernetes.io/bootstrapping".into(), "rbac-defaults".into());
    if let Some(whole) = part_of {
        labels.insert(format!("{AGGREGATE}{whole}"), "true".into());
    }
    json!({"metadata": {
        "name": name,
        "labels": labels,
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
    }})
}

fn role(name: &str, rules: &[Rule], part_of: Option<&str>) -> Value {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    let rules: Vec<PolicyRule> = rules
        .iter()
        .map(|rule| PolicyRule {
            verbs: words(rule.verbs),
            api_groups: match rule.resources {
                "" => Vec::new(),
                _ => vec![rule.group.to_owned()],
            },
            resources: words(rule.resources),
            resource_names: Vec::new(),
            non_resource_urls: words(rule.urls),
        })
        .collect();
    let mut role = object(name, part_of);
    role["rules"] = json!(rules);
    role
}

/// The role that has the rules of all roles with the label of `whole`.
fn sum(name: &str, whole: &str, part_of: Option<&str>) -> Value {
    let mut role = object(name, part_of);
    let label = format!("{AGGREGATE}{whole}");
    role["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]});
    role
}
