//! Autoscalers of `autoscaling/v1` and of `autoscaling/v2`.
//!
//! The older version has one metric, the use of the CPU. Other metrics, current metrics, conditions and behavior are
//! JSON in annotations of its objects. An annotation that cannot be parsed is ignored.

use fakeserver_value::{
    edit::{set, within},
    served_form::ServedForm,
};
use serde_json::{Map, Value, json};

use super::{
    metrics::{Side, to_new, to_old},
    ordered::print,
};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// The target of an autoscaler without metrics.
const DEFAULT_CPU_PERCENT: u8 = 80;

/// The fields of scaling rules and of their policies, which annotations have in the words of Go.
const RULES: [(&str, &str); 4] = [
    ("stabilizationWindowSeconds", "StabilizationWindowSeconds"),
    ("selectPolicy", "SelectPolicy"),
    ("policies", "Policies"),
    ("tolerance", "Tolerance"),
];
const POLICY: [(&str, &str); 3] = [
    ("type", "Type"),
    ("value", "Value"),
    ("periodSeconds", "PeriodSeconds"),
];
const DIRECTIONS: [(&str, &str); 2] = [("scaleUp", "ScaleUp"), ("scaleDown", "ScaleDown")];

/// Autoscalers of `autoscaling/v1`.
pub(super) static V1: ServedForm = ServedForm {
    group: "autoscaling",
    version: "v1",
    api_version: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    is_stored: false,
    other: &V2,
    from_other: to_v1,
    without_other: |autoscaler| autoscaler,
};

/// Autoscalers of `autoscaling/v2`, the stored form.
pub(super) static V2: ServedForm = ServedForm {
    group: "autoscaling",
    version: "v2",
    api_version: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    is_stored: true,
    other: &V1,
    from_other: to_v2,
    without_other: without_annotations,
};

/// Sets the target of an autoscaler of `autoscaling/v1` that has neither a target nor metrics in annotations.
pub fn set_default_target(autoscaler: &mut Value) {
    let metrics = autoscaler["metadata"]["annotations"][METRICS].as_str();
    let metrics = metrics.and_then(|text| serde_json::from_str::<Vec<Value>>(text).ok());
    if metrics.is_some_and(|metrics| !metrics.is_empty()) {
        return;
    }
    if let Some(spec) = within(autoscaler, "spec") {
        set(
            spec,
            "targetCPUUtilizationPercentage",
            DEFAULT_CPU_PERCENT.into(),
        );
    }
}

fn to_v1(autoscaler: Value) -> Value {
    let mut autoscaler = without_annotations(autoscaler);
    let metrics = take_list(&mut autoscaler["spec"], "metrics");
    let behavior = take(&mut autoscaler["spec"], "behavior");
    let current = take_list(&mut autoscaler["status"], "currentMetrics");
    let conditions = take_list(&mut autoscaler["status"], "conditions");

    let first_cpu = metrics.iter().find(|metric| is_cpu(metric));
    if let Some(percent) = first_cpu.and_then(|cpu| utilization(cpu, Side::Target)) {
        autoscaler["spec"]["targetCPUUtilizationPercentage"] = percent.clone();
    }
    let cpus = current.iter().filter(|metric| is_cpu(metric));
    if let Some(percent) = cpus
        .filter_map(|cpu| utilization(cpu, Side::Current))
        .next_back()
    {
        autoscaler["status"]["currentCPUUtilizationPercentage"] = percent.clone();
    }
    let others = metrics
        .iter()
        .filter(|metric| !is_cpu(metric) || utilization(metric, Side::Target).is_none());
    let others = others.map(|metric| to_old(metric, Side::Target)).collect();
    let current = current.iter().map(|metric| to_old(metric, Side::Current));
    annotate(&mut autoscaler, METRICS, others);
    annotate(&mut autoscaler, CURRENT_METRICS, current.collect());
    annotate(&mut autoscaler, CONDITIONS, conditions);
    if behavior.is_object() {
        let printed = print(&behavior_to_old(&behavior));
        autoscaler["metadata"]["annotations"][BEHAVIOR] = printed.into();
    }
    autoscaler
}

