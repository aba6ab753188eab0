//! Accessors of an object's metadata for controllers.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::Value;

use crate::store::StoredObject;

/// The members of [`Meta`]. Most objects have none of them, and to look for them takes a tenth of the time of reading.
static MEMBERS: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| ["deletionTimestamp", "finalizers", "ownerReferences"].map(Finder::new));

/// The owners, finalizers and deletion state in an object's `metadata`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    deletion_timestamp: Option<String>,
    finalizers: Option<Vec<String>>,
    owner_references: Option<Vec<OwnerReference>>,
}

/// An item of `metadata.ownerReferences`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    pub(super) api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    pub(super) controller: Option<bool>,
    pub(super) block_owner_deletion: Option<bool>,
}

/// Takes the owners of these uids from an object.
pub fn release(object: &mut Value, uids: &[&str]) {
    let metadata = &mut object["metadata"];
    let Some(owners) = metadata["ownerReferences"].as_array_mut() else {
        return;
    };
    owners.retain(|owner| !uids.iter().any(|uid| owner["uid"] == *uid));
    if owners.is_empty()
        && let Some(metadata) = metadata.as_object_mut()
    {
        metadata.remove("ownerReferences");
    }
}

// === impl Meta ===

impl Meta {
    /// Parses the metadata of a stored object; unreadable metadata yields the default.
    pub fn of(object: &StoredObject) -> Self {
        let json = object.metadata_json();
        if !MEMBERS.iter().any(|member| member.find(&json).is_some()) {
            return Self::default();
        }
        serde_json::from_slice(&json).unwrap_or_default()
    }

    pub fn is_deleted(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    pub(super) fn has_finalizer(&self, name: &str) -> bool {
        self.finalizers
            .as_ref()
            .is_some_and(|all| all.iter().any(|finalizer| finalizer == name))
    }

    /// `metadata.finalizers`.
    pub(super) fn finalizers(&self) -> &[String] {
        self.finalizers.as_deref().unwrap_or_default()
    }

    /// `metadata.ownerReferences`.
    pub(super) fn owners(&self) -> &[OwnerReference] {
        self.owner_references.as_deref().unwrap_or_default()
    }

    /// The owner that manages the object, if one does.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owners()
            .iter()
            .find(|owner| owner.controller == Some(true))
    }
}

// === impl OwnerReference ===

impl OwnerReference {
    /// Returns whether a foreground deletion of the owner waits for the object.
    pub(super) fn blocks(&self) -> bool {
        self.block_owner_deletion == Some(true)
    }

    /// The group and the version of the owner.
    pub(super) fn group_version(&self) -> (&str, &str) {
        self.api_version
            .split_once('/')
            .unwrap_or(("", &self.api_version))
    }
}
