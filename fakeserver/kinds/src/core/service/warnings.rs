//! Warnings about services.

use fakeserver_value::field::Field;

use crate::{
    AcceptedObject,
    addresses::{warn_of_cidr, warn_of_ip},
};

pub(super) fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    service(accepted, warnings);
    addresses(&accepted.object.at("spec"), warnings);
}

fn service(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    let service = &accepted.object;
    let spec = service.at("spec");
    let hints = "service.kubernetes.io/topology-aware-hints";
    if service.at("metadata").at("annotations").key(hints).is_set() {
        warnings.push(format!(
            "annotation {hints} is deprecated, please use service.kubernetes.io/topology-mode instead"
        ));
    }
    let kind = spec.at("type").text();
    let is_external = kind == "ExternalName";
    let is_headless = kind == "ClusterIP" && spec.at("clusterIP").text() == "None";
    let has_addresses = !spec.at("externalIPs").is_empty();
    let mut warn = |text: &str| warnings.push(text.to_owned());
    if is_headless && accepted.is_on("HeadlessServicesWarned") {
        if spec.at("loadBalancerIP").has_text() {
            warn("spec.loadBalancerIP is ignored for headless services");
        }
        if has_addresses {
            warn("spec.externalIPs is ignored for headless services");
        }
        if spec.at("sessionAffinity").text() != "None" {
            warn("spec.SessionAffinity is ignored for headless services");
        }
    } else if has_addresses && !is_external && accepted.is_on("ExternalAddressesDeprecated") {
        warn("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    if is_external && has_addresses {
        warn("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if !is_external && spec.at("externalName").has_text() {
        warn("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    let is_close = spec.at("trafficDistribution").text() == "PreferClose";
    if is_close && accepted.is_on("PreferCloseDeprecated") {
        warn("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
}

/// Warns of addresses and ranges that are not canonical.
fn addresses(spec: &Field<'_>, warnings: &mut Vec<String>) {
    if !matches!(spec.at("clusterIP").text(), "" | "None") {
        for address in spec.at("clusterIPs").items() {
            warn_of_ip(&address, warnings);
        }
    }
    for address in spec.at("externalIPs").items() {
        warn_of_ip(&address, warnings);
    }
    warn_of_ip(&spec.at("loadBalancerIP"), warnings);
    for range in spec.at("loadBalancerSourceRanges").items() {
        warn_of_cidr(&range, warnings);
    }
}
