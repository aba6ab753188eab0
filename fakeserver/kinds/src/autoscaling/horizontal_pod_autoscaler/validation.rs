//! Validation of autoscalers.

use fakeserver_value::{field::Field, findings::Findings};

use super::metrics::{References, check_metrics, check_reference, reference_problem};

use crate::{conversion::to_stored, formats::quantity};

const WINDOW_SECONDS_MAX: i64 = 3600;
const PERIOD_SECONDS_MAX: i64 = 1800;

const SELECT_POLICIES: [&str; 3] = ["Disabled", "Max", "Min"];
const POLICY_TYPES: [&str; 2] = ["Percent", "Pods"];

/// The differences between the checks of a new autoscaler and those of an update.
struct Options {
    min_replicas_least: i64,
    target: References,
    described: References,
}

/// Checks a new autoscaler, in whichever version it is written.
pub(super) fn check(autoscaler: &Field<'_>, found: &mut Findings) {
    let stored = to_stored(autoscaler.value().clone());
    let spec = Field::root(&stored).at("spec");
    let options = Options::new(&spec, None, found);
    check_spec(&spec, &options, found);
}

/// Checks an update. An API version that was not valid before may stay.
pub(super) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (old, new) = (
        to_stored(old.value().clone()),
        to_stored(new.value().clone()),
    );
    let (old, new) = (Field::root(&old).at("spec"), Field::root(&new).at("spec"));
    let options = Options::new(&new, Some(&old), found);
    check_spec(&new, &options, found);
}

/// Checks an update of the status.
pub(super) fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    for count in ["currentReplicas", "desiredReplicas"] {
        found.non_negative(&new.at("status").at(count));
    }
}

fn check_spec(spec: &Field<'_>, options: &Options, found: &mut Findings) {
    let (least, most) = (spec.at("minReplicas"), spec.at("maxReplicas"));
    let bound = options.min_replicas_least;
    if least.is_set() && least.number() < bound {
        found.invalid(&least, &format!("must be greater than or equal to {bound}"));
    }
    match most.number() {
        ..=0 if !found.is_on("MaxReplicasRequired") => {
            found.invalid_number(&most, "must be greater than 0");
        }
        0 => found.required(&most, "must be set and greater than 0"),
        ..0 => found.invalid(&most, "must be greater than or equal to 1"),
        _ => {}
    }
    if least.is_set() && most.number() < least.number() {
        found.invalid_number(&most, "must be greater than or equal to `minReplicas`");
    }
    check_reference(&spec.at("scaleTargetRef"), options.target, found);
    check_metrics(&spec.at("metrics"), &least, options.described, found);
    let behavior = spec.at("behavior");
    for direction in ["scaleUp", "scaleDown"] {
        check_rules(&behavior.at(direction), found);
    }
}

fn check_rules(rules: &Field<'_>, found: &mut Findings) {
    if !rules.is_set() {
        return;
    }
    let window = rules.at("stabilizationWindowSeconds");
    if window.number() < 0 {
        found.invalid(&window, "must be greater than or equal to zero");
    }
    if window.number() > WINDOW_SECONDS_MAX {
        let detail = format!("must be less than or equal to {WINDOW_SECONDS_MAX}");
        found.invalid(&window, &detail);
    }
    found.optional_one_of(&rules.at("selectPolicy"), &SELECT_POLICIES);
    let policies = rules.at("policies");
    if policies.is_empty() {
        found.required(&policies, "must specify at least one Policy");
    }
    for policy in policies.items() {
        check_policy(&policy, found);
    }
    let tolerance = rules.at("tolerance");
    if tolerance.is_set() && quantity(tolerance.value()).is_negative() {
        found.invalid(&tolerance, "must be greater than or equal to 0");
    }
}

fn check_policy(policy: &Field<'_>, found: &mut Findings) {
    let (kind, period) = (policy.at("type"), policy.at("periodSeconds"));
    if !POLICY_TYPES.contains(&kind.text()) {
        found.not_supported(&kind, &POLICY_TYPES);
    }
    for number in [policy.at("value"), policy.at("periodSeconds")] {
        if number.number() <= 0 {
            found.invalid_number(&number, "must be greater than zero");
        }
    }
    if period.number() > PERIOD_SECONDS_MAX {
        let detail = format!("must be less than or equal to {PERIOD_SECONDS_MAX}");
        found.invalid(&period, &detail);
    }
}

// === impl Options ===

impl Options {
    fn new(spec: &Field<'_>, old: Option<&Field<'_>>, found: &Findings) -> Self {
        let is_unchecked = !found.is_on("ApiVersionsOfReferencesChecked");
        let target = spec.at("scaleTargetRef");
        let kept = |old: &Field<'_>| {
            let old = old.at("scaleTargetRef");
            ["apiVersion", "kind"]
                .iter()
                .all(|name| old.at(name).text() == target.at(name).text())
        };
        let was_zero = |old: &Field<'_>| old.get("minReplicas").as_i64() == Some(0);
        Self {
            min_replicas_least: i64::from(!old.is_some_and(was_zero)),
            target: if is_unchecked || old.is_some_and(kept) {
                References::AnyVersion
            } else if target.get("kind") == "ReplicationController" {
                References::CoreToo
            } else {
                References::WithGroup
            },
            described: if is_unchecked || old.is_some_and(describes_wrongly) {
                References::AnyVersion
            } else {
                References::CoreToo
            },
        }
    }
}

/// Returns whether a metric describes an object whose API version is not valid.
fn describes_wrongly(spec: &Field<'_>) -> bool {
    spec.at("metrics").items().any(|metric| {
        let object = metric.at("object");
        let version = object.at("describedObject").at("apiVersion");
        metric.get("type") == "Object"
            && object.is_set()
            && reference_problem(version.text(), References::CoreToo).is_some()
    })
}
