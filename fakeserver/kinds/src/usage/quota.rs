//! Quotas, as they are counted against.

use serde_json::Value;

use super::{Amounts, Evaluator, Surroundings, scope::Scope};

/// A quota: its limits, its usage, and its scopes.
#[derive(Clone, Debug)]
pub struct Quota {
    pub(super) name: String,
    pub hard: Amounts,
    pub used: Amounts,
    scopes: Vec<Scope>,
}

// === impl Quota ===

impl Quota {
    /// Reads a quota as it is in force: its status says what is limited.
    pub fn in_force(quota: &Value) -> Self {
        Self::with(quota, &quota["status"]["hard"])
    }

    /// Reads a quota as it is wanted: its spec says what is limited.
    pub fn wanted(quota: &Value) -> Self {
        Self::with(quota, &quota["spec"]["hard"])
    }

    fn with(quota: &Value, hard: &Value) -> Self {
        Self {
            name: quota["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            hard: Amounts::of(hard),
            used: Amounts::of(&quota["status"]["used"]),
            scopes: Scope::all(&quota["spec"]),
        }
    }

    /// Returns the names by which the quota limits what an evaluator counts.
    pub fn counted<'a>(
        &'a self,
        evaluator: &'a Evaluator,
        around: &'a dyn Surroundings,
    ) -> impl Iterator<Item = &'a str> {
        let names = self.hard.names();
        names.filter(|name| evaluator.counts(name, around))
    }

    /// Returns whether an object is in all scopes of the quota.
    pub fn has_in_scope(&self, evaluator: &Evaluator, object: &Value) -> bool {
        let mut scopes = self.scopes.iter();
        scopes.all(|scope| evaluator.is_in(scope, object))
    }

    /// Returns what an object counts in this quota.
    pub fn share_of(
        &self,
        evaluator: &Evaluator,
        object: &Value,
        around: &dyn Surroundings,
    ) -> Amounts {
        if !self.has_in_scope(evaluator, object) {
            return Amounts::default();
        }
        let usage = evaluator.usage(object, around);
        usage.only(|name| self.hard.get(name).is_some() && evaluator.counts(name, around))
    }

    pub(super) fn matches(
        &self,
        evaluator: &Evaluator,
        object: &Value,
        around: &dyn Surroundings,
    ) -> bool {
        self.counted(evaluator, around).next().is_some() && self.has_in_scope(evaluator, object)
    }
}
