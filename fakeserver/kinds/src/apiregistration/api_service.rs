//! API services.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_value::{
    edit::{set_absent, within},
    field::Field,
    findings::Findings,
    names::{path_segment_problems, service_name_problems, subdomain_problems},
    read::{items, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, PreservedMetadata, Validation,
    formats::CONDITION_STATUSES,
    table::cell::{Cells, age, name},
};

/// The label of API services that the server makes.
pub const AUTO_MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";
/// The port of a service that names none.
pub(super) const PORT: u16 = 443;
const GROUP_PRIORITY_MAX: i64 = 20_000;
const VERSION_PRIORITY_MAX: i64 = 1_000;

/// API services.
pub static KIND: Kind = Kind::new("apiregistration.k8s.io", "apiservices")
    .habits(Habits {
        requires_version: true,
        checks_finalizers: false,
        metadata_rechecks: MetadataRechecks::ALL,
        kept_by_status: PreservedMetadata::ALL,
        ..Habits::COMMON
    })
    .names(path_segment_problems)
    .defaults(set_defaults)
    .validation(
        Validation::new(check, |_, new, found| check(new, found))
            .with(&[("status", |_, new, found| check_status(new, found))]),
    )
    .cells(cells);

fn set_defaults(service: &mut Value) {
    if let Some(service) = within(service, "spec").and_then(|spec| within(spec, "service")) {
        set_absent(service, "port", json!(PORT));
    }
}

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let service = &object["spec"]["service"];
    let service = if service.is_null() {
        "Local".to_owned()
    } else {
        format!("{}/{}", text(&service["namespace"]), text(&service["name"]))
    };
    let available = items(&object["status"]["conditions"])
        .iter()
        .find(|condition| condition["type"] == "Available");
    let available = match available {
        None => "Unknown".to_owned(),
        Some(condition) if condition["status"] == "True" => "True".to_owned(),
        Some(condition) => {
            format!(
                "{} ({})",
                text(&condition["status"]),
                text(&condition["reason"])
            )
        }
    };
    vec![
        json!(name(object)),
        json!(service),
        json!(available),
        json!(age(object, now)),
    ]
}

fn check(service: &Field<'_>, found: &mut Findings) {
    let spec = service.at("spec");
    let (group, version) = (spec.at("group"), spec.at("version"));
    let required = format!("{}.{}", version.text(), group.text());
    for field in ["generateName", "name"] {
        let name = service.at("metadata").at(field);
        let is_named = name.has_text() && path_segment_problems(name.text()).is_empty();
        if is_named && name.text() != required {
            let why = format!("must be `spec.version+\".\"+spec.group`: {required:?}");
            found.invalid(&name, &why);
        }
    }
    if group.has_text() {
        found.problems(&group, subdomain_problems(group.text()));
    } else if version.text() != "v1" {
        let why = "only v1 may have an empty group and it better be legacy kube";
        found.required(&group, why);
    }
    for problem in service_name_problems(version.text()) {
        found.invalid_as(&version, &json!(version.text()), &problem);
    }
    for (field, max) in [
        ("groupPriorityMinimum", GROUP_PRIORITY_MAX),
        ("versionPriority", VERSION_PRIORITY_MAX),
    ] {
        let priority = spec.at(field).number();
        if !(1..=max).contains(&priority) {
            let why = format!("must be positive and less than {max}");
            found.invalid_as(&spec.at(field), &json!(priority), &why);
        }
    }
    check_service(&spec, found);
}

fn check_service(spec: &Field<'_>, found: &mut Findings) {
    let (service, bundle, skips) = (
        spec.at("service"),
        spec.at("caBundle"),
        spec.at("insecureSkipTLSVerify"),
    );
    if !service.is_set() {
        if bundle.has_text() {
            let bytes = STANDARD
                .decode(bundle.text())
                .map_or(0, |bytes| bytes.len());
            let size = format!("{bytes} bytes");
            let why = "local APIServices may not have a caBundle";
            found.invalid_as(&bundle, &json!(size), why);
        }
        if skips.is_true() {
            let why = "local APIServices may not have insecureSkipTLSVerify";
            found.invalid(&skips, why);
        }
        return;
    }
    for field in ["namespace", "name"] {
        if !service.at(field).has_text() {
            found.required(&service.at(field), "");
        }
    }
    let port = service.at("port");
    if !(1..=65_535).contains(&port.number()) {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        found.invalid_as(&port, &json!(port.number()), why);
    }
    if skips.is_true() && bundle.has_text() {
        found.invalid(&skips, "may not be true if caBundle is present");
    }
}

fn check_status(service: &Field<'_>, found: &mut Findings) {
    for condition in service.at("status").at("conditions").items() {
        let status = condition.at("status");
        if !CONDITION_STATUSES.contains(&status.text()) {
            found.not_supported(&status, &["True", "False", "Unknown"]);
        }
    }
}
