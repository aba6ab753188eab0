//! Warnings about pods, and about the templates of pods.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, names::dns_label_problems};

use crate::{addresses::warn_of_ip, claim_spec, formats::warn_of_fraction};

/// Warns of a name that is no DNS label.
pub fn hostname(metadata: &Field<'_>, use_of_it: &str, warnings: &mut Vec<String>) {
    let problems = dns_label_problems(metadata.at("name").text());
    if !problems.is_empty() {
        warnings.push(format!(
            "metadata.name: this is used in {use_of_it}, which can result in surprising behavior; a DNS label is \
             recommended: [{}]",
            problems.join(" ")
        ));
    }
}

/// Labels of nodes that have got other names.
const OLD_NODE_LABELS: [(&str, &str); 5] = [
    (
        "beta.kubernetes.io/arch",
        r#"deprecated since v1.14; use "kubernetes.io/arch" instead"#,
    ),
    (
        "beta.kubernetes.io/os",
        r#"deprecated since v1.14; use "kubernetes.io/os" instead"#,
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        r#"deprecated since v1.17; use "topology.kubernetes.io/region" instead"#,
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        r#"deprecated since v1.17; use "topology.kubernetes.io/zone" instead"#,
    ),
    (
        "beta.kubernetes.io/instance-type",
        r#"deprecated since v1.17; use "node.kubernetes.io/instance-type" instead"#,
    ),
];

/// Annotations of pods that do nothing any more.
const OLD_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        r#"non-functional in v1.16+; use the "priorityClassName" field instead"#,
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        r#"non-functional in v1.11+; use the "sysctls" field instead"#,
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        r#"non-functional in v1.11+; use the "sysctls" field instead"#,
    ),
];

/// Kinds of volumes that are gone.
const OLD_VOLUMES: [(&str, &str); 9] = [
    (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "gitRepo",
        "deprecated in v1.11, and disabled by default in v1.33+",
    ),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

const NO_SELECTOR: &str = "a null labelSelector results in matching no pod";

/// A pod, or a template of pods.
pub fn pod(pod: &Field<'_>, warnings: &mut Vec<String>) {
    let spec = pod.at("spec");
    placement(&spec, warnings);
    let annotations = pod.at("metadata").at("annotations");
    for (key, message) in OLD_ANNOTATIONS {
        let annotation = annotations.key(key);
        if annotation.is_set() {
            warnings.push(format!("{}: {message}", annotation.path()));
        }
    }
    for volume in spec.at("volumes").items() {
        for (kind, message) in OLD_VOLUMES {
            let source = volume.at(kind);
            if source.is_set() {
                warnings.push(format!("{}: {message}", source.path()));
            }
        }
        claim_spec::warn(
            &volume.at("ephemeral").at("volumeClaimTemplate").at("spec"),
            warnings,
        );
    }
    duplicates(&spec.at("hostAliases"), "ip", warnings);
    let secrets = spec.at("imagePullSecrets");
    duplicates(&secrets, "name", warnings);
    for name in secrets.items().map(|secret| secret.at("name")) {
        if name.text().is_empty() {
            warnings.push(format!("{}: invalid empty name \"\"", name.path()));
        }
    }
    for amount in ["memory", "ephemeral-storage"] {
        warn_of_fraction(&spec.at("overhead").key(amount), warnings);
    }
    let containers = || {
        ["initContainers", "containers", "ephemeralContainers"]
            .into_iter()
            .flat_map(|list| spec.at(list).items())
    };
    for container in containers() {
        for amount in ["memory", "ephemeral-storage"] {
            for side in ["limits", "requests"] {
                warn_of_fraction(&container.at("resources").at(side).key(amount), warnings);
            }
        }
        variables(&container.at("env"), warnings);
    }
    ports(
        containers().flat_map(|container| container.at("ports").items()),
        warnings,
    );
    let grace = spec.at("terminationGracePeriodSeconds");
    if grace.number() < 0 {
        warnings.push(format!(
            "{}: must be >= 0; negative values are invalid and will be treated as 1",
            grace.path()
        ));
    }
    affinity(&spec.at("affinity"), warnings);
    for server in spec.at("dnsConfig").at("nameservers").items() {
        warn_of_ip(&server, warnings);
    }
    for alias in spec.at("hostAliases").items() {
        warn_of_ip(&alias.at("ip"), warnings);
    }
}

fn old_node_label(label: &str) -> Option<&'static str> {
    let mut old = OLD_NODE_LABELS.iter();
    old.find(|(label_name, _)| *label_name == label)
        .map(|(_, message)| *message)
}

