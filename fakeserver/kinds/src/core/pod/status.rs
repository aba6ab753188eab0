//! Validation of the status of pods.

use std::{collections::BTreeSet, net::IpAddr};

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::{Value, json};

use crate::{
    addresses::check_ip,
    formats::{check_label, check_qualified, check_subdomain},
};

/// Conditions that the system itself sets.
const SYSTEM: [&str; 3] = ["PodScheduled", "Ready", "Initialized"];

const RESOURCE: &str = "must match the extended resource name of an entry in \
    spec.initContainers.resources.requests or spec.containers.resources.requests";

/// Checks an update through `status`.
pub(super) fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (was, is) = (old.at("status"), new.at("status"));
    check_conditions(&is.at("conditions"), found);
    let nominated = is.at("nominatedNodeName");
    if nominated.has_text() && nominated.value() != was.get("nominatedNodeName") {
        check_subdomain(&nominated, found);
    }
    let generation = is.at("observedGeneration");
    if generation.number() < 0 {
        found.invalid(&generation, "must be a non-negative integer");
    }
    let class = is.at("qosClass");
    if class.has_text() && class.value() != was.get("qosClass") {
        found.invalid(&class, "field is immutable");
    }
    let policy = old.at("spec").at("restartPolicy");
    check_transitions(old, &is, "containerStatuses", policy.text(), found);
    check_transitions(old, &is, "initContainerStatuses", policy.text(), found);
    check_transitions(old, &is, "ephemeralContainerStatuses", "Never", found);
    let spec = new.at("spec");
    check_claims(&is.at("resourceClaimStatuses"), &spec, found);
    check_extended(&is.at("extendedResourceClaimStatus"), &spec, found);
    check_addresses(&is.at("podIPs"), found);
    let (hosts, host) = (is.at("hostIPs"), is.at("hostIP"));
    let first = hosts.place(0).at("ip");
    if !hosts.is_empty() && first.text() != host.text() {
        found.invalid_text(&first, "must be equal to `hostIP`");
    }
    check_addresses(&hosts, found);
}

fn check_conditions(conditions: &Field<'_>, found: &mut Findings) {
    for condition in conditions.items() {
        let (kind, generation) = (condition.at("type"), condition.at("observedGeneration"));
        if generation.number() < 0 {
            found.invalid(&generation, "must be a non-negative integer");
        }
        if !SYSTEM.contains(&kind.text()) {
            check_qualified(&kind.called_within(&condition, "Type"), found);
        }
    }
}

/// Checks addresses, of which each family has one.
fn check_addresses(addresses: &Field<'_>, found: &mut Findings) {
    for address in addresses.items() {
        check_ip(&address.at("ip").called_at(&address), found);
    }
    let is_v6 = |address: &Field<'_>| address.at("ip").text().contains(':');
    let families: Vec<bool> = addresses.items().map(|address| is_v6(&address)).collect();
    let is_dual = families.len() == 2 && families[0] != families[1];
    if families.len() < 2 || is_dual {
        return;
    }
    let wrong = addresses.items().enumerate().find(|(_, address)| {
        let text = address.at("ip").text();
        text.parse::<IpAddr>().is_err()
    });
    if let Some((index, address)) = wrong {
        let problem = format!(
            "failed to check for dual stack with error:invalid IP[{index}]: {}",
            address.at("ip").text()
        );
        found.internal(addresses, &problem);
    }
    let printed: Vec<String> = addresses
        .items()
        .map(|address| format!("{{\"IP\":{}}}", json!(address.at("ip").text())))
        .collect();
    found.invalid_printed(
        addresses,
        &format!("[{}]", printed.join(",")),
        "may specify no more than one IP for each IP family",
    );
}

/// Checks that the claims of a status are claims of the pod.
fn check_claims(claims: &Field<'_>, spec: &Field<'_>, found: &mut Findings) {
    let mut names = BTreeSet::new();
    for claim in claims.items() {
        let (name, made) = (claim.at("name"), claim.at("resourceClaimName"));
        let mut declared = spec.at("resourceClaims").items();
        if !declared.any(|declared| declared.at("name").text() == name.text()) {
            found.invalid_text(
                &name,
                "must match the name of an entry in `spec.resourceClaims`",
            );
        }
        if !names.insert(name.text()) {
            found.duplicate_as(&name, &json!(name.text()));
        }
        if made.is_set() && found.is_on("MadeClaimNamesNamed") {
            check_subdomain(&made, found);
        } else if made.is_set() {
            check_subdomain(&made.called_at(&name), found);
        }
    }
}

/// Checks the claim that was made for extended resources.
fn check_extended(status: &Field<'_>, spec: &Field<'_>, found: &mut Findings) {
    if !status.is_set() {
        return;
    }
    let (mappings, claim) = (status.at("requestMappings"), status.at("resourceClaimName"));
    if mappings.is_empty() {
        found.required(&mappings, "at least one request mapping is required");
    }
    let mut seen = BTreeSet::new();
    for mapping in mappings.items() {
        let parts = ["containerName", "resourceName", "requestName"].map(|name| mapping.at(name));
        let [container, resource, request] = &parts;
        let containers = ["containers", "initContainers"].into_iter();
        let mut containers = containers.flat_map(|list| spec.at(list).items());
        match containers.find(|declared| declared.at("name").text() == container.text()) {
            None => found.invalid_text(
                container,
                "must match the name of an entry in spec.initContainers.name or spec.containers.name",
            ),
            Some(declared) => {
                let requests = declared.at("resources").at("requests");
                if !requests.key(resource.text()).is_set() {
                    found.invalid_text(resource, RESOURCE);
                }
            }
        }
        check_label(&request.called_within(status, "requestName"), found);
        if !seen.insert(parts.each_ref().map(Field::text)) {
            for part in &parts {
                found.duplicate_as(part, &json!(part.text()));
            }
        }
    }
    if claim.has_text() {
        check_subdomain(&claim, found);
    } else {
        found.required(&claim, "");
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
