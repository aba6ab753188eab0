//! `PersistentVolumeClaimResize`: only bound claims grow, and only if their class allows it.

use serde_json::Value;

use super::{default_storage_class::CLASS, find};
use crate::{
    kinds::{core::persistent_volume_claim, formats::quantity, storage::storage_class},
    store::Transaction,
    value::status::Status,
    write::{Attempt, AttemptError, Write, chain::Step},
};

pub(in crate::write) const STEP: Step =
    Step::validating("PersistentVolumeClaimResize", |write, attempt| {
        validate(write, attempt)
    });

fn validate(write: &Write<'_>, attempt: &Attempt<'_, '_>) -> Result<(), AttemptError> {
    if !write.updates(&persistent_volume_claim::KIND) {
        return Ok(());
    }
    let (old, new) = (&write.old, &write.new);
    let size = |claim: &Value| quantity(&claim["spec"]["resources"]["requests"]["storage"]);
    if size(new) <= size(old) {
        return Ok(());
    }
    let why = if old["status"]["phase"] != "Bound" {
        "Only bound persistent volume claims can be expanded"
    } else if class_of(old) != class_of(new) || !allows_expansion(attempt, class_of(new)) {
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support \
         resize"
    } else {
        return Ok(());
    };
    Err(Status::forbidden(write.named(), why, Vec::new()).into())
}

fn class_of(claim: &Value) -> &str {
    let annotated = claim["metadata"]["annotations"][CLASS].as_str();
    let named = claim["spec"]["storageClassName"].as_str();
    annotated.or(named).unwrap_or_default()
}

fn allows_expansion(tx: &Transaction<'_>, class: &str) -> bool {
    let found = find(tx, &storage_class::KIND, class);
    found.is_some_and(|class| class["allowVolumeExpansion"] == true)
}
