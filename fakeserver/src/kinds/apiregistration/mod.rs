//! The group `apiregistration.k8s.io`.

pub(crate) mod api_service;
pub(crate) mod remote;
pub(crate) mod availability;
#[cfg(test)]
mod tests;
