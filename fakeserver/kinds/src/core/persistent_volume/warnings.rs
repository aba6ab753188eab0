//! Warnings about persistent volumes.

use fakeserver_value::field::Field;

use crate::{
    Accepted,
    core::persistent_volume_claim::{request::CLASS, warnings::annotation},
};

pub(super) fn warn(accepted: &Accepted<'_>, told: &mut Vec<String>) {
    volume(&accepted.object, told);
}

fn volume(volume: &Field<'_>, told: &mut Vec<String>) {
    annotation(&volume.at("metadata"), CLASS, told);
    let policy = volume.at("spec").at("persistentVolumeReclaimPolicy");
    if policy.text() == "Recycle" {
        told.push(format!(
            "{}: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic \
             provisioning.",
            policy.path()
        ));
    }
}
