//! Quotas, as they are counted against.

use serde_json::Value;

use super::{Amounts, Evaluator, UsageContext, scope::Scope};

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
    /// Reads the limits of a quota that are in force: those of its status.
    pub fn in_force(quota: &Value) -> Self {
        Self::with(quota, &quota["status"]["hard"])
    }

    /// Reads the desired limits of a quota: those of its spec.
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

    /// Returns the names by which the quota limits the resource of an evaluator.
    pub fn counted<'a>(
        &'a self,
        evaluator: &'a Evaluator,
        around: &'a dyn UsageContext,
    ) -> impl Iterator<Item = &'a str> {
        let names = self.hard.names();
        names.filter(|name| evaluator.counts(name, around))
    }

    /// Returns whether an object is in all scopes of the quota.
    pub fn has_in_scope(&self, evaluator: &Evaluator, object: &Value) -> bool {
        let mut scopes = self.scopes.iter();
        scopes.all(|scope| evaluator.is_in(scope, object))
    }

    /// Returns the usage of an object in this quota.
    pub fn share_of(
        &self,
        evaluator: &Evaluator,
        object: &Value,
        around: &dyn UsageContext,
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
        around: &dyn UsageContext,
    ) -> bool {
        self.counted(evaluator, around).next().is_some() && self.has_in_scope(evaluator, object)
    }
}