fn to_v2(mut autoscaler: Value) -> Value {
    let annotation = |name: &str| -> Option<Value> {
        let text = autoscaler["metadata"]["annotations"][name].as_str()?;
        serde_json::from_str(text).ok()
    };
    let list = |name: &str| -> Option<Vec<Value>> {
        match annotation(name)? {
            Value::Array(items) if items.iter().all(Value::is_object) => Some(items),
            _ => None,
        }
    };
    let others = list(METRICS).unwrap_or_default();
    let measured = list(CURRENT_METRICS);
    let conditions = list(CONDITIONS);
    let behavior = annotation(BEHAVIOR).filter(Value::is_object);

    let mut metrics: Vec<Value> = others
        .iter()
        .map(|metric| to_new(metric, Side::Target))
        .collect();
    let percent = take(&mut autoscaler["spec"], "targetCPUUtilizationPercentage");
    if !percent.is_null() {
        metrics.push(cpu(&percent));
    } else if metrics.is_empty() {
        metrics.push(cpu(&DEFAULT_CPU_PERCENT.into()));
    }
    autoscaler["spec"]["metrics"] = metrics.into();
    if let Some(behavior) = behavior {
        autoscaler["spec"]["behavior"] = behavior_to_new(&behavior);
    }
    let percent = take(&mut autoscaler["status"], "currentCPUUtilizationPercentage");
    if let Some(measured) = measured {
        let current = measured.iter().map(|metric| to_new(metric, Side::Current));
        autoscaler["status"]["currentMetrics"] = current.collect();
    } else if !percent.is_null() {
        let current = json!({"name": "cpu", "current": {"averageUtilization": percent}});
        let current = json!([{"type": "Resource", "resource": current}]);
        autoscaler["status"]["currentMetrics"] = current;
    }
    if let Some(conditions) = conditions {
        autoscaler["status"]["conditions"] = conditions.into();
    }
    without_annotations(autoscaler)
}

/// Takes away what only the older version has in annotations.
fn without_annotations(mut autoscaler: Value) -> Value {
    let annotations = autoscaler
        .get_mut("metadata")
        .and_then(|metadata| metadata.get_mut("annotations"));
    if let Some(Value::Object(annotations)) = annotations {
        for name in [METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR] {
            annotations.remove(name);
        }
        if annotations.is_empty() {
            take(&mut autoscaler["metadata"], "annotations");
        }
    }
    autoscaler
}

fn annotate(autoscaler: &mut Value, name: &str, list: Vec<Value>) {
    if !list.is_empty() {
        let printed = print(&Value::Array(list));
        autoscaler["metadata"]["annotations"][name] = printed.into();
    }
}

fn cpu(percent: &Value) -> Value {
    let target = json!({"type": "Utilization", "averageUtilization": percent});
    json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
}

fn is_cpu(metric: &Value) -> bool {
    metric["type"] == "Resource" && metric["resource"]["name"] == "cpu"
}

fn utilization(metric: &Value, side: Side) -> Option<&Value> {
    let measure = match side {
        Side::Target => "target",
        Side::Current => "current",
    };
    let percent = &metric["resource"][measure]["averageUtilization"];
    (!percent.is_null()).then_some(percent)
}

/// Converts to the internal Go type without JSON tags, of which Go writes every field.
fn behavior_to_old(behavior: &Value) -> Value {
    let rules = |rules: &Value| {
        if rules.is_null() {
            return Value::Null;
        }
        let mut old = renamed(rules, RULES);
        if let Some(policies) = rules["policies"].as_array() {
            let policies = policies.iter().map(|policy| renamed(policy, POLICY));
            old["Policies"] = policies.collect();
        }
        old
    };
    let directions = DIRECTIONS.map(|(new, old)| (old.to_owned(), rules(&behavior[new])));
    Value::Object(Map::from_iter(directions))
}

fn behavior_to_new(behavior: &Value) -> Value {
    let rules = |rules: &Value| {
        let mut new = renamed(rules, RULES.map(|(new, old)| (old, new)));
        if let Some(policies) = rules["Policies"].as_array() {
            let back = POLICY.map(|(new, old)| (old, new));
            let policies = policies.iter().map(|policy| renamed(policy, back));
            new["policies"] = policies.collect();
        }
        new
    };
    let directions = DIRECTIONS
        .into_iter()
        .filter(|(_, old)| behavior[*old].is_object())
        .map(|(new, old)| (new.to_owned(), rules(&behavior[old])));
    Value::Object(directions.collect())
}

fn renamed<const N: usize>(fields: &Value, names: [(&str, &str); N]) -> Value {
    let renamed = names.map(|(from, to)| (to.to_owned(), fields[from].clone()));
    Value::Object(Map::from_iter(renamed))
}

/// Takes a field out of a struct; null if the value is no struct.
fn take(fields: &mut Value, name: &str) -> Value {
    let fields = fields.as_object_mut();
    let taken = fields.and_then(|fields| fields.remove(name));
    taken.unwrap_or_default()
}

fn take_list(fields: &mut Value, name: &str) -> Vec<Value> {
    match take(fields, name) {
        Value::Array(items) => items,
        _ => Vec::new(),
    }
}
