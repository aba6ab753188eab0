//! Drivers of storage.

use std::collections::BTreeSet;

use fakeserver_value::{
    edit::set_absent,
    field::Field,
    findings::Findings,
    read::{items, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    AcceptedObject, Habits, Kind, Validation,
    table::cell::{Cells, age, name, or_none},
};

const GROUP_POLICIES: [&str; 3] = ["File", "None", "ReadWriteOnceWithFSType"];

const LIFECYCLE_MODES: [&str; 2] = ["Persistent", "Ephemeral"];

const TOKEN_SECONDS_MIN: i64 = 600;

const TOKEN_SECONDS_MAX: i64 = 1 << 32;

const UPDATE_PERIOD_MIN: i64 = 10;

/// Drivers of storage.
pub static KIND: Kind = Kind::new("storage.k8s.io", "csidrivers")
    .habits(Habits {
        has_generation: true,
        begins_without_generation: true,
        requires_version: true,
        returns_deleted: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update))
    .warnings(warn)
    .cells(cells);

// === Defaults ===

pub fn set_defaults(driver: &mut Value) {
    let spec = &mut driver["spec"];
    for (field, default) in [
        ("attachRequired", json!(true)),
        ("podInfoOnMount", json!(false)),
        ("storageCapacity", json!(false)),
        ("fsGroupPolicy", json!("ReadWriteOnceWithFSType")),
        ("volumeLifecycleModes", json!(["Persistent"])),
        ("requiresRepublish", json!(false)),
        ("seLinuxMount", json!(false)),
    ] {
        set_absent(spec, field, default);
    }
    if spec["volumeLifecycleModes"] == json!([]) {
        spec["volumeLifecycleModes"] = json!(["Persistent"]);
    }
}

// === Validation ===

pub fn check(driver: &Field<'_>, found: &mut Findings) {
    let spec = driver.at("spec");
    found.optional_one_of(&spec.at("fsGroupPolicy"), &GROUP_POLICIES);
    let requests = spec.at("tokenRequests");
    check_token_requests(&requests, found);
    let modes = spec.at("volumeLifecycleModes");
    for mode in modes.items() {
        if !LIFECYCLE_MODES.contains(&mode.text()) {
            found.not_supported(&mode.called_at(&modes), &LIFECYCLE_MODES);
        }
    }
    let period = spec.at("nodeAllocatableUpdatePeriodSeconds");
    if period.is_set() && period.number() < UPDATE_PERIOD_MIN {
        found.invalid(&period, "must be greater than or equal to 10 seconds");
    }
    let in_secrets = spec.at("serviceAccountTokenInSecrets");
    if in_secrets.is_set() && requests.is_empty() {
        found.invalid(
            &in_secrets,
            "serviceAccountTokenInSecrets is set but no tokenRequests are specified",
        );
    }
}

fn check_token_requests(requests: &Field<'_>, found: &mut Findings) {
    let mut audiences = BTreeSet::new();
    for request in requests.items() {
        let audience = request.at("audience");
        if !audiences.insert(audience.text()) {
            found.duplicate_as(&audience, &json!(audience.text()));
            continue;
        }
        let seconds = request.at("expirationSeconds");
        if !seconds.is_set() {
            continue;
        }
        if seconds.number() < TOKEN_SECONDS_MIN {
            found.invalid(&seconds, "may not specify a duration less than 10 minutes");
        }
        if seconds.number() > TOKEN_SECONDS_MAX {
            found.invalid(
                &seconds,
                "may not specify a duration larger than 2^32 seconds",
            );
        }
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let (was, is) = (old.at("spec"), new.at("spec"));
    // Findings misspell this field.
    found.immutable(
        &is.at("attachRequired")
            .called_within(&is, "attachedRequired"),
        &was.at("attachRequired"),
    );
    found.immutable(
        &is.at("volumeLifecycleModes"),
        &was.at("volumeLifecycleModes"),
    );
}

// === Warnings ===

pub fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    if !accepted.is_on("CSIServiceAccountTokenSecrets") {
        return;
    }
    let spec = accepted.object.at("spec");
    let was = accepted.old.at("spec");
    let has_changed = was.get("tokenRequests") != spec.get("tokenRequests");
    if has_changed
        && !spec.at("tokenRequests").is_empty()
        && !spec.at("serviceAccountTokenInSecrets").is_set()
    {
        warnings.push(
            "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent \
             possible logging of tokens in volume attributes"
                .to_owned(),
        );
    }
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    let joined = |values: Vec<&str>| values.join(",");
    let modes = items(&spec["volumeLifecycleModes"]).iter().map(text);
    let audiences = match &spec["tokenRequests"] {
        Value::Null => "<unset>".to_owned(),
        requests => {
            let requests = items(requests).iter();
            joined(requests.map(|request| text(&request["audience"])).collect())
        }
    };
    vec![
        json!(name(object)),
        json!(spec["attachRequired"] != false),
        json!(spec["podInfoOnMount"] == true),
        json!(spec["storageCapacity"] == true),
        json!(audiences),
        json!(spec["requiresRepublish"] == true),
        json!(or_none(joined(modes.collect()))),
        json!(age(object, now)),
    ]
}
