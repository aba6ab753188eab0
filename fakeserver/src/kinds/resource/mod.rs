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
pub(crate) mod device_class;
pub(crate) mod resource_claim;
pub(crate) mod resource_claim_template;
pub(crate) mod resource_slice;
#[cfg(test)]
mod tests;

pub(crate) use self::device_selector::DeviceSelector;
