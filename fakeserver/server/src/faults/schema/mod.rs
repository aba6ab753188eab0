//! Faults of resources, and of the contents of objects.

pub(super) mod discovery_unavailable;
pub(super) mod huge_objects;
pub(super) mod mixed_versions;
pub(super) mod resource_gone;
pub(super) mod unknown_fields;
