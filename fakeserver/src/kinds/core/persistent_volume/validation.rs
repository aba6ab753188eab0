//! Validation of persistent volumes.

use serde_json::{Map, Value};

use crate::{
    kinds::{
        claim_spec::{VOLUME_MODES, VOLUME_SOURCES, check_access_modes},
        formats::{check_subdomain, quantity},
        pod_spec::validation::{
            placement::{NODE_SELECTOR_DEFINITION, check_node_selector},
            volumes::check_host_path,
        },
    },
    value::{difference::difference, field::Field, findings::Findings},
};

const SOURCE: &str = "io.k8s.api.core.v1.PersistentVolumeSource";

const RECLAIM_POLICIES: [&str; 3] = ["Delete", "Recycle", "Retain"];

pub(crate) fn check(volume: &Field<'_>, found: &mut Findings) {
    let spec = volume.at("spec");
    if spec.at("accessModes").is_empty() {
        found.required(&spec.at("accessModes"), "");
    }
    check_access_modes(&spec, found);
    check_capacity(&spec, found);
    let policy = spec.at("persistentVolumeReclaimPolicy");
    if policy.has_text() && !RECLAIM_POLICIES.contains(&policy.text()) {
        found.not_supported(&policy, &RECLAIM_POLICIES);
    }
    let required = spec.at("nodeAffinity").at("required");
    if required.is_set() {
        check_node_selector(&required, found);
    } else if spec.at("nodeAffinity").is_set() {
        found.required(&required, "must specify required node constraints");
    }
    check_source(&spec, required.is_set(), found);
    let path = spec.at("hostPath").at("path").text();
    if policy.text() == "Recycle" && !path.is_empty() && path.trim_matches('/').is_empty() {
        found.forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    }
    if spec.at("storageClassName").has_text() {
        check_subdomain(&spec.at("storageClassName"), found);
    }
    found.optional_one_of(&spec.at("volumeMode"), &VOLUME_MODES);
}

fn check_capacity(spec: &Field<'_>, found: &mut Findings) {
    let capacity = spec.at("capacity");
    if capacity.is_empty() {
        found.required(&capacity, "");
    }
    if !capacity.key("storage").is_set() || capacity.len() > 1 {
        found.not_supported(&capacity, &["storage"]);
    }
    for (_, amount) in capacity.entries() {
        let value = quantity(amount.value());
        if value.is_negative() || value.is_zero() {
            found.invalid(&amount, "must be greater than zero");
        }
    }
}

/// One source, and not more.
fn check_source(spec: &Field<'_>, has_nodes: bool, found: &mut Findings) {
    let mut given = VOLUME_SOURCES
        .iter()
        .map(|kind| (*kind, spec.at(kind)))
        .filter(|(_, source)| source.is_set());
    let Some((kind, source)) = given.next() else {
        found.required(spec, "must specify a volume type");
        return;
    };
    let needed: &[&str] = match kind {
        "hostPath" => {
            check_host_path(&source, found);
            &[]
        }
        "local" => {
            if !has_nodes {
                found.required(
                    &spec.at("nodeAffinity"),
                    "Local volume requires node affinity",
                );
            }
            &["path"]
        }
        "nfs" => &["server", "path"],
        "csi" => &["driver", "volumeHandle"],
        "gcePersistentDisk" => &["pdName"],
        "awsElasticBlockStore" | "cinder" | "portworxVolume" => &["volumeID"],
        "iscsi" => &["targetPortal", "iqn"],
        "azureDisk" => &["diskName", "diskURI"],
        "flexVolume" => &["driver"],
        _ => &[],
    };
    for name in needed {
        if !source.at(name).has_text() {
            found.required(&source.at(name), "");
        }
    }
    for (_, source) in given {
        found.forbidden(&source, "may not specify more than 1 volume type");
    }
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let source = |volume: &Field<'_>| -> Value {
        let spec = volume.at("spec");
        let given = VOLUME_SOURCES.iter().filter(|kind| spec.at(kind).is_set());
        given
            .map(|kind| ((*kind).to_owned(), spec.get(kind).clone()))
            .collect::<Map<_, _>>()
            .into()
    };
    let (before, mut after) = (source(old), source(new));
    let secret = "controllerExpandSecretRef";
    if before["csi"].is_object() && before["csi"][secret].is_null() && after["csi"].is_object() {
        let csi = after["csi"].as_object_mut();
        csi.map(|csi| csi.remove(secret));
    }
    if before != after {
        let place = new.at("spec").at("persistentvolumesource");
        let diff = difference(SOURCE, &before, &after);
        found.forbidden(
            &place,
            &format!("spec.persistentvolumesource is immutable after creation\n{diff}"),
        );
    }
    let (was, is) = (old.at("spec"), new.at("spec"));
    let root = Field::root(new.value());
    found.immutable(
        &is.at("volumeMode").called_within(&root, "volumeMode"),
        &was.at("volumeMode"),
    );
    let nodes = is.at("nodeAffinity");
    if was.at("nodeAffinity").is_set() && was.get("nodeAffinity") != nodes.value() {
        found.invalid_struct(
            &nodes.called_within(&root, "nodeAffinity"),
            &NODE_SELECTOR_DEFINITION.replace("NodeSelector", "VolumeNodeAffinity"),
            "field is immutable",
        );
    }
}
