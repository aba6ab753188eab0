//! The metrics of an autoscaler: in `autoscaling/v2`, and in the annotations of `autoscaling/v1`.

use serde_json::{Map, Value, json};

/// The target or the current value of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// `spec.metrics`.
    Target,
    /// `status.currentMetrics`.
    Current,
}

/// The sources that a metric can have, by their fields.
const SOURCES: [&str; 5] = [
    "object",
    "pods",
    "resource",
    "containerResource",
    "external",
];

/// A metric of `v2` as annotations have it.
pub(super) fn to_old(metric: &Value, side: Side) -> Value {
    each_source(metric, |field, source| old_source(field, source, side))
}

/// A metric of an annotation as `v2` has it.
pub(super) fn to_new(metric: &Value, side: Side) -> Value {
    each_source(metric, |field, source| new_source(field, source, side))
}

fn each_source(metric: &Value, convert: impl Fn(&str, &Value) -> Value) -> Value {
    let mut converted = Map::new();
    let kind = metric["type"].as_str().unwrap_or_default();
    converted.insert("type".to_owned(), kind.into());
    for field in SOURCES {
        if metric[field].is_object() {
            converted.insert(field.to_owned(), convert(field, &metric[field]));
        }
    }
    Value::Object(converted)
}

fn old_source(field: &str, source: &Value, side: Side) -> Value {
    let measure = &source[side.field()];
    let mut old = Map::new();
    match field {
        "resource" | "containerResource" => {
            old.insert("name".to_owned(), text(&source["name"]));
            let utilization = side.name("AverageUtilization");
            put(&mut old, &utilization, &measure["averageUtilization"]);
            let average = side.name("AverageValue");
            side.put(&mut old, &average, &measure["averageValue"]);
            if field == "containerResource" {
                old.insert("container".to_owned(), text(&source["container"]));
            }
            return Value::Object(old);
        }
        _ => {
            old.insert("metricName".to_owned(), text(&source["metric"]["name"]));
        }
    }
    let selector = &source["metric"]["selector"];
    match field {
        "object" => {
            old.insert("target".to_owned(), source["describedObject"].clone());
            old.insert(side.name("Value"), quantity(&measure["value"]));
            put(&mut old, "selector", selector);
            put(&mut old, "averageValue", &measure["averageValue"]);
        }
        "pods" => {
            let average = quantity(&measure["averageValue"]);
            old.insert(side.name("AverageValue"), average);
            put(&mut old, "selector", selector);
        }
        _ => {
            put(&mut old, "metricSelector", selector);
            side.put(&mut old, &side.name("Value"), &measure["value"]);
            let average = side.name("AverageValue");
            put(&mut old, &average, &measure["averageValue"]);
        }
    }
    Value::Object(old)
}

fn new_source(field: &str, source: &Value, side: Side) -> Value {
    let value = &source[side.name("Value")];
    let average = &source[side.name("AverageValue")];
    let utilization = &source[side.name("AverageUtilization")];
    let mut measure = Map::new();
    let (kind, identity) = match field {
        "resource" | "containerResource" => {
            put(&mut measure, "averageUtilization", utilization);
            side.put(&mut measure, "averageValue", average);
            let mut identity = Map::new();
            identity.insert("name".to_owned(), text(&source["name"]));
            if field == "containerResource" {
                identity.insert("container".to_owned(), text(&source["container"]));
            }
            let kind = if utilization.is_null() {
                "AverageValue"
            } else {
                "Utilization"
            };
            (kind, identity)
        }
        "object" => {
            let average = &source["averageValue"];
            measure.insert("value".to_owned(), quantity(value));
            put(&mut measure, "averageValue", average);
            let mut identity = identified(source, "selector");
            identity.insert("describedObject".to_owned(), source["target"].clone());
            (
                if average.is_null() {
                    "Value"
                } else {
                    "AverageValue"
                },
                identity,
            )
        }
        "pods" => {
            measure.insert("averageValue".to_owned(), quantity(average));
            ("AverageValue", identified(source, "selector"))
        }
        _ => {
            side.put(&mut measure, "value", value);
            put(&mut measure, "averageValue", average);
            let kind = if value.is_null() {
                "AverageValue"
            } else {
                "Value"
            };
            (kind, identified(source, "metricSelector"))
        }
    };
    if side == Side::Target {
        measure.insert("type".to_owned(), kind.into());
    }
    let mut new = identity;
    new.insert(side.field().to_owned(), Value::Object(measure));
    Value::Object(new)
}

/// The name and the selector of a metric.
fn identified(source: &Value, selector: &str) -> Map<String, Value> {
    let mut metric = json!({"name": text(&source["metricName"])});
    if !source[selector].is_null() {
        metric["selector"] = source[selector].clone();
    }
    Map::from_iter([("metric".to_owned(), metric)])
}

// === impl Side ===

impl Side {
    /// Returns the field of `v2`.
    fn field(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Current => "current",
        }
    }

    /// Returns the name in annotations.
    fn name(self, measure: &str) -> String {
        format!("{}{measure}", self.field())
    }

    /// Sets a quantity: a current value is always set, a target may be absent.
    fn put(self, fields: &mut Map<String, Value>, name: &str, value: &Value) {
        match self {
            Self::Target => put(fields, name, value),
            Self::Current => {
                fields.insert(name.to_owned(), quantity(value));
            }
        }
    }
}

fn put(fields: &mut Map<String, Value>, name: &str, value: &Value) {
    if !value.is_null() {
        fields.insert(name.to_owned(), value.clone());
    }
}

fn quantity(value: &Value) -> Value {
    match value {
        Value::Null => json!("0"),
        value => value.clone(),
    }
}

fn text(value: &Value) -> Value {
    value.as_str().unwrap_or_default().into()
}
