//! A type that refuses spoiled objects.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::{
    digest::{Digest, Digested},
    plan::SPOILED,
};

/// A `K` without the label [`SPOILED`]: with it, it cannot be decoded. So is the type of a user for objects that newer
/// writers have filled.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Strict<K>(K);

// === impl Strict ===

impl<'de, K: Resource + Deserialize<'de>> Deserialize<'de> for Strict<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let object = K::deserialize(deserializer)?;
        let mut labels = object.meta().labels.iter().flatten();
        if labels.any(|(name, _)| name == SPOILED) {
            return Err(D::Error::custom("the object is spoiled, as its plan says"));
        }
        Ok(Self(object))
    }
}

impl<K: Resource> Resource for Strict<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(dynamic_type: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(dynamic_type)
    }

    fn group(dynamic_type: &Self::DynamicType) -> Cow<'_, str> {
        K::group(dynamic_type)
    }

    fn version(dynamic_type: &Self::DynamicType) -> Cow<'_, str> {
        K::version(dynamic_type)
    }

    fn plural(dynamic_type: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(dynamic_type)
    }

    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        self.0.meta_mut()
    }
}

impl<K: Digested> Digested for Strict<K> {
    fn write_content(&self, digest: &mut Digest) {
        self.0.write_content(digest);
    }
}
