//! Attachments of volumes to nodes.

use fakeserver_value::{edit::within, field::Field, findings::Findings, read::text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, PreservedMetadata, Validation,
    formats::{check_driver_name, check_subdomain},
    pod_spec::{
        defaults::set_source_defaults,
        validation::persistent::{SpecHolder, check_volume_spec},
    },
    table::cell::{Cells, NONE, age, name, text_or},
};

const SPEC: &str = "io.k8s.api.storage.v1.VolumeAttachmentSpec";

const METADATA_MAX_BYTES: usize = 256 << 10;

const MESSAGE_MAX_BYTES: usize = 1024;

/// The change by which updates check the names that only new attachments had to have.
const ONE_CHECK_OF_NAMES: &str = "VolumeAttachmentNamesCheckedInUpdates";

const ONE_SOURCE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

/// Attachments of volumes to nodes.
pub static KIND: Kind = Kind::new("storage.k8s.io", "volumeattachments")
    .habits(Habits {
        requires_version: true,
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::WHOLE,
        kept_by_status: PreservedMetadata::ALL,
        subresource_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(
        Validation::new(check, check_update)
            .with(&[("status", check_update)])
            .repeated_without("VolumeAttachmentUpdateCheckedOnce", check_common),
    )
    .cells(cells);

// === Defaults ===

fn set_defaults(attachment: &mut Value) {
    if let Some(spec) = within(&mut attachment["spec"]["source"], "inlineVolumeSpec") {
        set_source_defaults(spec);
    }
}

// === Validation ===

pub fn check(attachment: &Field<'_>, found: &mut Findings) {
    check_common(attachment, found);
    let spec = attachment.at("spec");
    if !found.is_on(ONE_CHECK_OF_NAMES) {
        check_driver_name(&spec.at("attacher"), found);
    }
    check_volume_name(&spec, found);
}

/// Checks what a new attachment and an updated one have to fulfil.
fn check_common(attachment: &Field<'_>, found: &mut Findings) {
    let spec = attachment.at("spec");
    let attacher = spec.at("attacher");
    if found.is_on(ONE_CHECK_OF_NAMES) {
        check_driver_name(&attacher, found);
    } else if !attacher.has_text() {
        found.required(&attacher, "");
    }
    check_source(&spec.at("source"), found);
    check_subdomain(&spec.at("nodeName"), found);
    check_status(&attachment.at("status"), found);
}

fn check_volume_name(spec: &Field<'_>, found: &mut Findings) {
    let name = spec.at("source").at("persistentVolumeName");
    if name.is_set() {
        check_subdomain(&name, found);
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
        (false, true) => check_volume_spec(&inline, SpecHolder::Attachment, found),
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

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_common(new, found);
    let spec = new.at("spec");
    if found.is_on(ONE_CHECK_OF_NAMES) {
        check_volume_name(&spec, found);
    }
    if old.get("spec") != spec.value() {
        found.invalid_struct(&spec, SPEC, "field is immutable");
    }
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
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
