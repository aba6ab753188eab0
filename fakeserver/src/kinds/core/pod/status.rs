//! Validation of the status of pods.

use serde_json::Value;

use crate::{
    kinds::formats::{check_ip, check_qualified, check_subdomain},
    value::{field::Field, findings::Findings},
};

/// Conditions that the system itself sets.
const SYSTEM: [&str; 3] = ["PodScheduled", "Ready", "Initialized"];

/// An update through `status`.
pub(crate) fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (was, is) = (old.at("status"), new.at("status"));
    let metadata = new.at("metadata");
    let conditions = is.at("conditions").called_within(&metadata, "conditions");
    for condition in conditions.items() {
        let kind = condition.at("type");
        if !SYSTEM.contains(&kind.text()) {
            check_qualified(&kind.called_within(&condition, "Type"), found);
        }
    }
    let nominated = is.at("nominatedNodeName");
    if nominated.has_text() && nominated.value() != was.get("nominatedNodeName") {
        check_subdomain(&nominated, found);
    }
    let policy = old.at("spec").at("restartPolicy");
    check_transitions(old, &is, "containerStatuses", policy.text(), found);
    check_transitions(old, &is, "initContainerStatuses", policy.text(), found);
    check_transitions(old, &is, "ephemeralContainerStatuses", "Never", found);
    for list in ["podIPs", "hostIPs"] {
        let addresses = is.at(list);
        for address in addresses.items() {
            check_ip(&address.at("ip").called_at(&address), found);
        }
        let is_v6 = |address: &Field<'_>| address.at("ip").text().contains(':');
        let families: Vec<bool> = addresses.items().map(|address| is_v6(&address)).collect();
        let is_dual = families.len() == 2 && families[0] != families[1];
        if families.len() > 1 && !is_dual {
            found.invalid(
                &addresses,
                "may specify no more than one IP for each IP family",
            );
        }
        let mut seen = Vec::new();
        for address in addresses.items() {
            if seen.contains(&address.at("ip").text()) {
                found.duplicate(&address);
            }
            seen.push(address.at("ip").text());
        }
    }
}

/// Checks that a terminated container which the restart policy does not restart stays terminated. Restartable init
/// containers may run again.
fn check_transitions(
    old: &Field<'_>,
    is: &Field<'_>,
    list: &'static str,
    policy: &str,
    found: &mut Findings,
) {
    if policy == "Always" {
        return;
    }
    let after = is.at(list);
    let stays = |name: &Value| {
        let mut starters = old.at("spec").at("initContainers").items();
        starters.any(|starter| {
            starter.get("name") == name && starter.at("restartPolicy").text() == "Always"
        })
    };
    for (place, before) in old.at("status").at(list).items().enumerate() {
        let ended = before.at("state").at("terminated");
        let failed = ended.at("exitCode").number() != 0;
        if !ended.is_set() || (failed && policy == "OnFailure") || stays(before.get("name")) {
            continue;
        }
        let runs = after.items().any(|after| {
            after.get("name") == before.get("name") && !after.at("state").at("terminated").is_set()
        });
        if runs {
            let path = after.place(place).at("state");
            found.forbidden(&path, "may not be transitioned to non-terminated state");
        }
    }
}
