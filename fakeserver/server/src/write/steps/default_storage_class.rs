//! `DefaultStorageClass`: a claim without a class gets the default one.

use fakeserver_kinds::{
    core::persistent_volume_claim::{self, request::CLASS},
    storage::storage_class,
};
use serde_json::Value;

use super::default_class;
use crate::{
    store::Transaction,
    write::{Attempt, Write, chain::Step},
};

pub(in crate::write) const STEP: Step = Step::mutating("DefaultStorageClass", |write, attempt| {
    admit(write, attempt);
    Ok(())
});

const IS_DEFAULT: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

fn admit(write: &mut Write<'_>, attempt: &Attempt<'_, '_>) {
    if write.creates(&persistent_volume_claim::KIND) && !write.is_import() {
        complete(attempt, &mut write.new);
    }
}

/// Gives a claim that names no class the default one, if there is one.
pub fn complete(tx: &Transaction<'_>, claim: &mut Value) {
    let annotated = &claim["metadata"]["annotations"][CLASS];
    if claim["spec"]["storageClassName"].is_null()
        && annotated.is_null()
        && let Some(class) = default_class(tx, &storage_class::KIND, &IS_DEFAULT)
    {
        claim["spec"]["storageClassName"] = class["metadata"]["name"].clone();
    }
}
