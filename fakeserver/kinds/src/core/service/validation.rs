//! Validation of services.

use std::collections::BTreeSet;

use fakeserver_value::{
    field::Field, findings::Findings, names::subdomain_problems, status::FieldError,
};
use serde_json::{Value, json};

use crate::{
    addresses::{check_ip, check_padded_cidr},
    formats::{
        PROTOCOLS, check_label, check_labels, check_load_balancer_name, check_port,
        check_port_number, check_qualified, check_reachable_ip,
    },
};

const PORT: &str = "io.k8s.api.core.v1.ServicePort";
const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

const AFFINITIES: [&str; 2] = ["ClientIP", "None"];

const POLICIES: [&str; 2] = ["Cluster", "Local"];

const FAMILY_POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];

const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];

const DISTRIBUTIONS: [&str; 3] = ["PreferClose", "PreferSameZone", "PreferSameNode"];

const AFFINITY_SECONDS_MAX: i64 = 86_400;

/// The port of kubelets, which no balancer may open.
const KUBELET_PORT: i64 = 10_250;

pub fn check(service: &Field<'_>, found: &mut Findings) {
    let spec = service.at("spec");
    let kind = spec.at("type").text();
    let ports = spec.at("ports");
    if ports.is_empty() && !is_headless(&spec) && kind != "ExternalName" {
        found.required(&ports, "");
    }
    check_type(&spec, found);
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.at("name");
        if name.has_text() {
            check_label(&name, found);
            if !names.insert(name.text()) {
                found.duplicate(&name);
            }
        } else if ports.len() > 1 {
            found.required(&name, "");
        }
        check_port_number(&port.at("port"), found);
        found.one_of(&port.at("protocol"), &PROTOCOLS);
        check_port(&port.at("targetPort"), found);
        if port.at("appProtocol").is_set() {
            check_qualified(&port.at("appProtocol"), found);
        }
    }
    check_labels(&spec.at("selector"), found);
    check_session_affinity(&spec, found);
    check_addresses(&spec, found);
    for address in spec.at("externalIPs").items() {
        let before = found.count();
        check_ip(&address, found);
        if found.count() == before {
            check_reachable_ip(&address, found);
        }
    }
    found.one_of(&spec.at("type"), &TYPES);
    check_port_pairs(&spec, found);
    check_balancer(&spec, found);
    check_policies(&spec, found);
}

fn is_headless(spec: &Field<'_>) -> bool {
    is_headless_spec(spec.value())
}

/// Returns whether the service of a specification has no address, deliberately.
pub(super) fn is_headless_spec(spec: &Value) -> bool {
    spec["clusterIP"] == "None" || spec["clusterIPs"][0] == "None"
}

fn is_external(spec: &Field<'_>) -> bool {
    let kind = spec.at("type").text();
    matches!(kind, "LoadBalancer" | "NodePort")
        || (kind == "ClusterIP" && !spec.at("externalIPs").is_empty())
}

/// Checks that the fields of other types are not set.
fn check_type(spec: &Field<'_>, found: &mut Findings) {
    let kind = spec.at("type").text();
    match kind {
        "LoadBalancer" | "NodePort" => {
            for port in spec.at("ports").items() {
                if kind == "LoadBalancer" && port.at("port").number() == KUBELET_PORT {
                    let why = format!(
                        "may not expose port {KUBELET_PORT} externally since it is used by kubelet"
                    );
                    found.invalid_as(&port, port.get("port"), &why);
                }
            }
            if is_headless(spec) {
                let place = spec.at("clusterIPs").place(0);
                found.invalid_as(
                    &place,
                    &json!("None"),
                    &format!("may not be set to 'None' for {kind} services"),
                );
            }
        }
        "ExternalName" => {
            for name in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                if spec.at(name).is_set() {
                    found.forbidden(&spec.at(name), "may not be set for ExternalName services");
                }
            }
            let external = spec.at("externalName");
            let name = external.text();
            let name = name.strip_suffix('.').unwrap_or(name);
            if name.is_empty() {
                found.required(&external, "");
            } else {
                for problem in subdomain_problems(name) {
                    found.invalid_as(&external, &json!(name), &problem);
                }
            }
        }
        _ => {}
    }
}

fn check_session_affinity(spec: &Field<'_>, found: &mut Findings) {
    let affinity = spec.at("sessionAffinity");
    found.one_of(&affinity, &AFFINITIES);
    let config = spec.at("sessionAffinityConfig");
    if affinity.text() == "None" && config.is_set() {
        found.forbidden(&config, "must not be set when session affinity is None");
    }
    if affinity.text() != "ClientIP" {
        return;
    }
    let client = config.at("clientIP");
    let seconds = client.at("timeoutSeconds");
    for needed in [&config, &client, &seconds] {
        if !needed.is_set() {
            found.required(needed, "when session affinity type is ClientIP");
            return;
        }
    }
    if !(1..=AFFINITY_SECONDS_MAX).contains(&seconds.number()) {
        found.invalid(
            &seconds,
            &format!("must be greater than 0 and less than {AFFINITY_SECONDS_MAX}"),
        );
    }
}

