//! What runs pods: how many there should be, and how many there are.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    age::{human, parse, since},
    cell::{
        Cells, NONE, age, containers, items, labels, name, number, or_none, plain, selector, text,
        text_or,
    },
};

pub(super) fn deployment(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let ready = format!(
        "{}/{}",
        number(&status["readyReplicas"]),
        number(&spec["replicas"])
    );
    let mut cells = vec![
        json!(name(object)),
        json!(ready),
        json!(number(&status["updatedReplicas"])),
        json!(number(&status["availableReplicas"])),
        json!(age(object, now)),
    ];
    cells.extend(containers(&spec["template"]["spec"]));
    cells.push(json!(selector(&spec["selector"])));
    cells
}

/// Also replication controllers, whose selector is a map.
pub(super) fn replica_set(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let mut cells = vec![
        json!(name(object)),
        json!(number(&spec["replicas"])),
        json!(number(&status["replicas"])),
        json!(number(&status["readyReplicas"])),
        json!(age(object, now)),
    ];
    cells.extend(containers(&spec["template"]["spec"]));
    cells.push(json!(if object["kind"] == "ReplicationController" {
        labels(&spec["selector"])
    } else {
        selector(&spec["selector"])
    }));
    cells
}

pub(super) fn stateful_set(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let ready = format!(
        "{}/{}",
        number(&status["readyReplicas"]),
        number(&spec["replicas"])
    );
    let mut cells = vec![json!(name(object)), json!(ready), json!(age(object, now))];
    cells.extend(containers(&spec["template"]["spec"]));
    cells
}

pub(super) fn daemon_set(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let mut cells = vec![
        json!(name(object)),
        json!(number(&status["desiredNumberScheduled"])),
        json!(number(&status["currentNumberScheduled"])),
        json!(number(&status["numberReady"])),
        json!(number(&status["updatedNumberScheduled"])),
        json!(number(&status["numberAvailable"])),
        json!(labels(&spec["template"]["spec"]["nodeSelector"])),
        json!(age(object, now)),
    ];
    cells.extend(containers(&spec["template"]["spec"]));
    cells.push(json!(selector(&spec["selector"])));
    cells
}

pub(super) fn controller_revision(object: &Value, now: Timestamp) -> Cells {
    let owners = items(&object["metadata"]["ownerReferences"]);
    let controller = owners
        .iter()
        .find(|owner| owner["controller"] == true)
        .map_or(NONE.to_owned(), |owner| {
            let (group, _) = text(&owner["apiVersion"])
                .split_once('/')
                .unwrap_or_default();
            let kind = text(&owner["kind"]).to_lowercase();
            let dot = if group.is_empty() { "" } else { "." };
            format!("{kind}{dot}{group}/{}", text(&owner["name"]))
        });
    vec![
        json!(name(object)),
        json!(controller),
        json!(number(&object["revision"])),
        json!(age(object, now)),
    ]
}

pub(super) fn job(object: &Value, now: Timestamp) -> Cells {
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
        json!(job_state(object)),
        json!(completions),
        json!(duration),
        json!(age(object, now)),
    ];
    cells.extend(containers(&spec["template"]["spec"]));
    cells.push(json!(selector(&spec["selector"])));
    cells
}

fn job_state(job: &Value) -> &'static str {
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

pub(super) fn cron_job(object: &Value, now: Timestamp) -> Cells {
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

pub(super) fn autoscaler(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let target = &spec["scaleTargetRef"];
    let minimum = spec["minReplicas"].as_i64();
    vec![
        json!(name(object)),
        json!(format!(
            "{}/{}",
            text(&target["kind"]),
            text(&target["name"])
        )),
        json!(autoscaler_targets(object)),
        json!(minimum.map_or(super::cell::UNSET.to_owned(), |minimum| minimum.to_string())),
        json!(number(&spec["maxReplicas"])),
        json!(number(&status["currentReplicas"])),
        json!(age(object, now)),
    ]
}

/// `cpu: 10%/80%`: each metric as it is and as it should be, the first two of them.
fn autoscaler_targets(object: &Value) -> String {
    const SHOWN_MAX: usize = 2;
    const UNKNOWN: &str = "<unknown>";
    let (spec, status) = (&object["spec"], &object["status"]);
    if let Some(target) = spec["targetCPUUtilizationPercentage"].as_i64() {
        let current = status["currentCPUUtilizationPercentage"].as_i64();
        let current = current.map_or(UNKNOWN.to_owned(), |current| format!("{current}%"));
        return format!("cpu: {current}/{target}%");
    }
    let metrics = items(&spec["metrics"]);
    let shown = metrics
        .iter()
        .take(SHOWN_MAX)
        .enumerate()
        .map(|(index, metric)| {
            let source = text(&metric["type"]);
            let field = format!(
                "{}{}",
                source[..source.len().min(1)].to_lowercase(),
                source.get(1..).unwrap_or_default()
            );
            let current = &status["currentMetrics"][index][&field]["current"];
            let target = &metric[&field]["target"];
            let value =
                |of: &Value| match (&of["averageUtilization"], &of["averageValue"], &of["value"]) {
                    (Value::Number(percent), ..) => format!("{percent}%"),
                    (_, Value::String(average), _) => average.clone(),
                    (_, _, Value::String(value)) => value.clone(),
                    _ => UNKNOWN.to_owned(),
                };
            let name = text(&metric[&field]["name"]);
            let prefix = if name.is_empty() {
                String::new()
            } else {
                format!("{name}: ")
            };
            format!("{prefix}{}/{}", value(current), value(target))
        });
    let mut shown: Vec<String> = shown.collect();
    if metrics.len() > SHOWN_MAX {
        shown.push(format!("+ {} more...", metrics.len() - SHOWN_MAX));
    }
    or_none(shown.join(", ").replace(", + ", " + "))
}

pub(super) fn pod_template(object: &Value, _now: Timestamp) -> Cells {
    let template = &object["template"];
    let mut cells = vec![json!(name(object))];
    cells.extend(containers(&template["spec"]));
    cells.push(json!(labels(&template["metadata"]["labels"])));
    cells
}

/// `25%` or `3`, or what stands for nothing.
pub(super) fn bound(value: &Value) -> String {
    match value {
        Value::Null => "N/A".to_owned(),
        value => plain(value),
    }
}
