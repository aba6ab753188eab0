//! The compiled policies of the store.

use std::sync::{Arc, PoisonError, RwLock};

use super::policy::{Binding, BoundPolicy, Policies, Policy};
use fakeserver_kinds::{
    Kind,
    admission::{
        mutating_admission_policy, mutating_admission_policy_binding, validating_admission_policy,
        validating_admission_policy_binding,
    },
};

use crate::{
    store::{StoredObject, Transaction},
    write::Attempt,
};

/// Policies, compiled when they or their bindings have changed.
#[derive(Debug, Default)]
pub(in crate::write) struct PolicyCache {
    current: RwLock<Arc<CachedPolicies>>,
}

/// Policies, with what they were compiled from.
#[derive(Debug, Default)]
struct CachedPolicies {
    mutating: PluginPolicies,
    validating: PluginPolicies,
    policies: Arc<Policies>,
}

/// The stored policies and bindings of one plugin.
#[derive(Debug, Default)]
struct PluginPolicies {
    policies: Vec<Arc<StoredObject>>,
    bindings: Vec<Arc<StoredObject>>,
    /// The compiled policies that have bindings, each with its place in `policies`.
    compiled: Vec<(usize, BoundPolicy)>,
}

/// Returns the admission policies that are bound, the same during an attempt; none if the write is not reviewed.
pub(super) fn current_policies(attempt: &mut Attempt<'_, '_>) -> Arc<Policies> {
    if !attempt.is_reviewed {
        return Arc::default();
    }
    // Read once, through the transaction: all steps of a write see the same policies.
    if let Some(policies) = attempt.state::<Option<Arc<Policies>>>() {
        return Arc::clone(policies);
    }
    let policies = attempt.policy_cache().current(attempt);
    *attempt.state() = Some(Arc::clone(&policies));
    policies
}

// === impl PolicyCache ===

impl PolicyCache {
    /// Returns the policies that a transaction sees.
    fn current(&self, tx: &Transaction<'_>) -> Arc<Policies> {
        let cached = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        let mutating = PluginPolicies::of(
            tx,
            &mutating_admission_policy::KIND,
            &mutating_admission_policy_binding::KIND,
        );
        let validating = PluginPolicies::of(
            tx,
            &validating_admission_policy::KIND,
            &validating_admission_policy_binding::KIND,
        );
        if mutating.is_same(&cached.mutating) && validating.is_same(&cached.validating) {
            return Arc::clone(&cached.policies);
        }
        let mutating = mutating.compile(&cached.mutating);
        let validating = validating.compile(&cached.validating);
        let policies = Arc::new(Policies {
            mutating: mutating.bound(),
            validating: validating.bound(),
        });
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(CachedPolicies {
            mutating,
            validating,
            policies: Arc::clone(&policies),
        });
        policies
    }
}

// === impl PluginPolicies ===

impl PluginPolicies {
    fn of(tx: &Transaction<'_>, policies: &'static Kind, bindings: &'static Kind) -> Self {
        Self {
            policies: tx.list(policies.storage(), None),
            bindings: tx.list(bindings.storage(), None),
            compiled: Vec::new(),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let is_same = |a: &[Arc<StoredObject>], b: &[Arc<StoredObject>]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        is_same(&self.policies, &other.policies) && is_same(&self.bindings, &other.bindings)
    }

    /// Compiles the policies that `before` does not hold in the same version.
    fn compile(mut self, before: &Self) -> Self {
        let bindings = self.bindings.iter();
        let bindings: Vec<Arc<Binding>> = bindings
            .map(|binding| Arc::new(Binding::parse(&binding.to_value())))
            .collect();
        for (place, stored) in self.policies.iter().enumerate() {
            let name = stored.key().name();
            let own: Vec<Arc<Binding>> = bindings
                .iter()
                .filter(|binding| binding.policy == name)
                .cloned()
                .collect();
            if own.is_empty() {
                continue;
            }
            let mut compiled = before.compiled.iter();
            let reused = compiled.find(|(place, _)| Arc::ptr_eq(&before.policies[*place], stored));
            let policy = match reused {
                Some((_, bound)) => Arc::clone(&bound.policy),
                None => Arc::new(Policy::compile(&stored.to_value())),
            };
            self.compiled.push((
                place,
                BoundPolicy {
                    policy,
                    bindings: own,
                },
            ));
        }
        self
    }

    fn bound(&self) -> Vec<BoundPolicy> {
        self.compiled
            .iter()
            .map(|(_, bound)| bound.clone())
            .collect()
    }
}
