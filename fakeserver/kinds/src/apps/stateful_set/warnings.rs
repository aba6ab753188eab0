//! Warnings about stateful sets.

use fakeserver_value::field::Field;

use crate::{AcceptedObject, claim_spec, workload::warnings::warn_of_template};

pub(super) fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    warn_of_template(accepted, &accepted.object, warnings);
    stateful_set(&accepted.object.at("spec"), warnings);
}

fn stateful_set(spec: &Field<'_>, warnings: &mut Vec<String>) {
    if spec.at("revisionHistoryLimit").number() < 0 {
        warnings.push(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is \
             recommended"
                .to_owned(),
        );
    }
    for template in spec.at("volumeClaimTemplates").items() {
        claim_spec::warn(&template.at("spec").called_at(&template), warnings);
    }
}
