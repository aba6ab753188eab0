//! Digests of objects: equal for equal content, and cheap to compare.
//!
//! An object is digested as its type writes it, so that a reader that drops unknown fields or writes defaults can be
//! compared with the server: there the same type reads the server's JSON first. The labels and owners of a handle, and
//! whether the object is terminating, are part of the digest, since informers read them separately. Left out are the type,
//! which items of lists lack, and fields that faults add.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io,
};

use informer::Metadata;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::{
    api::{DynamicObject, ObjectMeta},
    core::PartialObjectMeta,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::plan::Resource;

/// The annotation that a transform signs objects with.
const SIGNATURE: &str = "conformance/signature";

/// The field that the faults `unknown_fields` and `huge_objects` add.
const ADDED_FIELD: &str = "fromTheFuture";

/// An object with content to compare.
pub(crate) trait Digested: kube::Resource + Clone {
    /// Adds the content to a digest.
    fn write_content(&self, digest: &mut Digest);
}

/// A digest that grows with what is added to it.
#[derive(Debug, Default)]
pub(crate) struct Digest(DefaultHasher);

/// The metadata that an informer tells of an object beside the object itself.
#[derive(Hash)]
struct ReportedMetadata<'a> {
    labels: Vec<(&'a str, &'a str)>,
    /// The owners: API version, kind, name and uid of each, and whether it is the controller.
    owners: Vec<([&'a str; 4], bool)>,
    is_terminating: bool,
}

/// Returns the digest of an object of which an informer tells this metadata.
pub(crate) fn of_object<K: Digested>(object: &K, metadata: &Metadata) -> u64 {
    of_metadata(object, &ReportedMetadata::by_informer(metadata))
}

fn of_metadata<K: Digested>(object: &K, reported: &ReportedMetadata<'_>) -> u64 {
    let mut digest = Digest::default();
    digest.add(reported);
    object.write_content(&mut digest);
    digest.0.finish()
}

/// Returns the digest of an object of the server, as an informer of the resource has to read it; `None` if its type
/// refuses the object.
pub(crate) fn of_stored(resource: Resource, json: &[u8]) -> Option<u64> {
    match resource {
        Resource::Pods => of_json::<Pod>(json),
        Resource::ConfigMaps => of_json::<DynamicObject>(json),
        Resource::Nodes => of_json::<PartialObjectMeta<Node>>(json),
    }
}

fn of_json<K: Digested + DeserializeOwned>(json: &[u8]) -> Option<u64> {
    let object: K = serde_json::from_slice(json).ok()?;
    Some(of_whole(&object))
}

/// Returns the digest of an object with its own metadata.
fn of_whole<K: Digested>(object: &K) -> u64 {
    of_metadata(object, &ReportedMetadata::of(object.meta()))
}

/// Adds the digest of the object to its annotations: a transform, of which it shows if it is left out, repeated, or made
/// of another object.
pub(crate) fn sign<K: Digested>(object: &mut K) {
    let signature = of_whole(object).to_string();
    let annotations = object.meta_mut().annotations.get_or_insert_default();
    annotations.insert(SIGNATURE.to_owned(), signature);
}

/// Returns the object as it was before it was signed; `None` if the signature is missing, or that of another object.
pub(crate) fn unsigned<K: Digested>(object: &K) -> Option<K> {
    let mut unsigned = object.clone();
    let annotations = &mut unsigned.meta_mut().annotations;
    let signature = annotations.as_mut()?.remove(SIGNATURE)?;
    annotations.take_if(|annotations| annotations.is_empty());
    (signature == of_whole(&unsigned).to_string()).then_some(unsigned)
}

// === impl ReportedMetadata ===

impl<'a> ReportedMetadata<'a> {
    fn of(metadata: &'a ObjectMeta) -> Self {
        let labels = metadata.labels.iter().flatten();
        let owners = metadata.owner_references.iter().flatten();
        Self {
            labels: labels
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect(),
            owners: owners
                .map(|owner| {
                    let words = [&owner.api_version, &owner.kind, &owner.name, &owner.uid];
                    (words.map(String::as_str), owner.controller == Some(true))
                })
                .collect(),
            is_terminating: metadata.deletion_timestamp.is_some(),
        }
    }

    fn by_informer(metadata: &'a Metadata) -> Self {
        Self {
            labels: metadata.labels.iter().collect(),
            owners: metadata
                .owners
                .iter()
                .map(|owner| {
                    let words = [&owner.api_version, &owner.kind, &owner.name, &owner.uid];
                    (words.map(AsRef::as_ref), owner.is_controller)
                })
                .collect(),
            is_terminating: metadata.is_terminating,
        }
    }
}

// === impl Digested ===

impl Digested for Pod {
    fn write_content(&self, digest: &mut Digest) {
        digest.add_json(self);
    }
}

impl Digested for ConfigMap {
    fn write_content(&self, digest: &mut Digest) {
        digest.add_json(self);
    }
}

impl Digested for DynamicObject {
    fn write_content(&self, digest: &mut Digest) {
        digest.add_json(&self.metadata);
        let Some(fields) = self.data.as_object() else {
            return digest.add_json(&self.data);
        };
        for (name, value) in fields.iter().filter(|(name, _)| *name != ADDED_FIELD) {
            digest.add(name);
            digest.add_json(value);
        }
    }
}

impl Digested for PartialObjectMeta<Node> {
    fn write_content(&self, digest: &mut Digest) {
        let metadata: &ObjectMeta = &self.metadata;
        digest.add_json(metadata);
    }
}

// === impl Digest ===

impl Digest {
    fn add(&mut self, value: impl Hash) {
        value.hash(&mut self.0);
    }

    fn add_json(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut *self, value).expect("objects have string keys only");
    }
}

impl io::Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn digest(resource: Resource, object: &Value) -> Option<u64> {
        of_stored(resource, &serde_json::to_vec(object).unwrap())
    }

    fn config_map(text: &str) -> Value {
        json!({"metadata": {"name": "a", "uid": "u"}, "data": {"key": text}})
    }

    #[test]
    fn one_changed_character_changes_the_digest() {
        let of = |text| digest(Resource::ConfigMaps, &config_map(text));
        assert_eq!(of("\u{1F600} \"\\"), of("\u{1F600} \"\\"));
        assert_ne!(of("\u{1F600} \"\\"), of("\u{1F601} \"\\"));
        assert_ne!(of("ab"), of("ba"));
    }

    #[test]
    fn added_fields_and_types_do_not_count() {
        let plain = config_map("a");
        let mut newer = plain.clone();
        newer[ADDED_FIELD] = json!({"a": 1});
        newer["metadata"][ADDED_FIELD] = json!(1);
        newer["kind"] = json!("ConfigMap");
        newer["apiVersion"] = json!("v1");
        let of = |object| digest(Resource::ConfigMaps, object);
        assert_eq!(of(&plain), of(&newer));
    }

    #[test]
    fn an_object_is_signed_exactly_once() {
        let mut object: DynamicObject = serde_json::from_value(config_map("a")).unwrap();
        let before = of_whole(&object);
        assert_eq!(unsigned(&object).map(|object| of_whole(&object)), None);
        sign(&mut object);
        let mut other = object.clone();
        assert_eq!(
            unsigned(&object).map(|object| of_whole(&object)),
            Some(before)
        );
        sign(&mut object);
        assert!(unsigned(&object).is_none());
        other.data["data"]["key"] = json!("b");
        assert!(unsigned(&other).is_none());
    }

    #[test]
    fn an_object_that_its_type_refuses_has_no_digest() {
        let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": "none"}});
        assert_eq!(digest(Resource::Pods, &pod), None);
        assert!(digest(Resource::ConfigMaps, &pod).is_some());
    }
}
