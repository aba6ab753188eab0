//! `StorageObjectInUseProtection`: claims, volumes and classes of their attributes stay until they are no longer used.

use fakeserver_kinds::{
    Kind,
    core::{persistent_volume, persistent_volume_claim},
    storage::volume_attributes_class,
};
use serde_json::{Value, json};

use crate::write::{
    Write,
    chain::Step,
    deletion::{CLAIM_PROTECTION, CLASS_PROTECTION, VOLUME_PROTECTION},
};

/// The kinds that are protected, and their finalizers.
static PROTECTED: [(&Kind, &str); 3] = [
    (&persistent_volume_claim::KIND, CLAIM_PROTECTION),
    (&persistent_volume::KIND, VOLUME_PROTECTION),
    (&volume_attributes_class::KIND, CLASS_PROTECTION),
];

pub(in crate::write) const STEP: Step =
    Step::mutating("StorageObjectInUseProtection", |write, _| {
        admit(write);
        Ok(())
    });

fn admit(write: &mut Write<'_>) {
    if write.is_import() {
        return;
    }
    for (kind, finalizer) in PROTECTED {
        if write.creates(kind) {
            add_finalizer(&mut write.new, finalizer);
        }
    }
}

/// Gives a new object of a controller the finalizer of its kind, if it has one.
pub(crate) fn protect(kind: &Kind, object: &mut Value) {
    for (protected, finalizer) in PROTECTED {
        if kind.is(protected) {
            add_finalizer(object, finalizer);
        }
    }
}

fn add_finalizer(object: &mut Value, name: &str) {
    match object["metadata"]["finalizers"].as_array_mut() {
        Some(finalizers) if finalizers.iter().any(|finalizer| finalizer == name) => {}
        Some(finalizers) => finalizers.push(json!(name)),
        None => object["metadata"]["finalizers"] = json!([name]),
    }
}
