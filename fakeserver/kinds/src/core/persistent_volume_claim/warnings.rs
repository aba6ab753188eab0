//! Warnings about claims.

use fakeserver_value::field::Field;

use crate::{AcceptedObject, claim_spec, core::persistent_volume_claim::request::CLASS};

pub fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    annotation(&accepted.metadata(), CLASS, warnings);
    claim_spec::warn(&accepted.object.at("spec"), warnings);
}

pub fn annotation(metadata: &Field<'_>, key: &str, warnings: &mut Vec<String>) {
    let annotation = metadata.at("annotations").key(key);
    if annotation.is_set() {
        warnings.push(format!(
            "{}: deprecated since v1.8; use \"storageClassName\" attribute instead",
            annotation.path()
        ));
    }
}
