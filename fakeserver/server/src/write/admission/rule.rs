//! The rules of webhooks and policies: the writes that they are about.

use serde_json::Value;

use super::{Attributes, Resource};

/// Operations on resources. Each list holds names or `*`.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    /// `pods`, `pods/status`, `*`, `pods/*`, `*/status` or `*/*`.
    resources: Vec<String>,
    /// `Cluster`, `Namespaced` or `*`.
    scope: String,
    /// The names of objects; none means all.
    names: Vec<String>,
}

// === impl Rule ===

impl Rule {
    pub(super) fn parse(rule: &Value) -> Self {
        Self {
            operations: texts(&rule["operations"]),
            groups: texts(&rule["apiGroups"]),
            versions: texts(&rule["apiVersions"]),
            resources: texts(&rule["resources"]),
            scope: rule["scope"].as_str().unwrap_or("*").to_owned(),
            names: texts(&rule["resourceNames"]),
        }
    }

    /// Returns whether the rule matches a write of `resource`: the resource of the request, or the same under another
    /// version.
    pub(super) fn matches(&self, attributes: &Attributes, resource: &Resource) -> bool {
        let is_namespaced = !attributes.is_namespace() && !attributes.namespace.is_empty();
        let is_in_scope = match self.scope.as_str() {
            "Namespaced" => is_namespaced,
            "Cluster" => !is_namespaced,
            _ => true,
        };
        is_in_scope
            && names(&self.operations, attributes.operation.name())
            && names(&self.groups, &resource.group)
            && names(&self.versions, &resource.version)
            && self.names_resource(&resource.plural, &attributes.subresource)
            && (self.names.is_empty() || self.names.contains(&attributes.name))
    }

    fn names_resource(&self, plural: &str, subresource: &str) -> bool {
        self.resources.iter().any(|named| {
            let (of, below) = named.split_once('/').unwrap_or((named, ""));
            matches_name(of, plural) && matches_name(below, subresource)
        })
    }
}

fn names(list: &[String], name: &str) -> bool {
    list.iter().any(|named| matches_name(named, name))
}

fn matches_name(named: &str, name: &str) -> bool {
    named == "*" || named == name
}

fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}
