//! What happens to the types of objects, and to what stands in them.

mod discovery_unavailable;
mod huge_objects;
mod resource_gone;
mod unknown_fields;

pub use self::{
    discovery_unavailable::{DiscoveryUnavailable, discovery_unavailable},
    huge_objects::{HugeObjects, huge_objects},
    resource_gone::{ResourceGone, resource_gone},
    unknown_fields::{UnknownFields, unknown_fields},
};
