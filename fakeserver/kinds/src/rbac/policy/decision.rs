//! The policy: all roles and bindings of a cluster, parsed.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver_value::{
    object::{
        Pairs,
        selectors::{LabelSelector, print_label_selector},
    },
    user::UserInfo,
};
use serde::Deserialize;
use serde_json::Value;

use super::{Attributes, GROUP, PolicyRule};
use crate::{
    Kind,
    rbac::{cluster_role, role},
};

/// The rules of all subjects.
#[derive(Debug, Default)]
pub struct Policy {
    cluster_roles: BTreeMap<String, Vec<PolicyRule>>,
    /// By namespace and name.
    roles: BTreeMap<(String, String), Vec<PolicyRule>>,
    /// By namespace; those of the cluster have none.
    bindings: BTreeMap<String, Vec<Binding>>,
}

/// A decision and its reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    pub is_allowed: bool,
    /// Empty where there is nothing to say.
    pub reason: String,
}

/// Which role a binding gives.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RoleRef {
    pub api_group: String,
    pub kind: String,
    pub name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Binding {
    metadata: Metadata,
    #[serde(default)]
    subjects: Option<Vec<Subject>>,
    role_ref: RoleRef,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    name: String,
    namespace: String,
    labels: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Subject {
    kind: String,
    name: String,
    namespace: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Role {
    metadata: Metadata,
    #[serde(default)]
    rules: Option<Vec<PolicyRule>>,
    #[serde(default)]
    aggregation_rule: Option<AggregationRule>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AggregationRule {
    #[serde(default)]
    cluster_role_selectors: Vec<Value>,
}

/// The rules that a binding gives to a user, or why it gives none.
struct Grant<'a> {
    binding: &'a Binding,
    subject: &'a Subject,
    rules: Result<&'a [PolicyRule], String>,
}

// === impl Policy ===

impl Policy {
    /// The policy of `objects`, each with its kind. One that cannot be read gives no rights.
    pub fn new(objects: impl IntoIterator<Item = (&'static Kind, Value)>) -> Self {
        let mut policy = Self::default();
        let mut cluster_roles = ClusterRoles::default();
        for (kind, object) in objects {
            if kind.is(&cluster_role::KIND) {
                cluster_roles.add(object);
            } else if kind.is(&role::KIND) {
                policy.add_role(object);
            } else {
                policy.add_binding(object);
            }
        }
        policy.cluster_roles = cluster_roles.aggregated();
        policy
    }

    fn add_role(&mut self, object: Value) {
        if let Ok(role) = serde_json::from_value::<Role>(object) {
            let key = (role.metadata.namespace, role.metadata.name);
            self.roles.insert(key, role.rules.unwrap_or_default());
        }
    }

    fn add_binding(&mut self, object: Value) {
        if let Ok(binding) = serde_json::from_value::<Binding>(object) {
            let namespace = binding.metadata.namespace.clone();
            self.bindings.entry(namespace).or_default().push(binding);
        }
    }

    /// Decides whether `user` may do what `attributes` describe.
    pub fn decide(&self, user: &UserInfo, attributes: &Attributes) -> Decision {
        // As the authorizer of privileged groups does, which a real server asks first.
        if user.is_master() {
            return Decision::allow();
        }
        let mut errors: Vec<String> = Vec::new();
        for grant in self.grants(user, attributes.namespace()) {
            match &grant.rules {
                // One rule is enough: errors of other bindings matter only if none allows the request.
                Ok(rules) if rules.iter().any(|rule| rule.allows(attributes)) => {
                    return Decision {
                        is_allowed: true,
                        reason: format!("RBAC: allowed by {}", grant.source()),
                    };
                }
                Ok(_) => {}
                Err(error) if errors.contains(error) => {}
                Err(error) => errors.push(error.clone()),
            }
        }
        let reason = match errors.as_slice() {
            [] => String::new(),
            [error] => format!("RBAC: {error}"),
            errors => format!("RBAC: [{}]", errors.join(", ")),
        };
        Decision {
            is_allowed: false,
            reason,
        }
    }

    /// Every rule that `user` has in `namespace`, those of the cluster first, and what went wrong.
    pub fn rules_for(&self, user: &UserInfo, namespace: &str) -> (Vec<&PolicyRule>, Vec<String>) {
        let (mut rules, mut errors) = (Vec::new(), Vec::new());
        for grant in self.grants(user, namespace) {
            match grant.rules {
                Ok(own) => rules.extend(own),
                Err(error) => errors.push(error),
            }
        }
        (rules, errors)
    }

    /// The rules of the role that a binding in `namespace` names.
    pub fn rules_of(&self, role: &RoleRef, namespace: &str) -> Result<&[PolicyRule], String> {
        let (rules, singular) = match role.kind.as_str() {
            "ClusterRole" => (self.cluster_roles.get(&role.name), "clusterrole"),
            "Role" => {
                let key = (namespace.to_owned(), role.name.clone());
                (self.roles.get(&key), "role")
            }
            kind => return Err(format!("unsupported role reference kind: {kind:?}")),
        };
        rules
            .map(Vec::as_slice)
            .ok_or_else(|| format!("{singular}.{GROUP} {:?} not found", role.name))
    }

    fn grants<'a, 'b>(
        &'a self,
        user: &'b UserInfo,
        namespace: &'b str,
    ) -> impl Iterator<Item = Grant<'a>> + use<'a, 'b> {
        let of = |namespace: &str| self.bindings.get(namespace).into_iter().flatten();
        let local = (!namespace.is_empty()).then(|| of(namespace));
        let bindings = of("").chain(local.into_iter().flatten());
        bindings.filter_map(move |binding| {
            let own = binding.metadata.namespace.as_str();
            let mut subjects = binding.subjects.iter().flatten();
            // The first subject that is the user names the binding's reason; others give the same rules.
            let subject = subjects.find(|subject| subject.is(user, own))?;
            Some(Grant {
                binding,
                subject,
                rules: self.rules_of(&binding.role_ref, own),
            })
        })
    }
}

// === impl Decision ===

impl Decision {
    pub fn allow() -> Self {
        Self {
            is_allowed: true,
            reason: String::new(),
        }
    }
}

// === impl Subject ===

impl Subject {
    /// `namespace` is that of the binding: a service account that says none is in it.
    fn is(&self, user: &UserInfo, namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => user.name() == self.name,
            "Group" => user.is_in(&self.name),
            "ServiceAccount" => {
                let namespace = self.namespace_in(namespace);
                let account = UserInfo::split_service_account(user.name());
                account == Some((namespace, self.name.as_str()))
            }
            _ => false,
        }
    }

    fn namespace_in<'a>(&'a self, namespace: &'a str) -> &'a str {
        match self.namespace.as_str() {
            "" => namespace,
            own => own,
        }
    }
}

// === impl Grant ===

impl Grant<'_> {
    /// Prints the binding, its role and its subject as reviews do. A name stands before its namespace, as in a real server.
    fn source(&self) -> String {
        let Metadata {
            name, namespace, ..
        } = &self.binding.metadata;
        let role = &self.binding.role_ref;
        let subject = match self.subject.kind.as_str() {
            "ServiceAccount" => format!(
                "{}/{}",
                self.subject.name,
                self.subject.namespace_in(namespace)
            ),
            _ => self.subject.name.clone(),
        };
        let binding = if namespace.is_empty() {
            format!("ClusterRoleBinding {name:?}")
        } else {
            format!("RoleBinding {:?}", format!("{name}/{namespace}"))
        };
        format!(
            "{binding} of {} {:?} to {} {subject:?}",
            role.kind, role.name, self.subject.kind
        )
    }
}

