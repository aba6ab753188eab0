//! Warnings about claims, and about the templates of claims.

use crate::{
    kinds::{Accepted, core::pod_spec::warnings::fraction},
    value::field::Field,
};

pub(crate) const STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

pub(crate) fn warn(accepted: &Accepted<'_>, told: &mut Vec<String>) {
    annotation(&accepted.metadata(), STORAGE_CLASS, told);
    warn_of_spec(&accepted.object.at("spec"), told);
}

pub(crate) fn warn_of_spec(spec: &Field<'_>, told: &mut Vec<String>) {
    for side in ["requests", "limits"] {
        fraction(&spec.at("resources").at(side).key("storage"), told);
    }
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
