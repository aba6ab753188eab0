//! The vocabulary of every stage: keys, versions, handles to objects, and deletions.

mod key;
mod resource_version;
mod metadata;
mod reads;
mod undecodable;
mod handle;
mod tombstone;

pub use self::{
    handle::Object,
    key::ObjectKey,
    metadata::{Labels, Metadata, OwnerReference},
    reads::Reads,
    resource_version::ResourceVersion,
    tombstone::{Deleted, Tombstone, TombstoneReason},
    undecodable::DecodeError,
};