/// Roles of the cluster, some of which are the sum of others.
#[derive(Debug, Default)]
struct ClusterRoles(BTreeMap<String, Role>);

// === impl ClusterRoles ===

impl ClusterRoles {
    fn add(&mut self, object: Value) {
        if let Ok(role) = serde_json::from_value::<Role>(object) {
            self.0.insert(role.metadata.name.clone(), role);
        }
    }

    /// The rules of each: its own, or those of the roles that it selects.
    fn aggregated(&self) -> BTreeMap<String, Vec<PolicyRule>> {
        let rules = |name: &String| {
            let mut rules = Vec::new();
            self.collect(name, &mut BTreeSet::new(), &mut rules);
            rules
        };
        let names = self.0.keys();
        names.map(|name| (name.clone(), rules(name))).collect()
    }

    fn collect<'a>(
        &'a self,
        name: &'a str,
        seen: &mut BTreeSet<&'a str>,
        rules: &mut Vec<PolicyRule>,
    ) {
        // Aggregated roles may select each other: each is collected once.
        let Some(role) = self.0.get(name).filter(|_| seen.insert(name)) else {
            return;
        };
        let Some(aggregation) = &role.aggregation_rule else {
            for rule in role.rules.iter().flatten() {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
            return;
        };
        let selectors: Vec<LabelSelector> = aggregation
            .cluster_role_selectors
            .iter()
            .filter_map(|selector| LabelSelector::parse(&print_label_selector(selector)).ok())
            .collect();
        for (other, role) in &self.0 {
            let labels: Pairs = role.metadata.labels.iter().collect();
            if selectors.iter().any(|selector| selector.matches(&labels)) {
                self.collect(other, seen, rules);
            }
        }
    }
}
