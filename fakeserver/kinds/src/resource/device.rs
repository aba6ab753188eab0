//! Devices of slices, and the counters that they share.

use fakeserver_value::{field::Field, findings::Findings, names::dns_label_problems};
use serde_json::{Value, json};

use crate::{
    formats::check_subdomain,
    pod_spec::validation::placement::check_node_selector,
    resource::{
        names::{
            QUALIFIED_MAX_BYTES, at_most, check_label_name, check_qualified_name, check_unique,
            shortened_entries,
        },
        request_policy::check_request_policy,
        taints::{check_label_key, check_taint},
    },
};

const ATTRIBUTE: &str = "io.k8s.api.resource.v1.DeviceAttribute";

const ATTRIBUTES_MAX: usize = 32;

const VALUE_MAX_BYTES: usize = 64;

const TAINTS_MAX: usize = 16;

const CONSUMED_SETS_MAX: usize = 2;

const COUNTERS_MAX: usize = 32;

const COUNTER_MAX_BYTES: usize = 63;

const CONDITIONS_MAX: usize = 4;

const NODES: &str = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when \
    `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

/// Checks a device of a slice, which may have nodes of its own; its taints only if they are new.
pub(super) fn check_device(
    device: &Field<'_>,
    has_own_nodes: bool,
    has_new_taints: bool,
    found: &mut Findings,
) {
    check_label_name(&device.at("name"), found);
    let (attributes, capacity) = (device.at("attributes"), device.at("capacity"));
    let count = attributes.len() + capacity.len();
    if count > ATTRIBUTES_MAX {
        found.invalid_as(
            device,
            &json!(count),
            &format!(
                "the total number of attributes and capacities must not exceed {ATTRIBUTES_MAX}"
            ),
        );
    }
    for (key, attribute) in shortened_entries(&attributes, QUALIFIED_MAX_BYTES) {
        check_qualified_name(key, key_owner(&attributes, &attribute, found), found);
        check_attribute(&attribute, found);
    }
    for (key, amount) in shortened_entries(&capacity, QUALIFIED_MAX_BYTES) {
        check_qualified_name(key, key_owner(&capacity, &amount, found), found);
        let policy = amount.at("requestPolicy");
        if device.at("allowMultipleAllocations").is_true() {
            check_request_policy(&amount, found);
        } else if policy.is_set() {
            found.forbidden(&policy, "allowMultipleAllocations must be true");
        }
    }
    if has_new_taints {
        for taint in at_most(&device.at("taints"), TAINTS_MAX, found) {
            check_taint(&taint, found);
        }
    }
    let consumed = at_most(&device.at("consumesCounters"), CONSUMED_SETS_MAX, found);
    for set in &consumed {
        check_counters(set, &set.at("counterSet"), found);
    }
    check_unique(&consumed, Some("counterSet"), found);
    check_nodes(device, has_own_nodes, found);
    check_binding(device, found);
}

/// Returns the field that findings about a key name: the map or, in older versions, the entry.
fn key_owner<'f, 'a>(map: &'f Field<'a>, entry: &'f Field<'a>, found: &Findings) -> &'f Field<'a> {
    if found.is_on("MapKeysReportedAtMap") {
        map
    } else {
        entry
    }
}

/// Checks an attribute: one value of some type.
fn check_attribute(attribute: &Field<'_>, found: &mut Findings) {
    let (text, version) = (attribute.at("string"), attribute.at("version"));
    for value in [&text, &version] {
        if value.text().len() > VALUE_MAX_BYTES {
            found.too_long(value, VALUE_MAX_BYTES);
        }
    }
    if version.is_set() && semver::Version::parse(version.text()).is_err() {
        found.invalid(
            &version,
            "must be a string compatible with semver.org spec 2.0.0",
        );
    }
    let values = ["int", "bool", "string", "version"];
    let given = values.iter().filter(|name| attribute.at(name).is_set());
    match given.count() {
        0 if !found.is_on("MissingAttributeValueInvalid") => {
            found.required(attribute, "exactly one value must be specified");
        }
        0 => found.invalid_as(attribute, &json!(""), "exactly one value must be specified"),
        1 => {}
        _ => found.invalid_struct(attribute, ATTRIBUTE, "exactly one value must be specified"),
    }
}

/// Checks a set of counters and its name.
pub(super) fn check_counters(set: &Field<'_>, name: &Field<'_>, found: &mut Findings) {
    if name.has_text() {
        check_label_name(name, found);
    } else {
        found.required(name, "");
    }
    let counters = set.at("counters");
    if counters.is_empty() {
        found.required(&counters, "");
    } else if counters.len() > COUNTERS_MAX {
        found.too_many(&counters, COUNTERS_MAX);
    } else {
        for (key, counter) in shortened_entries(&counters, COUNTER_MAX_BYTES) {
            let owner = key_owner(&counters, &counter, found);
            for problem in dns_label_problems(key) {
                found.invalid_as(owner, &json!(key), &problem);
            }
        }
    }
}

/// Checks the nodes that can use a device.
fn check_nodes(device: &Field<'_>, has_own: bool, found: &mut Findings) {
    let (name, selector) = (device.at("nodeName"), device.at("nodeSelector"));
    let all = device.at("allNodes");
    if !has_own {
        if name.is_set() || selector.is_set() || all.is_set() {
            found.invalid_as(
                device,
                &Value::Null,
                "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true \
                 in the ResourceSlice spec",
            );
        }
        return;
    }
    let mut given = Vec::new();
    if name.has_text() {
        given.push("`nodeName`");
        check_subdomain(&name, found);
    } else if name.is_set() {
        found.invalid(&name, "must not be empty");
    }
    if selector.is_set() {
        given.push("`nodeSelector`");
        check_node_selector(&selector, found);
    }
    if all.is_true() {
        given.push("`allNodes`");
    } else if all.is_set() {
        found.invalid(&all, "must be either unset or set to true");
    }
    match given.len() {
        0 => found.required(device, NODES),
        1 => {}
        _ => found.invalid_as(device, &json!(format!("{{{}}}", given.join(", "))), NODES),
    }
}

/// Checks the conditions under which a pod is bound to a device; of results, too.
pub(super) fn check_binding(owner: &Field<'_>, found: &mut Findings) {
    let lists = [
        owner.at("bindingConditions"),
        owner.at("bindingFailureConditions"),
    ];
    for list in &lists {
        for condition in at_most(list, CONDITIONS_MAX, found) {
            check_label_key(&condition, found);
        }
        let all: Vec<Field<'_>> = list.items().collect();
        check_unique(&all, None, found);
    }
    let [conditions, failures] = &lists;
    for failure in failures.items() {
        if conditions
            .items()
            .any(|condition| condition.text() == failure.text())
        {
            found.invalid(
                &failure,
                "bindingFailureConditions must not overlap with bindingConditions",
            );
        }
    }
    match (conditions.is_empty(), failures.is_empty()) {
        (true, false) => found.invalid(
            conditions,
            "bindingConditions are required to use bindingFailureConditions",
        ),
        (false, true) => found.invalid(
            failures,
            "bindingFailureConditions are required to use bindingConditions",
        ),
        _ => {}
    }
}