/// Lists the errors of the addresses of a service.
pub fn address_errors(service: &Value) -> Vec<FieldError> {
    let mut found = Findings::default();
    check_addresses(&Field::root(service).at("spec"), &mut found);
    found.into_errors()
}

/// The addresses of a service, and of which families they are.
fn check_addresses(spec: &Field<'_>, found: &mut Findings) {
    if spec.at("type").text() == "ExternalName" {
        return;
    }
    let (one, all) = (spec.at("clusterIP"), spec.at("clusterIPs"));
    if one.has_text() && all.is_empty() {
        found.required(&all, "");
    } else if one.has_text() && all.place(0).text() != one.text() {
        found.invalid(&all, "first value must match `clusterIP`");
    } else if !one.has_text() && !all.is_empty() {
        found.invalid(&all, "must be empty when `clusterIP` is not specified");
    }
    let families = spec.at("ipFamilies");
    let mut seen = BTreeSet::new();
    for family in families.items() {
        if !FAMILIES.contains(&family.text()) {
            found.not_supported(&family, &FAMILIES);
        }
        if !seen.insert(family.text()) {
            found.duplicate(&family);
        }
    }
    found.optional_one_of(&spec.at("ipFamilyPolicy"), &FAMILY_POLICIES);
    let before = found.count();
    let is_headless = all.place(0).text() == "None";
    if is_headless && all.len() > 1 {
        found.invalid(&all, "'None' must be the first and only value");
    }
    for address in all.items().skip(usize::from(is_headless)) {
        check_ip(&address, found);
    }
    let has_wrong = found.count() != before;
    if all.len() > 2 {
        found.invalid(&all, "may only hold up to 2 values");
    }
    if !has_wrong && !is_headless {
        check_families(&all, &families, found);
    }
}

/// Checks that addresses are of different families, and of those that a service names.
fn check_families(all: &Field<'_>, families: &Field<'_>, found: &mut Findings) {
    let is_v6 = |address: &Field<'_>| address.text().contains(':');
    let distinct: BTreeSet<bool> = all.items().map(|address| is_v6(&address)).collect();
    if all.len() > 1 && distinct.len() < 2 {
        found.invalid(all, "may specify no more than one IP for each IP family");
    }
    for (index, (address, family)) in all.items().zip(families.items()).enumerate() {
        let fits = is_v6(&address) == (family.text() == "IPv6");
        if FAMILIES.contains(&family.text()) && !fits {
            let why = format!(
                "expected an {} value as indicated by `ipFamilies[{index}]`",
                family.text()
            );
            found.invalid(&address, &why);
        }
    }
}

/// No port is there twice, inside or on the nodes.
fn check_port_pairs(spec: &Field<'_>, found: &mut Findings) {
    let ports = spec.at("ports");
    let (mut on_nodes, mut inside) = (BTreeSet::new(), BTreeSet::new());
    for port in ports.items() {
        let number = port.at("nodePort");
        if number.number() != 0 && spec.at("type").text() == "ClusterIP" {
            found.forbidden(&number, "may not be used when `type` is 'ClusterIP'");
        }
    }
    for port in ports.items() {
        let (protocol, number) = (port.at("protocol").text(), port.at("nodePort"));
        if number.number() != 0 && !on_nodes.insert((protocol, number.number())) {
            found.duplicate(&number);
        }
    }
    for port in ports.items() {
        let (protocol, number) = (port.at("protocol").text(), port.at("port").number());
        if !inside.insert((protocol, number)) {
            let shown = json!({"protocol": protocol, "port": number});
            let port = port.showing(&shown);
            found.duplicate_struct(&port, PORT);
        }
    }
}

/// Checks the fields that only a service with a balancer has.
fn check_balancer(spec: &Field<'_>, found: &mut Findings) {
    let is_balancer = spec.at("type").text() == "LoadBalancer";
    let why = "may only be used when `type` is 'LoadBalancer'";
    let ranges = spec.at("loadBalancerSourceRanges");
    let place = ranges.called_within(spec, "LoadBalancerSourceRanges");
    if !ranges.is_empty() && !is_balancer {
        found.forbidden(&place, why);
    }
    for range in place.items() {
        check_padded_cidr(&range, found);
    }
    let allocates = spec.at("allocateLoadBalancerNodePorts");
    if allocates.is_set() && !is_balancer {
        found.forbidden(&allocates, why);
    }
    let class = spec.at("loadBalancerClass");
    if class.is_set() && !is_balancer {
        found.forbidden(&class, why);
    } else if class.is_set() {
        check_qualified(&class, found);
    }
}

