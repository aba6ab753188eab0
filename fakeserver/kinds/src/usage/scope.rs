//! Scopes: the parts of a namespace's objects that a quota is about.

use fakeserver_value::read::items;
use serde_json::Value;

/// A condition of a quota on the objects that it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) name: String,
    operator: String,
    values: Vec<String>,
}

// === impl Scope ===

impl Scope {
    /// Reads all scopes of the spec of a quota.
    pub(super) fn all(spec: &Value) -> Vec<Self> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let named = items(&spec["scopes"]).iter().map(|name| Self {
            name: text(name),
            operator: "Exists".to_owned(),
            values: Vec::new(),
        });
        let selected = items(&spec["scopeSelector"]["matchExpressions"])
            .iter()
            .map(|expression| Self {
                name: text(&expression["scopeName"]),
                operator: text(&expression["operator"]),
                values: items(&expression["values"]).iter().map(text).collect(),
            });
        named.chain(selected).collect()
    }

    /// Returns whether an object is in the scope that has one of some classes, or none.
    pub(super) fn selects(&self, classes: &[&str]) -> bool {
        let is_listed = |class: &&str| self.values.iter().any(|value| value == class);
        match self.operator.as_str() {
            "Exists" => !classes.is_empty(),
            "DoesNotExist" => classes.is_empty(),
            "In" => classes.iter().any(is_listed),
            "NotIn" => classes.is_empty() || classes.iter().any(|class| !is_listed(class)),
            _ => false,
        }
    }
}
