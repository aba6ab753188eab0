//! Warnings about claims.

use fakeserver_value::field::Field;

use crate::{Accepted, claim_spec, core::persistent_volume_claim::request::CLASS};

pub fn warn(accepted: &Accepted<'_>, told: &mut Vec<String>) {
    annotation(&accepted.metadata(), CLASS, told);
    claim_spec::warn(&accepted.object.at("spec"), told);
}

pub fn annotation(metadata: &Field<'_>, key: &str, told: &mut Vec<String>) {
    let annotation = metadata.at("annotations").key(key);
    if annotation.is_set() {
        told.push(format!(
            "{}: deprecated since v1.8; use \"storageClassName\" attribute instead",
            annotation.path()
        ));
    }
}
