//! The group `apiextensions.k8s.io`: definitions of custom resources.

pub mod custom_resource_definition;
