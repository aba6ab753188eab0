//! The group `admissionregistration.k8s.io`: webhooks and policies of admission.

pub(crate) mod match_conditions;
mod cells;
mod rules;
mod conditions;
mod match_resources;
mod webhook_configuration;
pub(crate) mod mutating_admission_policy;
pub(crate) mod mutating_admission_policy_binding;
pub(crate) mod mutating_webhook_configuration;
pub(crate) mod validating_admission_policy;
pub(crate) mod validating_admission_policy_binding;
pub(crate) mod validating_webhook_configuration;
#[cfg(test)]
mod tests;
