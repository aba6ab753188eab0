//! Attachments of volumes to nodes.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    kinds::{
        Habits, Kind, MetadataRechecks, Validation,
        claim_spec::{VOLUME_SOURCES, check_access_modes},
        formats::{check_driver_name, check_subdomain},
        table::cell::{Cells, NONE, age, name, text, text_or},
    },
    value::{field::Field, findings::Findings},
};

const SPEC: &str = "io.k8s.api.storage.v1.VolumeAttachmentSpec";

const METADATA_MAX_BYTES: usize = 256 << 10;

const MESSAGE_MAX_BYTES: usize = 1024;

const NOT_INLINE: &str = "may not be specified in the context of inline volumes";

const ONE_SOURCE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

/// Attachments of volumes to nodes.
pub(crate) static KIND: Kind = Kind::new("storage.k8s.io", "volumeattachments")
    .habits(Habits {
        requires_version: true,
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::WHOLE,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update).with(&[("status", check_update)]))
    .cells(cells);

// === Validation ===

pub(crate) fn check(attachment: &Field<'_>, found: &mut Findings) {
    let spec = attachment.at("spec");
    check_driver_name(&spec.at("attacher"), found);
    let source = spec.at("source");
    check_source(&source, found);
    check_subdomain(&spec.at("nodeName"), found);
    check_status(&attachment.at("status"), found);
    if source.at("persistentVolumeName").is_set() {
        check_subdomain(&source.at("persistentVolumeName"), found);
    }
}

fn check_source(source: &Field<'_>, found: &mut Findings) {
    let (volume, inline) = (
        source.at("persistentVolumeName"),
        source.at("inlineVolumeSpec"),
    );
    match (volume.is_set(), inline.is_set()) {
        (false, false) => found.required(source, ONE_SOURCE),
        (true, true) => found.forbidden(source, ONE_SOURCE),
        (true, false) if !volume.has_text() => {
            found.required(&volume, "must specify non empty persistentVolumeName");
        }
        (true, false) => {}
        (false, true) => check_inline(&inline, found),
    }
}

/// Checks the spec of a volume that an attachment contains.
fn check_inline(spec: &Field<'_>, found: &mut Findings) {
    for name in ["claimRef", "nodeAffinity"] {
        if spec.at(name).is_set() {
            found.forbidden(&spec.at(name), NOT_INLINE);
        }
    }
    if !spec.at("capacity").is_empty() {
        found.forbidden(&spec.at("capacity"), NOT_INLINE);
    }
    if !spec.at("csi").is_set() {
        found.required(
            &spec.at("csi"),
            "has to be specified in the context of inline volumes",
        );
    }
    if spec.at("accessModes").is_empty() {
        found.required(&spec.at("accessModes"), "");
    }
    check_access_modes(spec, found);
    let policy = spec.at("persistentVolumeReclaimPolicy");
    if policy.has_text() && policy.text() != "Retain" {
        found.forbidden(
            &policy,
            "may only be Retain in the context of inline volumes",
        );
    }
    if !VOLUME_SOURCES.iter().any(|kind| spec.at(kind).is_set()) {
        found.required(spec, "must specify a volume type");
    }
    for name in ["driver", "volumeHandle"] {
        if spec.at("csi").is_set() && !spec.at("csi").at(name).has_text() {
            found.required(&spec.at("csi").at(name), "");
        }
    }
}

fn check_status(status: &Field<'_>, found: &mut Findings) {
    let metadata = status.at("attachmentMetadata");
    let bytes = metadata
        .entries()
        .map(|(key, value)| key.len() + value.text().len());
    if bytes.sum::<usize>() > METADATA_MAX_BYTES {
        found.too_long(&metadata, METADATA_MAX_BYTES);
    }
    for name in ["attachError", "detachError"] {
        let error = status.at(name);
        let message = error.at("message");
        if message.text().len() > MESSAGE_MAX_BYTES {
            found.too_long(&message, METADATA_MAX_BYTES);
        }
        let code = error.at("errorCode");
        if code.number() < 0 {
            found.invalid(&code, "must be between 0 and 2147483647, inclusive");
        }
    }
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let spec = new.at("spec");
    if old.get("spec") != spec.value() {
        found.invalid_struct(&spec, SPEC, "field is immutable");
    }
}

// === Cells ===

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    vec![
        json!(name(object)),
        json!(text(&spec["attacher"])),
        json!(text_or(&spec["source"]["persistentVolumeName"], NONE)),
        json!(text(&spec["nodeName"])),
        json!(object["status"]["attached"] == true),
        json!(age(object, now)),
    ]
}
