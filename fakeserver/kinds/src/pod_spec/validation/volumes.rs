//! Validation of volumes.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::json;

use crate::{
    claim_spec,
    formats::{check_annotations, check_label, check_labels, quantity},
    pod_spec::validation::{
        env::{check_pod_field, check_resource_field},
        sources::{self, Holder, ISCSI_NAME, ISCSI_NAME_MAX_BYTES, place_of, second_place},
    },
};

/// Every kind of source, in the order in which they are looked at.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

const HOST_PATH_TYPES: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

const PULL_POLICIES: [&str; 3] = ["Always", "IfNotPresent", "Never"];

/// Fields of a pod that a file may tell.
const FILE_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

const MODES: &str = "must be a number between 0 and 0777 (octal), both inclusive";

const MORE_THAN_ONE: &str = "may not specify more than 1 volume type";

const TOKEN_SECONDS_MIN: i64 = 600;

/// A volume that containers can mount.
pub struct Volume<'a> {
    pub(super) name: &'a str,
    /// True if it can be used as a device.
    pub(super) is_claim: bool,
}

/// Checks all volumes, and returns those without findings.
pub fn check_volumes<'a>(volumes: &Field<'a>, found: &mut Findings) -> Vec<Volume<'a>> {
    let mut valid: Vec<Volume<'a>> = Vec::new();
    for volume in volumes.items() {
        let name = volume.at("name");
        let before = found.count();
        check_source(&volume, found);
        if name.has_text() {
            check_label(&name, found);
        } else {
            found.required(&name, "");
        }
        if valid.iter().any(|other| other.name == name.text()) {
            found.duplicate(&name);
        }
        if found.count() == before {
            valid.push(Volume {
                name: name.text(),
                is_claim: volume.at("persistentVolumeClaim").is_set()
                    || volume.at("ephemeral").is_set(),
            });
        }
    }
    valid
}

fn check_source(volume: &Field<'_>, found: &mut Findings) {
    let mut given = SOURCES
        .iter()
        .map(|kind| (*kind, volume.at(kind)))
        .filter(|(_, source)| source.is_set());
    let Some((kind, _)) = given.next() else {
        found.required(volume, "must specify a volume type");
        return;
    };
    check_source_of(kind, &place_of(kind, volume), found);
    for (kind, _) in given {
        found.forbidden(&second_place(kind, volume), MORE_THAN_ONE);
    }
    let portal = volume.at("iscsi").at("targetPortal");
    let name = volume.at("name");
    if volume.at("iscsi").at("initiatorName").is_set()
        && name.text().len() + 1 + portal.text().len() > ISCSI_NAME_MAX_BYTES
    {
        found.invalid_text(&name, ISCSI_NAME);
    }
}

fn check_source_of(kind: &str, source: &Field<'_>, found: &mut Findings) {
    let mut require = |names: &[&'static str]| {
        for name in names {
            if !source.at(name).has_text() {
                found.required(&source.at(name), "");
            }
        }
    };
    match kind {
        "persistentVolumeClaim" => require(&["claimName"]),
        "gitRepo" => {
            require(&["repository"]);
            check_descending(&source.at("directory"), found);
        }
        "emptyDir" => {
            let size = source.at("sizeLimit");
            if size.is_set() && quantity(size.value()).is_negative() {
                found.forbidden(&size, "SizeLimit field must be a valid resource quantity");
            }
        }
        "secret" => {
            require(&["secretName"]);
            check_files(source, found);
        }
        "configMap" => {
            require(&["name"]);
            check_files(source, found);
        }
        "downwardAPI" => {
            check_mode(&source.at("defaultMode"), found);
            for file in source.at("items").items() {
                check_downward_file(&file, found);
            }
        }
        "projected" => check_projected(source, found),
        "ephemeral" => {
            let template = source.at("volumeClaimTemplate");
            if template.is_set() {
                let metadata = template.at("metadata");
                check_annotations(&metadata.at("annotations"), found);
                check_labels(&metadata.at("labels"), found);
                claim_spec::check(&template.at("spec"), found);
            } else {
                found.required(&template, "");
            }
        }
        "image" => {
            let policy = source.at("pullPolicy");
            if policy.has_text() {
                found.one_of(&policy, &PULL_POLICIES);
            }
        }
        _ => sources::check_source_of(kind, source, Holder::Pod, found),
    }
}

