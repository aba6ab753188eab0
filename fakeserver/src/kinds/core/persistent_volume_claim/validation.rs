//! Validation of claims.

use serde_json::{Value, json};

use crate::{
    kinds::{claim_spec, formats::quantity},
    value::{difference::difference, field::Field, findings::Findings},
};

const DEFINITION: &str = "io.k8s.api.core.v1.PersistentVolumeClaimSpec";

pub(crate) fn check(claim: &Field<'_>, found: &mut Findings) {
    claim_spec::check(&claim.at("spec"), found);
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
