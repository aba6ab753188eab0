//! Printed cells of jobs.

use fakeserver_value::read::{items, number};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::{
    age::{human, parse},
    cell::{Cells, age, containers, name, selector},
};

pub(super) fn cells(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let succeeded = number(&status["succeeded"]);
    let completions = match (spec["completions"].as_i64(), number(&spec["parallelism"])) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, parallelism) if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    };
    let duration = match (
        parse(&status["startTime"]),
        parse(&status["completionTime"]),
    ) {
        (None, _) => String::new(),
        (Some(start), None) => human(now.duration_since(start)),
        (Some(start), Some(end)) => human(end.duration_since(start)),
    };
    let mut cells = vec![
        json!(name(object)),
        json!(state(object)),
        json!(completions),
        json!(duration),
        json!(age(object, now)),
    ];
    cells.extend(containers(&spec["template"]["spec"]));
    cells.push(json!(selector(&spec["selector"])));
    cells
}

fn state(job: &Value) -> &'static str {
    let has = |kind: &str| {
        items(&job["status"]["conditions"])
            .iter()
            .any(|condition| condition["type"] == kind && condition["status"] == "True")
    };
    if has("Complete") {
        "Complete"
    } else if has("Failed") {
        "Failed"
    } else if !job["metadata"]["deletionTimestamp"].is_null() {
        "Terminating"
    } else if has("Suspended") {
        "Suspended"
    } else if has("FailureTarget") {
        "FailureTarget"
    } else if has("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    }
}
