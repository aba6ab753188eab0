//! Validation of claims, and of the templates of claims.

use serde_json::{Value, json};

use crate::{
    kinds::formats::{check_label_selector, check_subdomain, quantity},
    value::{difference::difference, field::Field, findings::Findings, names::dns_label_problems},
};

const ACCESS_MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];

pub(crate) const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];

const DEFINITION: &str = "io.k8s.api.core.v1.PersistentVolumeClaimSpec";

pub(crate) fn check(claim: &Field<'_>, found: &mut Findings) {
    check_claim_spec(&claim.at("spec"), found);
}

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

pub(crate) fn check_claim_spec(spec: &Field<'_>, found: &mut Findings) {
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
    for name in ["storageClassName", "volumeAttributesClassName"] {
        if spec.at(name).has_text() {
            check_subdomain(&spec.at(name), found);
        }
    }
    found.optional_one_of(&spec.at("volumeMode"), &VOLUME_MODES);
    for name in ["dataSource", "dataSourceRef"] {
        check_source(&spec.at(name), found);
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
            source.get("kind"),
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

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let mut was = old.at("spec").value().clone();
    let mut is = new.at("spec").value().clone();
    if !was["volumeName"].is_string() && is["volumeName"].is_string() {
        was["volumeName"] = is["volumeName"].clone();
    }
    if was["storageClassName"].is_null() && is["storageClassName"].is_string() {
        was["storageClassName"] = is["storageClassName"].clone();
    }
    let size = |spec: &Value| spec["resources"]["requests"]["storage"].clone();
    let (size_before, size_after) = (size(&was), size(&is));
    if new.at("status").at("phase").text() == "Bound" && is["resources"]["requests"].is_object() {
        is["resources"]["requests"]["storage"] = size_before.clone();
    }
    let class = was["volumeAttributesClassName"].clone();
    let class_after = is["volumeAttributesClassName"].clone();
    if let Some(is) = is.as_object_mut() {
        is.remove("volumeAttributesClassName");
        if !class.is_null() {
            is.insert("volumeAttributesClassName".to_owned(), class.clone());
        }
    }
    if was != is {
        found.forbidden(
            &new.at("spec"),
            &format!(
                "spec is immutable after creation except resources.requests and volumeAttributesClassName for \
                 bound claims\n{}",
                difference(DEFINITION, &was, &is)
            ),
        );
    }
    let held = quantity(&old.get("status")["capacity"]["storage"]);
    if quantity(&size_after) < quantity(&size_before) && quantity(&size_after) <= held {
        let place = new.at("spec").at("resources").at("requests").at("storage");
        found.forbidden(&place, "field can not be less than status.capacity");
    }
    if old.get("spec")["volumeMode"] != new.get("spec")["volumeMode"] {
        let mode = new.at("spec").at("volumeMode");
        found.invalid(
            &mode.called_within(&Field::root(new.value()), "volumeMode"),
            "field is immutable",
        );
    }
    let place = new.at("spec").at("volumeAttributesClassName");
    if !class.is_null() && class_after.is_null() {
        found.forbidden(&place, "update from non-nil value to nil is forbidden");
    } else if !class.is_null() && class != class_after && class_after == json!("") {
        found.forbidden(
            &place,
            "update from non-nil value to an empty string is forbidden",
        );
    }
}
