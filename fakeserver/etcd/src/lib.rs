//! The layout of Kubernetes' state in etcd: keys, values, and snapshot files.
//!
//! A [`Layout`] names the keys of objects, [`encode`] and [`decode`] their values, as kube-apiserver writes and reads them. A
//! [`Database`] is the file of an etcd, read without one; its records have the objects.

mod resources;
mod layout;
mod values;
mod bolt;
mod message;
mod database;
mod objects;

pub use self::{
    bolt::BoltError,
    database::{Database, Lease, Record},
    layout::{Key, Layout, ObjectPath, ServerKey},
    objects::{DatabaseObject, RecordContent, RecordError, StateError},
    values::{StoredValue, ValueError, decode, encode},
};

#[cfg(test)]
mod tests;
