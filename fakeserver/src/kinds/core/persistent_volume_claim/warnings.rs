//! Warnings about claims.

use crate::{
    kinds::{Accepted, claim_spec, core::persistent_volume_claim::request::CLASS},
    value::field::Field,
};

pub(crate) fn warn(accepted: &Accepted<'_>, told: &mut Vec<String>) {
    annotation(&accepted.metadata(), CLASS, told);
    claim_spec::warn(&accepted.object.at("spec"), told);
}

pub(crate) fn annotation(metadata: &Field<'_>, key: &str, told: &mut Vec<String>) {
    let annotation = metadata.at("annotations").key(key);
    if annotation.is_set() {
        told.push(format!(
            "{}: deprecated since v1.8; use \"storageClassName\" attribute instead",
            annotation.path()
        ));
    }
}
