//! Warnings about persistent volumes.

use fakeserver_value::field::Field;

use crate::{
    AcceptedObject,
    core::persistent_volume_claim::{request::CLASS, warnings::annotation},
};

pub(super) fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    volume(&accepted.object, warnings);
}

fn volume(volume: &Field<'_>, warnings: &mut Vec<String>) {
    annotation(&volume.at("metadata"), CLASS, warnings);
    let policy = volume.at("spec").at("persistentVolumeReclaimPolicy");
    if policy.text() == "Recycle" {
        warnings.push(format!(
            "{}: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic \
             provisioning.",
            policy.path()
        ));
    }
}
