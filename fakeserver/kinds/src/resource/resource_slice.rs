//! Slices of devices.

use fakeserver_value::{difference::printed, field::Field, findings::Findings, read::text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    AcceptedObject, Habits, Kind, SelectableField, SelectableFields, Validation,
    formats::{check_driver_name, check_subdomain},
    pod_spec::validation::placement::check_node_selector,
    resource::{
        device::{check_counters, check_device},
        names::{at_most, check_pool_name, check_unique},
    },
    table::cell::{Cells, age, name},
};

const DEVICES_MAX: usize = 128;

/// The maximum number of devices if one has taints or counters.
const SPECIAL_DEVICES_MAX: usize = 64;

const COUNTER_SETS_MAX: usize = 8;

const SELECTOR_TERM: &str = "io.k8s.api.core.v1.NodeSelectorTerm";

const NODES: &str =
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

/// Slices of devices.
pub static KIND: Kind = Kind::new("resource.k8s.io", "resourceslices")
    .habits(Habits {
        has_generation: true,
        counts_dropped: true,
        returns_deleted: true,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update))
    .warnings(warn)
    .cells(cells)
    .fields(&FIELDS);

static FIELDS: SelectableFields = SelectableFields::new(&[
    SelectableField::new("spec.nodeName", &["spec", "nodeName"]),
    SelectableField::new("spec.driver", &["spec", "driver"]),
])
.naming_kind();

// === Validation ===

pub fn check(slice: &Field<'_>, found: &mut Findings) {
    check_slice(&Field::root(&Value::Null), slice, found);
}

/// Checks a slice. Of devices that the old slice had, only new parts are checked.
fn check_slice(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let spec = new.at("spec");
    check_driver_name(&spec.at("driver"), found);
    let pool = spec.at("pool");
    check_pool_name(&pool.at("name"), found);
    let (slices, generation) = (pool.at("resourceSliceCount"), pool.at("generation"));
    if slices.number() <= 0 {
        found.invalid_as(
            &slices,
            &json!(slices.number()),
            "must be greater than zero",
        );
    }
    if generation.number() < 0 {
        found.invalid(&generation, "must be greater than or equal to zero");
    }
    if old.value().is_object() {
        check_fixed(&old.at("spec"), &spec, found);
    }
    check_nodes(&spec, found);
    check_devices(&old.at("spec").at("devices"), &spec, found);
    let sets = at_most(&spec.at("sharedCounters"), COUNTER_SETS_MAX, found);
    for set in &sets {
        check_counters(set, &set.at("name"), found);
    }
    check_unique(&sets, Some("name"), found);
}

fn check_devices(old: &Field<'_>, spec: &Field<'_>, found: &mut Findings) {
    let devices = spec.at("devices");
    if devices.is_set() && spec.at("sharedCounters").is_set() {
        found.invalid_as(
            spec,
            &json!(""),
            "only one of `sharedCounters` or `devices` is allowed",
        );
    }
    let is_special = |device: &Field<'_>| {
        !device.at("taints").is_empty() || !device.at("consumesCounters").is_empty()
    };
    let devices_max = if devices.items().any(|device| is_special(&device)) {
        SPECIAL_DEVICES_MAX
    } else {
        DEVICES_MAX
    };
    let has_own_nodes = spec.at("perDeviceNodeSelection").is_true();
    let all = at_most(&devices, devices_max, found);
    for device in &all {
        let mut before = old.items();
        let before = before.find(|old| old.at("name").text() == device.at("name").text());
        let has_new_taints = before.is_none_or(|old| old.get("taints") != device.get("taints"));
        check_device(device, has_own_nodes, has_new_taints, found);
    }
    check_unique(&all, Some("name"), found);
}

/// Checks the nodes that can use the devices of a slice.
fn check_nodes(spec: &Field<'_>, found: &mut Findings) {
    let mut given = Vec::new();
    let name = spec.at("nodeName");
    if name.has_text() {
        given.push("`nodeName`");
        check_subdomain(&name, found);
    } else if name.is_set() {
        found.invalid(&name, "must be either unset or set to a non-empty string");
    }
    let selector = spec.at("nodeSelector");
    if selector.is_set() {
        given.push("`nodeSelector`");
        check_node_selector(&selector, found);
        let terms = selector.at("nodeSelectorTerms");
        if terms.len() != 1 {
            let printed_terms: Vec<String> = terms
                .items()
                .map(|term| printed(found.kubernetes(), SELECTOR_TERM, term.original()))
                .collect();
            let printed_terms = format!("[{}]", printed_terms.join(","));
            found.invalid_printed(
                &terms,
                &printed_terms,
                "must have exactly one node selector term",
            );
        }
    }
    for (flag, printed) in [
        (spec.at("allNodes"), "`allNodes`"),
        (
            spec.at("perDeviceNodeSelection"),
            "`perDeviceNodeSelection`",
        ),
    ] {
        if flag.is_true() {
            given.push(printed);
        } else if flag.is_set() {
            found.invalid(&flag, "must be either unset or set to true");
        }
    }
    match given.len() {
        0 => found.required(spec, NODES),
        1 => {}
        _ => found.invalid_as(
            spec,
            &json!(format!("{{{}}}", given.join(", "))),
            &format!("{NODES}, but multiple fields are set"),
        ),
    }
}

/// Checks what may not change.
fn check_fixed(was: &Field<'_>, is: &Field<'_>, found: &mut Findings) {
    found.immutable_text(&is.at("pool").at("name"), &was.at("pool").at("name"));
    found.immutable_text(&is.at("driver"), &was.at("driver"));
    found.immutable(&is.at("nodeName"), &was.at("nodeName"));
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_slice(old, new, found);
}

// === Warnings ===

pub fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    let driver = accepted.object.at("spec").at("driver");
    if driver.text().to_lowercase() != driver.text() {
        warnings.push(format!(
            "spec.driver: driver names should be lowercase; {:?} contains uppercase characters",
            driver.text()
        ));
    }
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    vec![
        json!(name(object)),
        json!(text(&spec["nodeName"])),
        json!(text(&spec["driver"])),
        json!(text(&spec["pool"]["name"])),
        json!(age(object, now)),
    ]
}
