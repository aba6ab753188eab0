//! Validation of specs of persistent volumes, which volumes and their attachments share.

use fakeserver_value::{field::Field, findings::Findings};

use crate::{
    claim_spec::{VOLUME_MODES, VOLUME_SOURCES, check_access_modes},
    formats::{check_subdomain, quantity},
    pod_spec::validation::{
        placement::check_node_selector,
        sources::{Holder, check_source_of, place_of, second_place},
    },
};

const RECLAIM_POLICIES: [&str; 3] = ["Delete", "Recycle", "Retain"];

const NOT_INLINE: &str = "may not be specified in the context of inline volumes";

/// The object that has the spec of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecHolder<'a> {
    /// A persistent volume of this name.
    Volume(&'a str),
    /// An attachment, which contains the volume.
    Attachment,
}

/// Checks the spec of a volume.
pub fn check_volume_spec(spec: &Field<'_>, of: SpecHolder<'_>, found: &mut Findings) {
    let is_inline = of == SpecHolder::Attachment;
    if is_inline {
        check_inline(spec, found);
    }
    if spec.at("accessModes").is_empty() {
        found.required(&spec.at("accessModes"), "");
    }
    check_access_modes(spec, found);
    if !is_inline {
        check_capacity(spec, found);
    }
    let policy = spec.at("persistentVolumeReclaimPolicy");
    if policy.has_text() && is_inline && policy.text() != "Retain" {
        found.forbidden(
            &policy,
            "may only be Retain in the context of inline volumes",
        );
    } else if policy.has_text() && !is_inline {
        found.one_of(&policy, &RECLAIM_POLICIES);
    }
    let nodes = spec.at("nodeAffinity");
    if nodes.is_set() && is_inline {
        found.forbidden(&nodes, NOT_INLINE);
    } else if nodes.is_set() {
        let required = nodes.at("required");
        if required.is_set() {
            check_node_selector(&required, found);
        } else {
            found.required(&required, "must specify required node constraints");
        }
    }
    check_source(spec, of, found);
    check_class_and_mode(spec, is_inline, found);
}

/// Checks that the spec has nothing that only an object can have.
fn check_inline(spec: &Field<'_>, found: &mut Findings) {
    if spec.at("claimRef").is_set() {
        found.forbidden(&spec.at("claimRef"), NOT_INLINE);
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
}

fn check_capacity(spec: &Field<'_>, found: &mut Findings) {
    let capacity = spec.at("capacity");
    if capacity.is_empty() {
        found.required(&capacity, "");
    }
    if !capacity.key("storage").is_set() || capacity.len() > 1 {
        found.not_supported_as(&capacity, capacity.original(), &["storage"]);
    }
    for (_, amount) in capacity.entries() {
        let value = quantity(amount.value());
        if value.is_negative() {
            let bytes = value.in_units_of(0);
            found.invalid_as(&amount, &bytes.into(), "must be a valid resource quantity");
        }
        if value.is_negative() || value.is_zero() {
            found.invalid(&amount, "must be greater than zero");
        }
    }
}

/// Checks that there is one source, and not more.
fn check_source(spec: &Field<'_>, of: SpecHolder<'_>, found: &mut Findings) {
    let name = match of {
        SpecHolder::Volume(name) => name,
        SpecHolder::Attachment => "",
    };
    let mut is_first = true;
    for kind in VOLUME_SOURCES {
        if !spec.at(kind).is_set() {
            continue;
        }
        if is_first || kind == "flexVolume" {
            check_source_of(kind, &place_of(kind, spec), Holder::Persistent(name), found);
        } else {
            found.forbidden(
                &second_place(kind, spec),
                "may not specify more than 1 volume type",
            );
            continue;
        }
        is_first = false;
        let has_nodes = spec.at("nodeAffinity").is_set() && of != SpecHolder::Attachment;
        if kind == "local" && !has_nodes {
            found.required(
                &spec.at("nodeAffinity"),
                "Local volume requires node affinity",
            );
        }
    }
    if is_first {
        found.required(spec, "must specify a volume type");
    }
    let policy = spec.at("persistentVolumeReclaimPolicy");
    let path = spec.at("hostPath").at("path").text();
    let is_root = path.starts_with('/') && path.split('/').all(|part| matches!(part, "" | "."));
    if policy.text() == "Recycle" && is_root {
        found.forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    }
}

fn check_class_and_mode(spec: &Field<'_>, is_inline: bool, found: &mut Findings) {
    let (class, mode) = (spec.at("storageClassName"), spec.at("volumeMode"));
    if class.has_text() && is_inline {
        found.forbidden(&class, NOT_INLINE);
    } else if class.has_text() {
        check_subdomain(&class, found);
    }
    if mode.is_set() && is_inline && mode.text() != "Filesystem" {
        found.forbidden(
            &mode,
            "may not specify volumeMode other than Filesystem in the context of inline volumes",
        );
    } else if !is_inline {
        found.optional_one_of(&mode, &VOLUME_MODES);
    }
    let attributes = spec.at("volumeAttributesClassName");
    if !attributes.is_set() || is_inline {
        return;
    }
    if attributes.has_text() {
        check_subdomain(&attributes, found);
    } else {
        found.required(&attributes, "an empty string is disallowed");
    }
    if !spec.at("csi").is_set() {
        found.required(
            &spec.at("csi"),
            "has to be specified when using volumeAttributesClassName",
        );
    }
}
