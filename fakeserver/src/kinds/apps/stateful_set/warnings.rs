//! Warnings about stateful sets.

use crate::{
    kinds::{
        Accepted,
        core::{persistent_volume_claim, pod_spec::warnings::template},
    },
    value::field::Field,
};

pub(crate) fn warn(accepted: &Accepted<'_>, told: &mut Vec<String>) {
    template(accepted, &accepted.object, told);
    stateful_set(&accepted.object.at("spec"), told);
}

fn stateful_set(spec: &Field<'_>, told: &mut Vec<String>) {
    if spec.at("revisionHistoryLimit").number() < 0 {
        told.push(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is \
             recommended"
                .to_owned(),
        );
    }
    for template in spec.at("volumeClaimTemplates").items() {
        persistent_volume_claim::warnings::warn_of_spec(&template.at("spec"), told);
    }
}
