//! `PersistentVolumeClaimResize`: only bound claims grow, and only if their class allows it.

use fakeserver_kinds::{
    core::persistent_volume_claim::{
        self,
        request::{class_of, size_of},
    },
    storage::storage_class,
};
use fakeserver_value::status::Status;

use super::find;

use crate::{
    store::Transaction,
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
    if size_of(new) <= size_of(old) {
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

fn allows_expansion(tx: &Transaction<'_>, class: &str) -> bool {
    let found = find(tx, &storage_class::KIND, class);
    found.is_some_and(|class| class["allowVolumeExpansion"] == true)
}
