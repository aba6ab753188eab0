//! Validation that workloads share: selectors, templates and counts.

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::Value;

use crate::{
    formats::{LABEL_SELECTOR, SelectionResult, check_label_selector, is_empty_selector, selects},
    pod_spec::validation::{check_runs_forever, check_selected, check_template},
};

/// Checks that a selector is set, and selects some pods only.
pub(crate) fn check_selector(spec: &Field<'_>, kind: &str, found: &mut Findings) {
    let selector = spec.at("selector");
    if !selector.is_set() {
        found.required(&selector, "");
        return;
    }
    check_label_selector(&selector, found);
    if is_empty_selector(&selector) {
        let why = format!("empty selector is invalid for {kind}");
        found.invalid_struct(&selector, LABEL_SELECTOR, &why);
    }
}

/// Checks the template of pods, and that the selector selects them.
pub(crate) fn check_made(spec: &Field<'_>, kind: &str, found: &mut Findings) {
    let (selector, template) = (spec.at("selector"), spec.at("template"));
    let labels = template.get("metadata").get("labels");
    if selects(selector.value(), labels.unwrap_or(&Value::Null)) == SelectionResult::Unreadable {
        found.invalid_struct(&selector, LABEL_SELECTOR, "invalid label selector");
        return;
    }
    if !(selector.is_set() && is_empty_selector(&selector)) {
        check_selected(selector.value(), &template, found);
    }
    check_template(&template, found);
    check_runs_forever(&template, kind, found);
}

/// Checks that the selector does not change.
pub(crate) fn fix_selector(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let selector = new.at("spec").at("selector");
    if selector.value() != old.at("spec").get("selector") {
        let why = "field is immutable";
        if selector.is_set() {
            found.invalid_struct(&selector, LABEL_SELECTOR, why);
        } else {
            found.invalid(&selector, why);
        }
    }
}

/// The counts of one kind, in the order in which they are looked at.
pub(crate) struct Counts {
    pub all: &'static [&'static str],
    /// The counts that are parts of `replicas`.
    pub parts: &'static [&'static str],
    /// The message that no more replicas can be available than are ready.
    pub unready: &'static str,
}

/// Checks the counts of a status.
pub(crate) fn check_counts(
    counts: &Counts,
    old: &Field<'_>,
    new: &Field<'_>,
    found: &mut Findings,
) {
    let status = new.at("status");
    for count in counts.all {
        found.non_negative(&status.at(count));
    }
    // What is not said is shown as the zero that it counts as.
    let mut refuse = |count: &Field<'_>, why: &str| {
        found.invalid_as(count, &count.number().into(), why);
    };
    let all = status.at("replicas").number();
    for part in counts.parts {
        let part = status.at(part);
        if part.number() > all {
            refuse(&part, "cannot be greater than status.replicas");
        }
    }
    let available = status.at("availableReplicas");
    if available.number() > status.at("readyReplicas").number() {
        refuse(&available, counts.unready);
    }
    let collisions = status.at("collisionCount");
    let before = old.at("status").at("collisionCount");
    let is_gone = before.is_set() && !collisions.is_set();
    if is_gone || before.is_set() && collisions.is_set() && collisions.number() < before.number() {
        refuse(&collisions, "cannot be decremented");
    }
}
