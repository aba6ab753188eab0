//! The admission chain: the plugins of a real server, in its order.
//!
//! Upstream has this order in `AllOrderedPlugins` of `pkg/kubeapiserver/options/plugins.go`. A plugin is a file in
//! `steps` and a line here.

use tracing::debug;

use super::{
    AdmissionPlugins, Attempt, AttemptError, Target, Write,
    steps::{
        certificate_approval, certificate_signing, certificate_subject_restriction,
        default_ingress_class, default_storage_class, default_toleration_seconds, limit_ranger,
        namespace_lifecycle, persistent_volume_claim_resize, pod_security, policies, priority,
        resource_quota, runtime_class, service_account, storage_object_in_use_protection,
        taint_nodes_by_condition, webhooks,
    },
};

/// An admission plugin.
pub(super) struct Step {
    /// The name of the plugin upstream.
    name: &'static str,
    mutate: Option<Mutate>,
    validate: Option<Validate>,
}

/// Changes an object before its kind prepares and validates it.
type Mutate = fn(&mut Write<'_>, &mut Attempt<'_, '_>) -> Result<(), AttemptError>;
/// Looks at an object that its kind has prepared and validated.
type Validate = fn(&Write<'_>, &mut Attempt<'_, '_>) -> Result<(), AttemptError>;

/// All plugins. A write goes through all that mutate, then through its kind, then through all that validate.
const CHAIN: &[Step] = &[
    // First: nothing else has to be looked up in a namespace that does not exist or terminates.
    namespace_lifecycle::STEP,
    limit_ranger::STEP,
    service_account::STEP,
    taint_nodes_by_condition::STEP,
    pod_security::STEP,
    priority::STEP,
    default_toleration_seconds::STEP,
    default_storage_class::STEP,
    storage_object_in_use_protection::STEP,
    persistent_volume_claim_resize::STEP,
    runtime_class::STEP,
    certificate_approval::STEP,
    certificate_signing::STEP,
    certificate_subject_restriction::STEP,
    default_ingress_class::STEP,
    // Policies and webhooks come behind the built-in plugins, whose defaults they see.
    policies::MUTATING,
    webhooks::MUTATING,
    // Validation by others comes behind all mutation, and sees the final object.
    policies::VALIDATING,
    webhooks::VALIDATING,
    // Last: a write that is charged can be rejected by no other plugin.
    resource_quota::STEP,
];

/// The plugins that are on.
#[derive(Debug, Clone, Copy)]
pub struct EnabledSteps {
    /// A bit for each, by its place in [`CHAIN`].
    bits: u64,
    /// True if a controller makes the accounts that pods need, so that one may come a moment later.
    pub(super) awaits_accounts: bool,
}

const _: () = assert!(CHAIN.len() <= u64::BITS as usize, "a plugin has a bit");

// === impl Step ===

impl Step {
    /// Makes a plugin that only mutates.
    pub(super) const fn mutating(name: &'static str, mutate: Mutate) -> Self {
        Self {
            name,
            mutate: Some(mutate),
            validate: None,
        }
    }

    /// Makes a plugin that only validates.
    pub(super) const fn validating(name: &'static str, validate: Validate) -> Self {
        Self {
            name,
            mutate: None,
            validate: Some(validate),
        }
    }

    /// Makes a plugin that mutates and validates.
    pub(super) const fn both(name: &'static str, mutate: Mutate, validate: Validate) -> Self {
        Self {
            name,
            mutate: Some(mutate),
            validate: Some(validate),
        }
    }

    fn log(&self, error: &AttemptError) {
        if let AttemptError::Rejected(status) = error {
            let code = status.code.as_u16();
            debug!(plugin = self.name, code, "admission rejected a write");
        }
    }
}

// === impl EnabledSteps ===

impl EnabledSteps {
    pub fn new(plugins: &AdmissionPlugins) -> Self {
        let steps = CHAIN.iter().enumerate();
        let enabled = steps.filter(|(_, step)| plugins.has(step.name));
        Self {
            bits: enabled.fold(0, |bits, (place, _)| bits | 1 << place),
            awaits_accounts: plugins.makes_accounts(),
        }
    }

    /// Returns whether a plugin is on.
    pub(super) fn has(self, step: &Step) -> bool {
        self.iter().any(|enabled| enabled.name == step.name)
    }

    /// Returns whether a plugin may wait for a controller before it admits a write to `target`.
    pub(super) fn may_wait(self, target: &Target) -> bool {
        self.awaits_accounts && service_account::concerns(target)
    }

    fn iter(self) -> impl Iterator<Item = &'static Step> {
        let steps = CHAIN.iter().enumerate();
        steps.filter_map(move |(place, step)| (self.bits >> place & 1 == 1).then_some(step))
    }
}

/// Returns whether a plugin is in the chain.
pub(super) fn has(name: &str) -> bool {
    CHAIN.iter().any(|step| step.name == name)
}

/// Puts `write` through all plugins that are on and mutate, a second time if a policy or a webhook has changed the
/// object.
pub(super) fn mutate(
    write: &mut Write<'_>,
    attempt: &mut Attempt<'_, '_>,
) -> Result<(), AttemptError> {
    // The attempt may be a repetition: rounds and annotations begin from scratch with each.
    attempt.set_audit(write.author.audit);
    attempt.begin_first_round();
    mutate_once(write, attempt)?;
    // Upstream's reinvocation: at most one, over all mutating plugins, so that built-in plugins complete what webhooks
    // have added.
    if attempt.begin_second_round() {
        mutate_once(write, attempt)?;
    }
    Ok(())
}

fn mutate_once(write: &mut Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    for step in attempt.steps().iter() {
        if let Some(mutate) = step.mutate {
            mutate(write, attempt).inspect_err(|error| step.log(error))?;
        }
    }
    Ok(())
}

/// Puts `write` through all plugins that are on and validate.
pub(super) fn validate(
    write: &Write<'_>,
    attempt: &mut Attempt<'_, '_>,
) -> Result<(), AttemptError> {
    for step in attempt.steps().iter() {
        if let Some(validate) = step.validate {
            validate(write, attempt).inspect_err(|error| step.log(error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{super::plugins::KNOWN, CHAIN};

    #[test]
    fn the_chain_has_the_order_of_a_real_server() {
        let place = |name| KNOWN.iter().position(|(plugin, _)| *plugin == name);
        let places: Vec<usize> = CHAIN.iter().map(|step| place(step.name).unwrap()).collect();
        assert!(places.is_sorted(), "{places:?}");
    }
}
