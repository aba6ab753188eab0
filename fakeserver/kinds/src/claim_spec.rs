//! Specs of claims: rules that claims and templates of claims share.

use fakeserver_value::{
    edit::{remove, set_absent, within},
    field::Field,
    findings::Findings,
    names::dns_label_problems,
    read::text,
};
use serde_json::{Value, json};

use crate::{
    formats::{check_label_selector, check_subdomain, quantity, warn_of_fraction},
    resource_names::round_resources,
};

const ACCESS_MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];

/// The fields of volumes of which each has one.
pub(crate) const VOLUME_SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

pub(crate) const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];

// === Defaults ===

/// Sets the defaults of the spec of a claim.
pub(crate) fn set_defaults(spec: &mut Value) {
    set_absent(spec, "volumeMode", json!("Filesystem"));
    if let Some(resources) = within(spec, "resources") {
        round_resources(resources);
    }
}

// === Sources of data ===

/// Drops the source of data that a claim cannot have, and makes the two fields of a source equal. `old` is the spec that
/// is replaced, or null.
pub(crate) fn set_data_sources(old: &Value, spec: &mut Value) {
    let has = |spec: &Value, field: &str| !spec[field].is_null();
    let namespace = spec["dataSourceRef"]["namespace"].as_str();
    if namespace.is_some_and(|namespace| !namespace.is_empty()) && !has(old, "dataSourceRef") {
        remove(spec, "dataSourceRef");
    }
    let had_source = has(old, "dataSource") || has(old, "dataSourceRef");
    if !had_source && !has(spec, "dataSourceRef") && !is_known_source(&spec["dataSource"]) {
        remove(spec, "dataSource");
    }
    let namespace = spec["dataSourceRef"]["namespace"].as_str();
    let is_local = namespace.is_none_or(str::is_empty);
    if has(spec, "dataSource") && !has(spec, "dataSourceRef") {
        spec["dataSourceRef"] = spec["dataSource"].clone();
    } else if has(spec, "dataSourceRef") && !has(spec, "dataSource") && is_local {
        let mut source = spec["dataSourceRef"].clone();
        remove(&mut source, "namespace");
        spec["dataSource"] = source;
    }
}

/// Returns whether the older field may name such a source: a claim or a snapshot.
fn is_known_source(source: &Value) -> bool {
    let group = text(&source["apiGroup"]);
    match source["kind"].as_str() {
        Some("PersistentVolumeClaim") => group.is_empty(),
        Some("VolumeSnapshot") => group == "snapshot.storage.k8s.io",
        _ => false,
    }
}

// === Validation ===

/// Checks the access modes of a claim, or of a volume.
pub(crate) fn check_access_modes(spec: &Field<'_>, found: &mut Findings) {
    let modes = spec.at("accessModes");
    let (mut has_exclusive, mut has_other) = (false, false);
    for mode in modes.items() {
        if !ACCESS_MODES.contains(&mode.text()) {
            found.not_supported(&mode.called_at(&modes), &ACCESS_MODES);
        } else if mode.text() == "ReadWriteOncePod" {
            has_exclusive = true;
        } else {
            has_other = true;
        }
    }
    if has_exclusive && has_other {
        found.forbidden(
            &modes,
            "may not use ReadWriteOncePod with other access modes",
        );
    }
}

/// Checks the spec of a claim.
pub(crate) fn check(spec: &Field<'_>, found: &mut Findings) {
    if spec.at("accessModes").is_empty() {
        found.required(
            &spec.at("accessModes"),
            "at least 1 access mode is required",
        );
    }
    check_label_selector(&spec.at("selector"), found);
    check_access_modes(spec, found);
    let size = spec.at("resources").at("requests").at("storage");
    let place = size.called_at(&spec.at("resources").key("storage"));
    let amount = quantity(size.value());
    if !size.is_set() {
        found.required(&place, "");
    } else if amount.is_zero() || amount.is_negative() {
        found.invalid(&place, "must be greater than zero");
    }
    if spec.at("storageClassName").has_text() {
        check_subdomain(&spec.at("storageClassName"), found);
    }
    found.optional_one_of(&spec.at("volumeMode"), &VOLUME_MODES);
    check_sources(spec, found);
    if spec.at("volumeAttributesClassName").has_text() {
        check_subdomain(&spec.at("volumeAttributesClassName"), found);
    }
}

fn check_sources(spec: &Field<'_>, found: &mut Findings) {
    let (source, reference) = (spec.at("dataSource"), spec.at("dataSourceRef"));
    check_source(&source, found);
    check_source(&reference, found);
    if !source.is_set() || !reference.is_set() {
        return;
    }
    let differs = ["apiGroup", "kind", "name"]
        .iter()
        .any(|name| source.get(name) != reference.get(name));
    if reference.at("namespace").has_text() {
        let why = "may not be specified when dataSourceRef.namespace is specified";
        found.invalid_as(spec, &json!({}), why);
    } else if differs {
        found.invalid_as(spec, &json!({}), "must match dataSourceRef");
    }
}

fn check_source(source: &Field<'_>, found: &mut Findings) {
    if !source.is_set() {
        return;
    }
    for name in ["name", "kind"] {
        if !source.at(name).has_text() {
            found.required(&source.at(name), "");
        }
    }
    let group = source.at("apiGroup");
    if !group.has_text() && source.at("kind").text() != "PersistentVolumeClaim" {
        found.invalid_as(
            source,
            &json!(source.at("kind").text()),
            "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
        );
    }
    if group.has_text() {
        check_subdomain(&group, found);
    }
    let namespace = source.at("namespace");
    if namespace.has_text() {
        found.problems(&namespace, dns_label_problems(namespace.text()));
    }
}

// === Warnings ===

/// Warns of amounts of storage that are no whole bytes.
pub(crate) fn warn(spec: &Field<'_>, warnings: &mut Vec<String>) {
    for side in ["requests", "limits"] {
        warn_of_fraction(&spec.at("resources").at(side).key("storage"), warnings);
    }
}