/// A path of the host, of a kind.
pub fn check_host_path(source: &Field<'_>, found: &mut Findings) {
    let path = source.at("path");
    if path.has_text() {
        check_no_backsteps(&path, found);
        found.optional_one_of(&source.at("type"), &HOST_PATH_TYPES);
    } else {
        found.required(&path, "");
    }
}

pub(super) fn check_no_backsteps(path: &Field<'_>, found: &mut Findings) {
    if path.text().split('/').any(|part| part == "..") {
        found.invalid(path, "must not contain '..'");
    }
}

/// A path that leads down from where it is used.
pub fn check_descending(path: &Field<'_>, found: &mut Findings) {
    if path.text().starts_with('/') {
        found.invalid(path, "must be a relative path");
    }
    check_no_backsteps(path, found);
}

fn check_file_path(path: &Field<'_>, found: &mut Findings) {
    if !path.has_text() {
        found.required(path, "");
        return;
    }
    check_descending(path, found);
    if path.text().starts_with("..") && !path.text().starts_with("../") {
        found.invalid(path, "must not start with '..'");
    }
}

fn check_mode(mode: &Field<'_>, found: &mut Findings) {
    if mode.is_set() && !(0..=0o777).contains(&mode.number()) {
        found.invalid(mode, MODES);
    }
}

/// The keys of a secret or a config map that become files.
fn check_files(source: &Field<'_>, found: &mut Findings) {
    check_mode(&source.at("defaultMode"), found);
    for item in source.at("items").items() {
        if !item.at("key").has_text() {
            found.required(&item.at("key"), "");
        }
        check_file_path(&item.at("path"), found);
        check_mode(&item.at("mode"), found);
    }
}

fn check_downward_file(file: &Field<'_>, found: &mut Findings) {
    check_file_path(&file.at("path"), found);
    let (field, resource) = (file.at("fieldRef"), file.at("resourceFieldRef"));
    if field.is_set() {
        check_pod_field(&field, &FILE_FIELDS, found);
        if resource.is_set() {
            found.invalid_as(
                file,
                &json!("resource"),
                "fieldRef and resourceFieldRef can not be specified simultaneously",
            );
        }
    } else if resource.is_set() {
        check_resource_field(&resource, true, found);
    } else {
        found.required(file, "one of fieldRef and resourceFieldRef is required");
    }
    check_mode(&file.at("mode"), found);
}

fn check_projected(source: &Field<'_>, found: &mut Findings) {
    check_mode(&source.at("defaultMode"), found);
    let kinds = [
        "secret",
        "configMap",
        "downwardAPI",
        "serviceAccountToken",
        "clusterTrustBundle",
        "podCertificate",
    ];
    let mut paths = BTreeSet::new();
    for projection in source.at("sources").items() {
        let mut given = kinds.iter().filter(|kind| projection.at(kind).is_set());
        let Some(kind) = given.next() else {
            found.required(&projection, "must specify a volume type");
            continue;
        };
        for second in given {
            found.forbidden(&projection.at(second), MORE_THAN_ONE);
        }
        let part = projection.at(kind);
        match *kind {
            "secret" | "configMap" => {
                if !part.at("name").has_text() {
                    found.required(&part.at("name"), "");
                }
                check_files(&part, found);
            }
            "downwardAPI" => {
                for file in part.at("items").items() {
                    check_downward_file(&file, found);
                }
            }
            "serviceAccountToken" => {
                let seconds = part.at("expirationSeconds");
                if seconds.number() < TOKEN_SECONDS_MIN {
                    found.invalid(&seconds, "may not specify a duration less than 10 minutes");
                }
                check_file_path(&part.at("path"), found);
            }
            _ => {}
        }
        let files = part.at("items");
        let own = part.at("path");
        for path in files.items().map(|item| item.at("path")).chain([own]) {
            if path.has_text() && !paths.insert(path.text()) {
                found.invalid_as(source, &json!(path.text()), "conflicting duplicate paths");
            }
        }
    }
}
