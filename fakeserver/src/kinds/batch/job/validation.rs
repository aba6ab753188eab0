//! Validation of jobs.

use serde_json::Value;

use crate::{
    kinds::{
        formats::check_label_selector,
        pod_spec::validation::{check_selected, check_template},
    },
    value::{field::Field, findings::Findings},
};

const TEMPLATE: &str = "io.k8s.api.core.v1.PodTemplateSpec";

const CONTROLLER_UID: &str = "batch.kubernetes.io/controller-uid";

const JOB_NAME: &str = "batch.kubernetes.io/job-name";

const COUNTS: [&str; 7] = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
];

const INDEXED_PARALLELISM_MAX: i64 = 100_000;

pub(crate) fn check(job: &Field<'_>, found: &mut Findings) {
    check_generated(job, found);
    check_spec(&job.at("spec"), found);
}

/// Checks that the labels generated for a job without a selector of its own are still there.
fn check_generated(job: &Field<'_>, found: &mut Findings) {
    let spec = job.at("spec");
    if spec.at("manualSelector").is_true() || !spec.at("selector").is_set() {
        return;
    }
    let labels = spec.at("template").at("metadata").at("labels");
    let metadata = job.at("metadata");
    for (label, value) in [(CONTROLLER_UID, "uid"), (JOB_NAME, "name")] {
        let (entry, wanted) = (labels.key(label), metadata.at(value));
        if !entry.is_set() {
            found.required(&entry, &format!("must be '{}'", wanted.text()));
        } else if entry.text() != wanted.text() {
            found.invalid(
                &entry.called_at(&labels.key(label)),
                &format!("must be '{}'", wanted.text()),
            );
        }
    }
    let selector = spec.at("selector");
    if selector.get("matchLabels")[CONTROLLER_UID] != *metadata.get("uid") {
        found.invalid(&selector, "`selector` not auto-generated");
    }
}

fn check_spec(spec: &Field<'_>, found: &mut Findings) {
    check_counts(spec, found);
    let selector = spec.at("selector");
    if selector.is_set() {
        check_label_selector(&selector, found);
    } else {
        found.required(&selector, "");
    }
    check_selected(selector.value(), &spec.at("template"), found);
}

/// Checks the counts of a job.
pub(crate) fn check_counts(spec: &Field<'_>, found: &mut Findings) {
    for count in COUNTS {
        found.non_negative(&spec.at(count));
    }
    let per_index = spec.at("backoffLimitPerIndex");
    let is_indexed = spec.at("completionMode").text() == "Indexed";
    if per_index.is_set() && !is_indexed {
        found.invalid(&per_index, "requires indexed completion mode");
    }
    let failed = spec.at("maxFailedIndexes");
    if failed.is_set() && !per_index.is_set() {
        found.required(&per_index, "when maxFailedIndexes is specified");
    }
    let mode = spec.at("completionMode");
    if mode.is_set() && !matches!(mode.text(), "NonIndexed" | "Indexed") {
        found.not_supported(&mode, &["NonIndexed", "Indexed"]);
    }
    if is_indexed {
        let completions = spec.at("completions");
        if !completions.is_set() {
            found.required(&completions, "when completion mode is Indexed");
        }
        let parallelism = spec.at("parallelism");
        if parallelism.number() > INDEXED_PARALLELISM_MAX {
            found.invalid(
                &parallelism,
                &format!(
                    "must be less than or equal to {INDEXED_PARALLELISM_MAX} when completion mode is Indexed"
                ),
            );
        }
    }
    check_failure_policy(spec, found);
    let replacement = spec.at("podReplacementPolicy");
    if spec.at("podFailurePolicy").is_set() {
        if replacement.is_set() && replacement.text() != "Failed" {
            found.not_supported(&replacement, &["Failed"]);
        }
    } else {
        found.optional_one_of(&replacement, &["Failed", "TerminatingOrFailed"]);
    }
    let template = spec.at("template");
    check_template(&template, found);
    let policy = template.at("spec").at("restartPolicy");
    match policy.text() {
        "OnFailure" if spec.at("podFailurePolicy").is_set() => {
            found.invalid(
                &policy,
                "only \"Never\" is supported when podFailurePolicy is specified",
            );
        }
        "OnFailure" | "Never" => {}
        "Always" => found.required(&policy, "valid values: \"OnFailure\", \"Never\""),
        _ => found.not_supported(&policy, &["OnFailure", "Never"]),
    }
}

fn check_failure_policy(spec: &Field<'_>, found: &mut Findings) {
    let rules = spec.at("podFailurePolicy").at("rules");
    for rule in rules.items() {
        let action = rule.at("action");
        let supported = ["Count", "FailIndex", "FailJob", "Ignore"];
        if !action.has_text() {
            found.required(
                &action,
                "valid values: \"Count\", \"FailIndex\", \"FailJob\", \"Ignore\"",
            );
        } else if !supported.contains(&action.text()) {
            found.not_supported(&action, &supported);
        }
        let (codes, conditions) = (rule.at("onExitCodes"), rule.at("onPodConditions"));
        match (codes.is_set(), conditions.is_empty()) {
            (true, false) => found.invalid(
                &rule,
                "specifying both OnExitCodes and OnPodConditions is not supported",
            ),
            (false, true) => found.invalid(
                &rule,
                "specifying one of OnExitCodes and OnPodConditions is required",
            ),
            _ => {}
        }
    }
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let (was, is) = (old.at("spec"), new.at("spec"));
    check_spec(&is, found);
    // An indexed job grows and shrinks with its parallelism.
    let completions = is.at("completions");
    let is_elastic = is.at("completionMode").text() == "Indexed"
        && completions.is_set()
        && completions.value() == is.get("parallelism");
    if !is_elastic {
        found.immutable(&completions, &was.at("completions"));
    }
    found.immutable(&is.at("selector"), &was.at("selector"));
    let (before, after) = (was.at("template"), is.at("template"));
    let is_waiting = was.at("suspend").is_true() && !old.at("status").at("startTime").is_set();
    let mut comparable = after.value().clone();
    if is_waiting {
        release(before.value(), &mut comparable);
    }
    if comparable != *before.value() {
        found.invalid_struct(&after, TEMPLATE, "field is immutable");
    }
    for name in [
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        found.immutable(&is.at(name), &was.at(name));
    }
}

/// Takes back what may change in the template of a job that has not begun.
fn release(was: &Value, template: &mut Value) {
    let mut keep = |pointer: &str, field: &str| {
        let before = was.pointer(pointer).and_then(|place| place.get(field));
        let Some(place) = template.pointer_mut(pointer).and_then(Value::as_object_mut) else {
            return;
        };
        match before {
            Some(before) => place.insert(field.to_owned(), before.clone()),
            None => place.remove(field),
        };
    };
    for field in ["nodeSelector", "tolerations", "affinity", "schedulingGates"] {
        keep("/spec", field);
    }
    for field in ["labels", "annotations"] {
        keep("/metadata", field);
    }
}

/// An update through `status`.
pub(crate) fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let status = new.at("status");
    for count in ["active", "succeeded", "failed", "ready", "terminating"] {
        found.non_negative(&status.at(count));
    }
    let conditions = status.at("conditions");
    let is_true = |kind: &str| {
        conditions
            .items()
            .any(|condition| condition.get("type") == kind && condition.get("status") == "True")
    };
    if is_true("Complete") && is_true("Failed") {
        found.invalid(
            &conditions,
            "cannot set Complete=True and Failed=true conditions",
        );
    }
}
