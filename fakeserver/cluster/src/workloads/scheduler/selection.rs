//! Label selectors of affinity terms and spread constraints.

use fakeserver_value::object::{
    Pairs,
    selectors::{LabelSelector, print_label_selector},
};
use serde_json::{Value, json};

/// A selector of pods or namespaces. A missing one selects nothing, an empty one everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection(Option<LabelSelector>);

// === impl Selection ===

impl Selection {
    pub(super) fn of(selector: &Value) -> Self {
        if selector.is_null() {
            return Self(None);
        }
        Self(LabelSelector::parse(&print_label_selector(selector)).ok())
    }

    /// Reads the `labelSelector` of a term or a constraint, and adds what its `matchLabelKeys` and `mismatchLabelKeys`
    /// ask of the labels of other pods by those of the pod itself.
    pub(super) fn of_term(term: &Value, labels: &Pairs) -> Self {
        let selector = &term["labelSelector"];
        let mut added = Vec::new();
        for (list, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
            let keys = term[list].as_array().into_iter().flatten();
            for key in keys.filter_map(Value::as_str) {
                if let Some(value) = labels.get(key) {
                    added.push(json!({"key": key, "operator": operator, "values": [value]}));
                }
            }
        }
        if added.is_empty() || selector.is_null() {
            return Self::of(selector);
        }
        let mut selector = selector.clone();
        let expressions = &mut selector["matchExpressions"];
        let mut all = expressions.as_array().cloned().unwrap_or_default();
        all.extend(added);
        *expressions = all.into();
        Self::of(&selector)
    }

    pub(super) fn matches(&self, labels: &Pairs) -> bool {
        self.0
            .as_ref()
            .is_some_and(|selector| selector.matches(labels))
    }

    /// Returns whether it selects nothing whatever there is.
    pub(super) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether it selects everything.
    pub(super) fn is_everything(&self) -> bool {
        self.0.as_ref().is_some_and(LabelSelector::is_everything)
    }
}
