//! The group `admissionregistration.k8s.io`: webhooks and policies of admission.

pub mod match_conditions;
mod cells;
mod rules;
mod conditions;
mod match_resources;
mod webhook_configuration;
pub mod mutating_admission_policy;
pub mod mutating_admission_policy_binding;
pub mod mutating_webhook_configuration;
pub mod validating_admission_policy;
pub mod validating_admission_policy_binding;
pub mod validating_webhook_configuration;
#[cfg(test)]
mod tests;
