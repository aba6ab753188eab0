//! Validation of the metrics of autoscalers, and of references to scaled and described objects.

use fakeserver_value::{field::Field, findings::Findings, names::path_segment_problems};

use crate::{
    formats::{check_label, quantity},
    resource_names::check_container_resource,
};

/// The types of metrics, in the order in which findings list them.
const TYPES: [&str; 5] = [
    "ContainerResource",
    "External",
    "Object",
    "Pods",
    "Resource",
];

/// The sources of metrics in the order in which they are checked, and their types.
const SOURCES: [(&str, &str); 5] = [
    ("object", "Object"),
    ("external", "External"),
    ("pods", "Pods"),
    ("resource", "Resource"),
    ("containerResource", "ContainerResource"),
];

/// The API versions that a reference may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum References {
    /// Versions of groups with a name.
    WithGroup,
    /// Versions of the core group, too.
    CoreToo,
    /// Any text.
    AnyVersion,
}

/// Checks a reference to an object.
pub(super) fn check_reference(reference: &Field<'_>, allowed: References, found: &mut Findings) {
    for name in ["kind", "name"] {
        check_segment(&reference.at(name), "", found);
    }
    let version = reference.at("apiVersion");
    if let Some(problem) = reference_problem(version.text(), allowed) {
        found.invalid_text(&version, &problem);
    }
}

/// Returns the error of the API version of a reference.
pub(super) fn reference_problem(version: &str, allowed: References) -> Option<String> {
    let slashes = version.matches('/').count();
    if allowed == References::AnyVersion {
        return None;
    }
    if slashes > 1 {
        return Some(format!("unexpected GroupVersion string: {version}"));
    }
    let has_group = slashes == 1 && !version.starts_with('/');
    let is_refused = allowed == References::WithGroup && !has_group;
    is_refused.then(|| "apiVersion must specify API group".to_owned())
}

/// Checks the metrics, of which an autoscaler that may scale to zero needs one from outside its pods.
pub(super) fn check_metrics(
    metrics: &Field<'_>,
    min_replicas: &Field<'_>,
    described: References,
    found: &mut Findings,
) {
    for metric in metrics.items() {
        check_metric(&metric, described, found);
    }
    let is_outside = |metric: Field<'_>| matches!(metric.at("type").text(), "Object" | "External");
    let scales_to_zero = min_replicas.is_set() && min_replicas.number() == 0;
    if scales_to_zero && !metrics.items().any(is_outside) {
        found.forbidden(
            metrics,
            "must specify at least one Object or External metric to support scaling to zero replicas",
        );
    }
}

fn check_metric(metric: &Field<'_>, described: References, found: &mut Findings) {
    let kind = metric.at("type");
    if !kind.has_text() {
        found.required(&kind, "must specify a metric source type");
    }
    if !TYPES.contains(&kind.text()) {
        found.not_supported(&kind, &TYPES);
    }
    let given: Vec<&'static str> = SOURCES
        .iter()
        .map(|(source, _)| *source)
        .filter(|source| metric.at(source).is_set())
        .collect();
    if let Some(first) = given.first() {
        check_source(first, &metric.at(first), described, found);
    }
    let expected = SOURCES.iter().find(|(_, of)| *of == kind.text());
    match expected {
        None => found.not_supported(&kind, &TYPES),
        Some((source, _)) if !given.contains(source) => found.required(
            &metric.at(source),
            "must populate information for the given metric source",
        ),
        Some(_) => {}
    }
    if given.len() > 1 {
        let expected = expected.map(|(source, _)| *source);
        for source in given.into_iter().filter(|source| Some(*source) != expected) {
            found.forbidden(
                &metric.at(source),
                "must populate the given metric source only",
            );
        }
    }
}

fn check_source(kind: &str, source: &Field<'_>, described: References, found: &mut Findings) {
    let target = source.at("target");
    match kind {
        "object" => check_reference(&source.at("describedObject"), described, found),
        "resource" | "containerResource" => check_resource_metric(kind, source, found),
        _ => {}
    }
    if !kind.ends_with("esource") {
        let name = source.at("metric").at("name");
        check_segment(&name, "must specify a metric name", found);
    }
    check_target(&target, found);
    let (value, average) = (target.at("value"), target.at("averageValue"));
    let utilization = target.at("averageUtilization");
    match kind {
        "object" if !value.is_set() && !average.is_set() => {
            found.required(&average, "must set either a target value or averageValue");
        }
        "external" if !value.is_set() && !average.is_set() => found.required(
            &average,
            "must set either a target value for metric or a per-pod target",
        ),
        "external" if value.is_set() && average.is_set() => found.forbidden(
            &value,
            "may not set both a target value for metric and a per-pod target",
        ),
        "pods" if !average.is_set() => {
            found.required(&average, "must specify a positive target averageValue");
        }
        "resource" | "containerResource" if !utilization.is_set() && !average.is_set() => found
            .required(
                &utilization,
                "must set either a target raw value or a target utilization",
            ),
        "resource" | "containerResource" if utilization.is_set() && average.is_set() => found
            .forbidden(
                &average,
                "may not set both a target raw value and a target utilization",
            ),
        _ => {}
    }
}

fn check_resource_metric(kind: &str, source: &Field<'_>, found: &mut Findings) {
    let (name, container) = (source.at("name"), source.at("container"));
    if !name.has_text() {
        found.required(&name, "must specify a resource name");
    } else if kind == "containerResource" {
        check_container_resource(name.text(), &name, found);
    }
    if kind != "containerResource" {
        return;
    }
    if container.has_text() {
        check_label(&container, found);
    } else {
        found.required(&container, "must specify a container");
    }
}

fn check_target(target: &Field<'_>, found: &mut Findings) {
    let kind = target.at("type");
    if !kind.has_text() {
        found.required(&kind, "must specify a metric target type");
    }
    if !["Utilization", "Value", "AverageValue"].contains(&kind.text()) {
        found.invalid_text(&kind, "must be either Utilization, Value, or AverageValue");
    }
    for amount in [target.at("value"), target.at("averageValue")] {
        let parsed = quantity(amount.value());
        if amount.is_set() && (parsed.is_zero() || parsed.is_negative()) {
            found.invalid(&amount, "must be positive");
        }
    }
    let utilization = target.at("averageUtilization");
    if utilization.is_set() && utilization.number() < 1 {
        found.invalid(&utilization, "must be greater than 0");
    }
}

/// Checks a text that has to fit into a path.
fn check_segment(field: &Field<'_>, missing: &str, found: &mut Findings) {
    if field.has_text() {
        found.problems(field, path_segment_problems(field.text()));
    } else {
        found.required(field, missing);
    }
}
