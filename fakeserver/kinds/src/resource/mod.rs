//! The group `resource.k8s.io`: dynamic allocation of resources.

mod names;
mod expression;
mod device_selector;
mod configuration;
mod taints;
mod requests;
mod request_policy;
mod device;
mod allocation;
pub mod device_class;
pub mod device_taint_rule;
pub mod resource_claim;
pub mod resource_claim_template;
pub mod resource_slice;
#[cfg(test)]
mod tests;

pub use self::device_selector::DeviceSelector;