fn check_policies(spec: &Field<'_>, found: &mut Findings) {
    let external = spec.at("externalTrafficPolicy");
    if is_external(spec) {
        found.one_of(&external, &POLICIES);
    } else if external.has_text() {
        found.invalid(
            &external,
            "may only be set for externally-accessible services",
        );
    }
    let health = spec.at("healthCheckNodePort");
    let is_checked = spec.at("type").text() == "LoadBalancer" && external.text() == "Local";
    if !is_checked && health.number() != 0 {
        found.invalid(
            &health,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        );
    } else if is_checked && health.number() != 0 {
        check_port_number(&health, found);
    }
    let internal = spec.at("internalTrafficPolicy");
    if internal.is_set() {
        found.optional_one_of(&internal, &POLICIES);
    } else if matches!(
        spec.at("type").text(),
        "ClusterIP" | "NodePort" | "LoadBalancer"
    ) {
        found.required(&internal, "");
    }
    let distributions = if found.is_on("PreferSameTrafficDistribution") {
        &DISTRIBUTIONS[..]
    } else {
        &["PreferClose"]
    };
    found.optional_one_of(&spec.at("trafficDistribution"), distributions);
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (was, is) = (old.at("spec"), new.at("spec"));
    let is_named = |spec: &Field<'_>| spec.at("type").text() == "ExternalName";
    if !is_named(&was) && !is_named(&is) {
        let (was_headless, is_now_headless) = (is_headless(&was), is_headless(&is));
        if !was_headless || !is_now_headless {
            check_kept(&was, &is, ("clusterIPs", "clusterIP"), found);
        }
        // Headless services may change their families.
        if !was_headless && !is_now_headless {
            check_kept(&was, &is, ("ipFamilies", "ipFamily"), found);
        }
    }
    let (before, after) = (was.at("loadBalancerClass"), is.at("loadBalancerClass"));
    let stays = was.at("type").text() == "LoadBalancer" && is.at("type").text() == "LoadBalancer";
    if stays && before.value() != after.value() {
        found.invalid(&after, "may not change once set");
    }
    let name = "healthCheckNodePort";
    let is_checked = |spec: &Field<'_>| {
        spec.at("type").text() == "LoadBalancer"
            && spec.at("externalTrafficPolicy").text() == "Local"
    };
    if is_checked(&was) && is_checked(&is) && was.get(name) != is.get(name) {
        found.forbidden(&is.at(name), "field is immutable");
    }
    check(new, found);
}

/// Checks that the first item of a list is unchanged, and that the second one goes only if the policy says so.
#[doc(alias = "validateUpgradeDowngradeClusterIPs")]
#[doc(alias = "validateUpgradeDowngradeIPFamilies")]
fn check_kept(
    was: &Field<'_>,
    is: &Field<'_>,
    (name, item): (&'static str, &str),
    found: &mut Findings,
) {
    let (before, after) = (was.at(name), is.at(name));
    let fixed = "may not change once set";
    if before.len() == after.len() {
        for (place, (old, new)) in before.items().zip(after.items()).enumerate() {
            if old.value() != new.value() {
                // Families are reported at the first place, whichever has changed.
                let place = if name == "ipFamilies" { 0 } else { place };
                found.invalid_as(&after.place(place), after.value(), fixed);
            }
        }
        return;
    }
    let is_shorter = before.len() > after.len();
    let first = after.place(0);
    if is_shorter && is.at("clusterIPs").is_empty() {
        let why = format!("primary {item} can not be unset");
        found.invalid_as(&first, after.value(), &why);
    }
    let is_other = before.place(0).value() != first.value();
    if !before.is_empty() && !after.is_empty() && is_other {
        found.invalid_as(&first, is.at("clusterIPs").value(), fixed);
    }
    let policy = is.at("ipFamilyPolicy");
    if is_shorter && after.len() == 1 && policy.text() != "SingleStack" {
        let why = format!("must be set to 'SingleStack' when releasing the secondary {item}");
        found.invalid(&policy, &why);
    }
}

/// An update through `status`.
pub fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let balancer = new.at("status").at("loadBalancer");
    let entries = balancer.at("ingress");
    if !entries.is_empty() && new.at("spec").at("type").text() != "LoadBalancer" {
        found.forbidden(
            &entries,
            "may only be used when `spec.type` is 'LoadBalancer'",
        );
        return;
    }
    for entry in entries.items() {
        check_entry(&entry, found);
    }
}

fn check_entry(entry: &Field<'_>, found: &mut Findings) {
    let (address, mode) = (entry.at("ip"), entry.at("ipMode"));
    if address.has_text() {
        check_ip(&address, found);
    }
    match (mode.is_set(), address.has_text()) {
        (false, true) => found.required(&mode, "must be specified when `ip` is set"),
        (true, false) => {
            found.forbidden(&mode, "may not be specified when `ip` is not set");
        }
        _ => found.optional_one_of(&mode, &["Proxy", "VIP"]),
    }
    check_load_balancer_name(entry, found);
}
