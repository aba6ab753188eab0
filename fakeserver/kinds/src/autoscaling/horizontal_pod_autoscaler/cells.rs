//! Printed cells of autoscalers.

use fakeserver_value::read::{items, number, text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::cell::{self, Cells, age, name, or_none};

pub(super) fn cells(object: &Value, now: Timestamp) -> Cells {
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
        json!(targets(object)),
        json!(minimum.map_or(cell::UNSET.to_owned(), |minimum| minimum.to_string())),
        json!(number(&spec["maxReplicas"])),
        json!(number(&status["currentReplicas"])),
        json!(age(object, now)),
    ]
}

/// Prints the current and the target value of the first two metrics: `cpu: 10%/80%`.
fn targets(object: &Value) -> String {
    const SHOWN_MAX: usize = 2;
    const UNKNOWN: &str = "<unknown>";
    let (spec, status) = (&object["spec"], &object["status"]);
    if let Some(target) = spec["targetCPUUtilizationPercentage"].as_i64() {
        let current = status["currentCPUUtilizationPercentage"].as_i64();
        let current = current.map_or(UNKNOWN.to_owned(), |current| format!("{current}%"));
        return format!("cpu: {current}/{target}%");
    }
    let metrics = items(&spec["metrics"]);
    let cells = metrics
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
    let mut cells: Vec<String> = cells.collect();
    if metrics.len() > SHOWN_MAX {
        cells.push(format!("+ {} more...", metrics.len() - SHOWN_MAX));
    }
    or_none(cells.join(", ").replace(", + ", " + "))
}
