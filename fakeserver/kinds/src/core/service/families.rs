//! The families of a service: which ones it asks for, and which ones it gets in a cluster.

use fakeserver_value::{
    edit::{is_unset, remove},
    read::{items, text},
    status::FieldError,
};
use serde_json::{Value, json};

use super::{
    range::{IpFamily, ServiceRange},
    validation::{address_errors, is_headless_spec},
};

const SINGLE: &str = "SingleStack";
const PREFER: &str = "PreferDualStack";
const REQUIRE: &str = "RequireDualStack";
const POLICY: &str = "spec.ipFamilyPolicy";

/// Completes `spec.ipFamilies` and `spec.ipFamilyPolicy`, and shortens the lists of a service that becomes one of a single
/// family. `old` is the service that an update replaces.
///
/// Returns the errors of addresses and families, and those that the ranges of the cluster do not have; `service` is
/// incomplete then.
#[doc(alias = "initIPFamilyFields")]
pub fn complete_families(
    old: Option<&Value>,
    service: &mut Value,
    cluster: ServiceRange,
) -> Vec<FieldError> {
    let spec = &mut service["spec"];
    if spec["type"] == "ExternalName" {
        return Vec::new();
    }
    // Who gives one address means all.
    if !is_unset(&spec["clusterIP"]) && items(&spec["clusterIPs"]).is_empty() {
        spec["clusterIPs"] = json!([spec["clusterIP"]]);
    }
    let old = old.map(|old| &old["spec"]);
    if old.is_some_and(|old| stays_as_preferred(old, spec)) {
        return Vec::new();
    }
    if spec["ipFamilyPolicy"].is_null() {
        let before = old.and_then(|old| old["ipFamilyPolicy"].as_str());
        let default = if is_without_pods(spec) {
            REQUIRE
        } else {
            SINGLE
        };
        spec["ipFamilyPolicy"] = json!(before.unwrap_or(default));
    }
    let errors = address_errors(service);
    if !errors.is_empty() {
        return errors;
    }
    let spec = &mut service["spec"];
    let mut errors = old.map(|old| release(old, spec)).unwrap_or_default();
    errors.extend(policy_errors(spec));
    errors.extend(infer_families(spec, cluster));
    if !errors.is_empty() {
        return errors;
    }
    // Nothing is allocated for a headless service without pods, so that the cluster need not have its families.
    let is_free = is_without_pods(spec);
    if !is_free {
        errors = cluster_errors(spec, cluster);
        if !errors.is_empty() {
            return errors;
        }
    }
    if items(&spec["ipFamilies"]).is_empty() {
        spec["ipFamilies"] = json!([cluster.primary().family().name()]);
    }
    let mut families = families(spec);
    let is_dual = is_free || cluster.families().count() == 2;
    if spec["ipFamilyPolicy"] != SINGLE && families.len() == 1 && is_dual {
        families.push(families[0].other());
        spec["ipFamilies"] = families.iter().map(|family| family.name()).collect();
    }
    Vec::new()
}

/// Returns the families that a service names.
pub fn families(spec: &Value) -> Vec<IpFamily> {
    let names = items(&spec["ipFamilies"]).iter().map(text);
    names.filter_map(IpFamily::named).collect()
}

/// Returns whether a service that prefers both families is as it was: it does not follow a cluster that gets or loses one.
#[doc(alias = "isMatchingPreferDualStackClusterIPFields")]
pub(super) fn stays_as_preferred(old: &Value, spec: &Value) -> bool {
    let is_same = |field: &str| items(&old[field]) == items(&spec[field]);
    old["type"] == spec["type"]
        && spec["type"] != "ExternalName"
        && spec["ipFamilyPolicy"] == PREFER
        && (old["ipFamilyPolicy"] == PREFER || old["ipFamilyPolicy"].is_null())
        && is_same("clusterIPs")
        && is_same("ipFamilies")
}

fn is_without_pods(spec: &Value) -> bool {
    let has_selector = spec["selector"]
        .as_object()
        .is_some_and(|it| !it.is_empty());
    is_headless_spec(spec) && !has_selector
}

/// Releases the second address and family of a service whose policy says so, and finds those that are left out while it does
/// not.
fn release(old: &Value, spec: &mut Value) -> Vec<FieldError> {
    let fields = [
        ("clusterIPs", "the secondary cluster IP"),
        ("ipFamilies", "the secondary IP family"),
    ];
    let mut errors = Vec::new();
    for (field, what) in fields {
        let (before, after) = (items(&old[field]), items(&spec[field]));
        if spec["ipFamilyPolicy"] == SINGLE {
            if before == after && after.len() > 1 {
                spec[field] = json!([after[0]]);
            }
        } else if !after.is_empty() && after.len() < before.len() {
            let why = format!("must be 'SingleStack' to release {what}");
            errors.push(FieldError::invalid(POLICY, &spec["ipFamilyPolicy"], &why));
        }
    }
    errors
}

/// Finds two addresses or families of a service of one.
fn policy_errors(spec: &Value) -> Vec<FieldError> {
    let fields = [("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")];
    let is_single = spec["ipFamilyPolicy"] == SINGLE;
    let wrong = fields
        .into_iter()
        .filter(|(field, _)| is_single && items(&spec[field]).len() == 2);
    wrong
        .map(|(_, what)| {
            let why = format!(
                "must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
            );
            FieldError::invalid(POLICY, &spec["ipFamilyPolicy"], &why)
        })
        .collect()
}

/// Adds the families of addresses that come without.
fn infer_families(spec: &mut Value, cluster: ServiceRange) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut names = items(&spec["ipFamilies"]).to_vec();
    let addresses = items(&spec["clusterIPs"]);
    let addresses = addresses.iter().take_while(|address| *address != "None");
    for (place, address) in addresses.enumerate().skip(names.len()) {
        let family = IpFamily::of_text(text(address));
        if cluster.has(family) {
            names.push(json!(family.name()));
        } else {
            let field = format!("spec.clusterIPs[{place}]");
            let why = format!("{} is not configured on this cluster", family.name());
            errors.push(FieldError::invalid(field, &spec["clusterIPs"], &why));
        }
    }
    if names.is_empty() {
        remove(spec, "ipFamilies");
    } else {
        spec["ipFamilies"] = names.into();
    }
    errors
}

/// Finds what a service asks for and the cluster does not have.
fn cluster_errors(spec: &Value, cluster: ServiceRange) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if spec["ipFamilyPolicy"] == REQUIRE && cluster.families().count() < 2 {
        let why = "this cluster is not configured for dual-stack services";
        errors.push(FieldError::invalid(POLICY, &spec["ipFamilyPolicy"], why));
    }
    for (place, name) in items(&spec["ipFamilies"]).iter().enumerate() {
        if !IpFamily::named(text(name)).is_some_and(|family| cluster.has(family)) {
            let field = format!("spec.ipFamilies[{place}]");
            errors.push(FieldError::invalid(
                field,
                name,
                "not configured on this cluster",
            ));
        }
    }
    errors
}
