//! What is accepted, and yet not what its author will have meant: the client is told in a `Warning` header each.

mod pod;
#[cfg(test)]
mod tests;

use serde_json::Value;

use self::pod::pod;
use super::{field::Field, names::dns_label_problems};
use crate::schema::Quantity;

const INGRESS_CLASS: &str = "kubernetes.io/ingress.class";
const STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

/// What a client should know of an object that it writes; `old` is what it replaces.
#[doc(alias = "WarningsOnCreate")]
#[doc(alias = "WarningsOnUpdate")]
pub(crate) fn object_warnings(
    (group, plural): (&str, &str),
    object: &Value,
    old: Option<&Value>,
) -> Vec<String> {
    let mut told = Vec::new();
    let is_new = old.is_none();
    let object = Field::root(object);
    let metadata = object.at("metadata");
    // Of an update, only a new version of what is wanted is looked at.
    let is_next = old.is_none_or(|old| {
        let generation = Field::root(old).at("metadata").at("generation").number();
        generation != metadata.at("generation").number()
    });
    match (group, plural) {
        // People do not update pods themselves.
        ("", "pods") if is_new => {
            hostname(&metadata, "the Pod's hostname", &mut told);
            pod(&object, &mut told);
        }
        ("", "podtemplates") if is_next => pod(&object.at("template"), &mut told),
        ("", "replicationcontrollers") | ("apps", "replicasets") => {
            named_pods(is_new, &metadata, &mut told);
        }
        ("apps", "deployments") | ("batch", "jobs") => {
            named_pods(is_new, &metadata, &mut told);
            template(is_next, &object, &mut told);
        }
        ("apps", "statefulsets") => {
            template(is_next, &object, &mut told);
            stateful_set(&object.at("spec"), &mut told);
        }
        ("apps", "daemonsets") => template(is_next, &object, &mut told),
        ("batch", "cronjobs") => {
            named_pods(is_new, &metadata, &mut told);
            template(is_next, &object.at("spec").at("jobTemplate"), &mut told);
        }
        ("", "services") => service(&object, &mut told),
        ("", "persistentvolumeclaims") => {
            annotation(&metadata, STORAGE_CLASS, &mut told);
            claim(&object.at("spec"), &mut told);
        }
        ("", "persistentvolumes") => volume(&object, &mut told),
        ("networking.k8s.io", "ingresses") if is_new => ingress(&object, &mut told),
        _ => {}
    }
    told
}

/// Says that pods get a name from which no good hostname can be made.
fn named_pods(is_new: bool, metadata: &Field<'_>, told: &mut Vec<String>) {
    if is_new {
        hostname(metadata, "Pod names and hostnames", told);
    }
}

fn hostname(metadata: &Field<'_>, use_of_it: &str, told: &mut Vec<String>) {
    let problems = dns_label_problems(metadata.at("name").text());
    if !problems.is_empty() {
        told.push(format!(
            "metadata.name: this is used in {use_of_it}, which can result in surprising behavior; a DNS label is \
             recommended: [{}]",
            problems.join(" ")
        ));
    }
}

fn template(is_next: bool, object: &Field<'_>, told: &mut Vec<String>) {
    if is_next {
        pod(&object.at("spec").at("template"), told);
    }
}

/// Bytes come whole.
fn fraction(amount: &Field<'_>, told: &mut Vec<String>) {
    let quantity = amount.text().parse::<Quantity>();
    if quantity.is_ok_and(|quantity| quantity.as_integer().is_none()) {
        told.push(format!(
            "{}: fractional byte value {:?} is invalid, must be an integer",
            amount.path(),
            amount.text()
        ));
    }
}

fn claim(spec: &Field<'_>, told: &mut Vec<String>) {
    for side in ["requests", "limits"] {
        fraction(&spec.at("resources").at(side).key("storage"), told);
    }
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
        claim(&template.at("spec"), told);
    }
}

fn annotation(metadata: &Field<'_>, key: &str, told: &mut Vec<String>) {
    let annotation = metadata.at("annotations").key(key);
    if annotation.is_set() {
        told.push(format!(
            "{}: deprecated since v1.8; use \"storageClassName\" attribute instead",
            annotation.path()
        ));
    }
}

fn volume(volume: &Field<'_>, told: &mut Vec<String>) {
    annotation(&volume.at("metadata"), STORAGE_CLASS, told);
    let policy = volume.at("spec").at("persistentVolumeReclaimPolicy");
    if policy.text() == "Recycle" {
        told.push(format!(
            "{}: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic \
             provisioning.",
            policy.path()
        ));
    }
}

fn ingress(ingress: &Field<'_>, told: &mut Vec<String>) {
    let annotation = ingress.at("metadata").at("annotations").key(INGRESS_CLASS);
    if annotation.is_set() && !ingress.at("spec").at("ingressClassName").is_set() {
        told.push(format!(
            "annotation {INGRESS_CLASS:?} is deprecated, please use 'spec.ingressClassName' instead"
        ));
    }
}

fn service(service: &Field<'_>, told: &mut Vec<String>) {
    let spec = service.at("spec");
    let hints = "service.kubernetes.io/topology-aware-hints";
    if service.at("metadata").at("annotations").key(hints).is_set() {
        told.push(format!(
            "annotation {hints} is deprecated, please use service.kubernetes.io/topology-mode instead"
        ));
    }
    let kind = spec.at("type").text();
    let is_external = kind == "ExternalName";
    let is_headless = kind == "ClusterIP" && spec.at("clusterIP").text() == "None";
    let has_addresses = !spec.at("externalIPs").is_empty();
    let mut tell = |text: &str| told.push(text.to_owned());
    if is_headless {
        if spec.at("loadBalancerIP").has_text() {
            tell("spec.loadBalancerIP is ignored for headless services");
        }
        if has_addresses {
            tell("spec.externalIPs is ignored for headless services");
        }
        if spec.at("sessionAffinity").text() != "None" {
            tell("spec.SessionAffinity is ignored for headless services");
        }
    } else if has_addresses && !is_external {
        tell("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    if is_external && has_addresses {
        tell("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if !is_external && spec.at("externalName").has_text() {
        tell("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    if spec.at("trafficDistribution").text() == "PreferClose" {
        tell("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
}
