//! Validation of pod specs.

pub mod containers;
mod env;
mod mounts;
mod network;
pub mod placement;
mod probes;
pub mod resources;
pub mod pod_resources;
pub mod security;
pub mod persistent;
pub mod sources;
pub mod volumes;

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::Value;

use crate::{
    formats::{
        SelectionResult, check_annotations, check_label, check_labels, check_qualified,
        check_subdomain, selects,
    },
    pod_spec::validation::{
        containers::{Pod, check_all_containers},
        env::check_files,
        network::{check_dns, check_host_aliases},
        placement::{check_affinity, check_gates, check_spread, check_tolerations},
        pod_resources::check_pod_resources,
        resources::check_overhead,
        security::{check_operating_system, check_pod_context},
        volumes::check_volumes,
    },
};

const RESTART_POLICIES: [&str; 3] = ["Always", "OnFailure", "Never"];

const DNS_POLICIES: [&str; 4] = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

const PREEMPTION_POLICIES: [&str; 2] = ["PreemptLowerPriority", "Never"];

const HOSTNAME_MAX_BYTES: usize = 64;

const DEADLINE: &str = "must be between 1 and 2147483647, inclusive";

/// Checks a template.
pub fn check_template(template: &Field<'_>, found: &mut Findings) {
    check_described(template, found);
    let spec = template.at("spec");
    check_spec(&spec, false, found);
    if !spec.at("ephemeralContainers").is_empty() {
        found.forbidden(
            &spec.at("ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        );
    }
}

/// Checks the labels and annotations of a template.
pub fn check_described(template: &Field<'_>, found: &mut Findings) {
    let metadata = template.at("metadata");
    let place = |name: &'static str| metadata.at(name).called_within(template, name);
    check_labels(&place("labels"), found);
    check_annotations(&place("annotations"), found);
}

/// The pods that a template makes must be among those that are counted.
pub fn check_selected(selector: &Value, template: &Field<'_>, found: &mut Findings) {
    let labels = template.at("metadata").at("labels");
    if selects(selector, labels.value()) == SelectionResult::Differs {
        found.invalid(&labels, "`selector` does not match template `labels`");
    }
}

/// Checks the template of a workload that never ends.
pub fn check_runs_forever(template: &Field<'_>, kind: &str, found: &mut Findings) {
    let spec = template.at("spec");
    if spec.at("restartPolicy").text() != "Always" {
        found.not_supported(&spec.at("restartPolicy"), &["Always"]);
    }
    if spec.at("activeDeadlineSeconds").is_set() {
        found.forbidden(
            &spec.at("activeDeadlineSeconds"),
            &format!("activeDeadlineSeconds in {kind} is not Supported"),
        );
    }
}

pub fn check_spec(spec: &Field<'_>, is_pod: bool, found: &mut Findings) {
    if !spec.at("terminationGracePeriodSeconds").is_set() {
        found.required(&spec.at("terminationGracePeriodSeconds"), "");
    }
    let volumes = check_volumes(&spec.at("volumes"), found);
    check_claims(&spec.at("resourceClaims"), found);
    let pod = Pod::new(spec, &volumes);
    check_all_containers(&pod, found);
    check_pod_resources(&pod, found);
    if spec.at("hostNetwork").is_true() {
        check_host_ports(spec, is_pod, found);
    }
    found.one_of(&spec.at("restartPolicy"), &RESTART_POLICIES);
    found.one_of(&spec.at("dnsPolicy"), &DNS_POLICIES);
    check_labels(&spec.at("nodeSelector"), found);
    check_pod_context(spec, found);
    check_affinity(&spec.at("affinity"), found);
    check_dns(spec, found);
    for gate in spec.at("readinessGates").items() {
        check_qualified(&gate.at("conditionType"), found);
    }
    check_gates(&spec.at("schedulingGates"), found);
    check_spread(&spec.at("topologySpreadConstraints"), found);
    if spec.at("hostUsers").value() == &Value::Bool(false) {
        for (name, called) in [
            ("hostNetwork", "hostNetwork"),
            ("hostPID", "HostPID"),
            ("hostIPC", "HostIPC"),
        ] {
            if spec.at(name).is_true() {
                found.forbidden(&spec.at(called), "when `pod.Spec.HostUsers` is false");
            }
        }
    }
    check_hostname_override(spec, found);
    check_names(spec, found);
    check_tolerations(&spec.at("tolerations"), found);
    check_host_aliases(&spec.at("hostAliases"), found);
    if spec.at("priorityClassName").has_text() {
        check_subdomain(&spec.at("priorityClassName"), found);
    }
    if spec.at("runtimeClassName").is_set() {
        check_subdomain(&spec.at("runtimeClassName"), found);
    }
    if spec.at("preemptionPolicy").is_set() {
        found.one_of(&spec.at("preemptionPolicy"), &PREEMPTION_POLICIES);
    }
    check_overhead(&spec.at("overhead"), found);
    check_operating_system(spec, found);
    check_files(spec, found);
}

fn check_hostname_override(spec: &Field<'_>, found: &mut Findings) {
    let hostname = spec.at("hostnameOverride");
    if !hostname.is_set() {
        return;
    }
    for name in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec.at(name).is_true() {
            let why = format!("may not be specified when {name} is true");
            found.forbidden(&hostname, &why);
        }
    }
    if hostname.text().len() > HOSTNAME_MAX_BYTES {
        found.too_long(&hostname, HOSTNAME_MAX_BYTES);
    }
    check_subdomain(&hostname, found);
}

/// Names that a pod gives, and its deadline.
fn check_names(spec: &Field<'_>, found: &mut Findings) {
    for name in ["serviceAccountName", "nodeName"] {
        if spec.at(name).has_text() {
            check_subdomain(&spec.at(name), found);
        }
    }
    let deadline = spec.at("activeDeadlineSeconds");
    if deadline.is_set() && !(1..=i64::from(i32::MAX)).contains(&deadline.number()) {
        found.invalid(&deadline, DEADLINE);
    }
    for name in ["hostname", "subdomain"] {
        if spec.at(name).has_text() {
            check_label(&spec.at(name), found);
        }
    }
}

/// Ports of a pod in the network of its host are ports of the host.
fn check_host_ports(spec: &Field<'_>, is_pod: bool, found: &mut Findings) {
    for container in spec.at("containers").items() {
        for port in container.at("ports").items() {
            let (on_host, inside) = (port.at("hostPort"), port.at("containerPort"));
            if (is_pod || on_host.number() != 0) && on_host.number() != inside.number() {
                found.invalid_as(
                    &on_host,
                    &on_host.number().into(),
                    "must match `containerPort` when `hostNetwork` is true",
                );
            }
        }
    }
}

fn check_claims(claims: &Field<'_>, found: &mut Findings) {
    let mut names = BTreeSet::new();
    for claim in claims.items() {
        let name = claim.at("name");
        if !name.has_text() {
            found.required(&name, "");
        } else if names.contains(&name.text()) {
            found.duplicate(&name);
        } else {
            check_label(&name, found);
            names.insert(name.text());
        }
        let of = ["resourceClaimName", "resourceClaimTemplateName"];
        let given = of.iter().filter(|field| claim.at(field).is_set()).count();
        let definition = "io.k8s.api.core.v1.PodResourceClaim";
        match given {
            0 => found.invalid_struct(
                &claim,
                definition,
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            ),
            2 => found.invalid_struct(
                &claim,
                definition,
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            ),
            _ => {}
        }
        for field in of {
            if claim.at(field).is_set() {
                check_subdomain(&claim.at(field), found);
            }
        }
    }
}