/// Adds warnings about placement by former labels of nodes.
fn placement(spec: &Field<'_>, warnings: &mut Vec<String>) {
    for (label, selected) in spec.at("nodeSelector").entries() {
        if let Some(message) = old_node_label(label) {
            warnings.push(format!("{}: {message}", selected.path()));
        }
    }
    let nodes = spec.at("affinity").at("nodeAffinity");
    let required = nodes.at("requiredDuringSchedulingIgnoredDuringExecution");
    let preferred = nodes.at("preferredDuringSchedulingIgnoredDuringExecution");
    let terms = required.at("nodeSelectorTerms").items();
    let terms = terms.chain(preferred.items().map(|term| term.at("preference")));
    for expression in terms.flat_map(|term| term.at("matchExpressions").items()) {
        is_old(&expression.at("key"), warnings);
    }
    for constraint in spec.at("topologySpreadConstraints").items() {
        is_old(&constraint.at("topologyKey"), warnings);
        needs_selector(&constraint.at("labelSelector"), warnings);
    }
}

fn is_old(key: &Field<'_>, warnings: &mut Vec<String>) {
    if let Some(message) = old_node_label(key.text()) {
        warnings.push(format!("{}: {} is {message}", key.path(), key.text()));
    }
}

fn needs_selector(selector: &Field<'_>, warnings: &mut Vec<String>) {
    if !selector.is_set() {
        warnings.push(format!("{}: {NO_SELECTOR}", selector.path()));
    }
}

fn affinity(affinity: &Field<'_>, warnings: &mut Vec<String>) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let kind = affinity.at(kind);
        let required = kind.at("requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = kind.at("preferredDuringSchedulingIgnoredDuringExecution");
        let terms = preferred.items().map(|term| term.at("podAffinityTerm"));
        for term in required.items().chain(terms) {
            needs_selector(&term.at("labelSelector"), warnings);
        }
    }
}

/// Items of a list that have the same key, of which one would do.
fn duplicates(list: &Field<'_>, key: &'static str, warnings: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for key_of_item in list.items().map(|item| item.at(key)) {
        let text = key_of_item.text();
        if !seen.insert(text) {
            warnings.push(format!("{}: duplicate {key} {text:?}", key_of_item.path()));
        }
    }
}

/// Variables that hide others of their name without referring to them.
fn variables(env: &Field<'_>, warnings: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for variable in env.items() {
        let name = variable.at("name").text();
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let value = variable.at("value").text();
        let extends = value.contains(&reference) && value != reference;
        if variable.at("valueFrom").is_set() || !extends {
            warnings.push(format!(
                "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                variable.path()
            ));
        }
    }
}

/// Ports of all containers, which share one address.
fn ports<'a>(ports: impl Iterator<Item = Field<'a>>, warnings: &mut Vec<String>) {
    let mut seen: Vec<Field<'a>> = Vec::new();
    for port in ports {
        let number = |port: &Field<'_>, field: &'static str| port.at(field).number();
        if port.at("hostIP").has_text() && number(&port, "hostPort") == 0 {
            warnings.push(format!(
                "{}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{} Protocol:{} HostIP:{}}}",
                port.path(),
                port.at("name").text(),
                number(&port, "containerPort"),
                port.at("protocol").text(),
                port.at("hostIP").text(),
            ));
        }
        let same = |other: &&Field<'a>| {
            number(other, "containerPort") == number(&port, "containerPort")
                && other.get("protocol") == port.get("protocol")
        };
        for other in seen.iter().filter(same) {
            let hosts = [number(&port, "hostPort"), number(other, "hostPort")];
            let (address, of_other) = (port.at("hostIP"), other.at("hostIP"));
            let how = if hosts[0] == hosts[1] && address.text() == of_other.text() {
                "duplicate"
            } else if hosts.contains(&0) {
                "overlapping"
            } else if hosts[0] == hosts[1] && (address.has_text() != of_other.has_text()) {
                "dangerously ambiguous"
            } else {
                continue;
            };
            warnings.push(format!(
                "{}: {how} port definition with {}",
                port.path(),
                other.path()
            ));
        }
        seen.push(port);
    }
}
