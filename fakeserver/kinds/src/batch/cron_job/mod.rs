//! Cron jobs.

pub mod schedule;
mod validation;
#[cfg(test)]
mod tests;

use fakeserver_value::{
    edit::{set, within},
    read::{items, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    AcceptedObject, Habits, Kind, MetadataRechecks, Validation,
    batch::job::set_failure_policy,
    pod_spec,
    table::{
        age::since,
        cell::{Cells, NONE, age, containers, name, selector, text_or},
    },
    workload::warnings::{warn_of_pod_names, warn_of_template},
};

/// Cron jobs.
pub static KIND: Kind = Kind::new("batch", "cronjobs")
    .pod_at("/spec/jobTemplate/spec/template")
    .habits(Habits {
        has_generation: true,
        subresource_rechecks: MetadataRechecks::NONE,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(validation::check, validation::check_update))
    .warnings(warn)
    .cells(cells);

// === Defaults ===

pub fn set_defaults(cron_job: &mut Value) {
    let Some(spec) = within(cron_job, "spec") else {
        return;
    };
    set(spec, "concurrencyPolicy", json!("Allow"));
    set(spec, "suspend", json!(false));
    set(spec, "successfulJobsHistoryLimit", json!(3));
    set(spec, "failedJobsHistoryLimit", json!(1));
    let job = within(spec, "jobTemplate").and_then(|job| within(job, "spec"));
    let Some(job) = job else {
        return;
    };
    set_failure_policy(job);
    if let Some(template) = within(job, "template") {
        pod_spec::defaults::set_defaults(&mut template["spec"]);
    }
}

// === Warnings ===

pub fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    warn_of_pod_names(accepted, warnings);
    let job = accepted.object.at("spec").at("jobTemplate");
    warn_of_template(accepted, &job, warnings);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let last = match &status["lastScheduleTime"] {
        Value::Null => NONE.to_owned(),
        time => since(time, now),
    };
    let job = &spec["jobTemplate"]["spec"];
    let mut cells = vec![
        json!(name(object)),
        json!(text(&spec["schedule"])),
        json!(text_or(&spec["timeZone"], NONE)),
        json!(if spec["suspend"] == true {
            "True"
        } else {
            "False"
        }),
        json!(items(&status["active"]).len()),
        json!(last),
        json!(age(object, now)),
    ];
    cells.extend(containers(&job["template"]["spec"]));
    cells.push(json!(selector(&job["selector"])));
    cells
}
