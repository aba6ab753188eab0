//! The group `apiregistration.k8s.io`.

pub(crate) mod api_service;
#[cfg(test)]
mod tests;
