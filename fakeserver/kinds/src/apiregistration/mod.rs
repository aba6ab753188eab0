//! The group `apiregistration.k8s.io`.

pub mod api_service;
pub mod remote;
pub mod availability;
#[cfg(test)]
mod tests;
