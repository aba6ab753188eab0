//! The objects and the containers that a stage selects.

use std::collections::BTreeMap;

use fakeserver_cel::{CelExpression, CelInput};
use fakeserver_value::read::text;
use serde_json::Value;

use super::Stage;

/// The objects that a stage is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selector {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) namespace: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    /// The kind and the name of the controller; the name may end with `*`.
    pub(super) owner: Option<[String; 2]>,
    pub(super) container: Option<String>,
    pub(super) image: Option<String>,
    pub(super) expression: Option<String>,
}

/// A stage whose expression is compiled.
#[derive(Clone, Debug)]
pub(in crate::workloads) struct Selected {
    pub(super) stage: Stage,
    expression: Option<CelExpression>,
}

/// Compiles an expression over `object`.
pub(super) fn compile(expression: &str) -> Result<CelExpression, String> {
    let compiled = CelExpression::compile(expression, &["object"]);
    let compiled = compiled.map_err(|error| error.to_string())?;
    if !compiled.may_be_bool() {
        return Err(format!(
            "expression {expression:?} is neither true nor false: compare what it gives with something"
        ));
    }
    Ok(compiled)
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// Returns whether a text matches a pattern, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        // The earliest place is enough: it leaves the longest rest for the parts that follow.
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

// === impl Selector ===

impl Selector {
    /// Creates the selector of all objects of a kind, in whichever version.
    pub(super) fn of(api_version: &str, kind: String) -> Self {
        Self {
            group: group_of(api_version).to_owned(),
            kind,
            namespace: None,
            labels: BTreeMap::new(),
            owner: None,
            container: None,
            image: None,
            expression: None,
        }
    }

    pub(super) fn is_of(&self, api_version: &str, kind: &str) -> bool {
        self.group == group_of(api_version) && self.kind == kind
    }

    fn selects(&self, object: &Value) -> bool {
        let metadata = &object["metadata"];
        let namespace = self.namespace.as_ref();
        let mut labels = self.labels.iter();
        namespace.is_none_or(|namespace| metadata["namespace"] == **namespace)
            && labels.all(|(name, value)| metadata["labels"][name] == **value)
            && self.owner.as_ref().is_none_or(|[kind, name]| {
                let owners = metadata["ownerReferences"].as_array();
                owners.into_iter().flatten().any(|owner| {
                    let is_controller = owner["controller"] == true;
                    is_controller && owner["kind"] == **kind && matches(name, text(&owner["name"]))
                })
            })
    }
}

// === impl Selected ===

impl Selected {
    /// Compiles the expression of a stage, which was checked before.
    pub(in crate::workloads) fn new(stage: Stage) -> Self {
        Self {
            expression: stage
                .selector
                .expression
                .as_ref()
                .map(|expression| compile(expression).expect("the expression was compiled before")),
            stage,
        }
    }

    /// Returns whether it is about this object.
    pub(super) fn selects(&self, object: &Value) -> bool {
        self.stage.selector.selects(object) && self.holds(object)
    }

    fn holds(&self, object: &Value) -> bool {
        self.expression.as_ref().is_none_or(|expression| {
            let inputs = BTreeMap::from([("object", CelInput::Json(object.clone()))]);
            expression
                .evaluate(&inputs)
                .is_ok_and(|value| value == true)
        })
    }

    /// Returns whether it is about a container of this name and image, of a pod that it is about.
    pub(super) fn selects_container(&self, name: &str, image: &str) -> bool {
        let Selector {
            container: wanted,
            image: pattern,
            ..
        } = &self.stage.selector;
        wanted.as_ref().is_none_or(|wanted| wanted == name)
            && pattern
                .as_ref()
                .is_none_or(|pattern| matches(pattern, image))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, is_match) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*/web:*", "registry/team/web:1", true),
            ("*/web:*", "registry/api:1", false),
            ("*:latest", "web:latest", true),
            ("*:latest", "web:latest2", false),
            ("a*b*b", "ab", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, text), is_match, "{pattern} {text}");
        }
    }
}
