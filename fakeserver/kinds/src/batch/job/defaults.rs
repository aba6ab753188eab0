//! Defaults and preparation of jobs.

use fakeserver_value::edit::{each, set, set_absent, within};
use serde_json::{Value, json};

use crate::pod_spec;

const CONTROLLER: &str = "batch.kubernetes.io/controller-uid";

pub(super) fn set_defaults(job: &mut Value) {
    let Some(spec) = within(job, "spec") else {
        return;
    };
    pod_spec::defaults::set_defaults(&mut spec["template"]["spec"]);
    set_failure_policy(spec);
    let is_plain = spec.get("completions").is_none() && spec.get("parallelism").is_none();
    if is_plain {
        spec["completions"] = json!(1);
    }
    set(spec, "parallelism", json!(1));
    let is_per_index = spec.get("backoffLimitPerIndex").is_some();
    set(
        spec,
        "backoffLimit",
        json!(if is_per_index { i32::MAX } else { 6 }),
    );
    set_absent(spec, "completionMode", json!("NonIndexed"));
    set(spec, "suspend", json!(false));
    set(spec, "manualSelector", json!(false));
    let replacement = if spec.get("podFailurePolicy").is_some() {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    set_absent(spec, "podReplacementPolicy", json!(replacement));
}

/// Sets the status of the conditions by which a failed pod is recognized.
pub(in crate::batch) fn set_failure_policy(spec: &mut Value) {
    let policy = within(spec, "podFailurePolicy");
    for rule in policy.into_iter().flat_map(|policy| each(policy, "rules")) {
        for pattern in each(rule, "onPodConditions") {
            set(pattern, "status", json!("True"));
        }
    }
}

/// Gives a job without labels those of its template.
pub(super) fn keep(_old: &Value, job: &mut Value) {
    let labels = job["spec"]["template"]["metadata"]["labels"].clone();
    let own = job["metadata"]["labels"].as_object();
    if !labels.is_null() && own.is_none_or(serde_json::Map::is_empty) {
        job["metadata"]["labels"] = labels;
    }
}

/// Labels the pods of a job by its uid, and selects them by that, unless the job does so itself.
pub(super) fn prepare(job: &mut Value) {
    let uid = job["metadata"]["uid"].clone();
    let name = job["metadata"]["name"].clone();
    let Some(spec) = within(job, "spec").filter(|spec| spec["manualSelector"] != true) else {
        return;
    };
    let labels = &mut spec["template"]["metadata"]["labels"];
    for (label, value) in [
        ("job-name", &name),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        (CONTROLLER, &uid),
    ] {
        if labels[label].is_null() {
            labels[label] = value.clone();
        }
    }
    let labels = labels.clone();
    set(spec, "selector", json!({}));
    let selected = &mut spec["selector"]["matchLabels"];
    if selected[CONTROLLER].is_null() {
        selected[CONTROLLER] = uid;
    }
    set(&mut job["metadata"], "labels", labels);
}
