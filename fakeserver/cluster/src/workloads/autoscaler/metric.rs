//! One metric of an autoscaler: its measurement, the replicas that it proposes, and its status.

use fakeserver_kinds::{
    conditions,
    metrics::usage::{self, ScriptedContainers},
};
use fakeserver_value::{
    read::{items, text},
    schema::Quantity,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    calculator::{
        Proposal, Sample, State, Tolerance, by_average, by_utilization, by_value, by_value_of_each,
    },
    target::Target,
};

/// The annotation of an autoscaler that sets the value of a metric that nothing measures here, before the metric's name.
const VALUE: &str = "fakeserver/metric.";
/// The time after its start in which a pod that is not ready may still initialize.
const INITIALIZATION: SignedDuration = SignedDuration::from_mins(5);
/// The time after its start in which a pod that has never been ready becomes so.
const FIRST_READINESS: SignedDuration = SignedDuration::from_secs(30);
/// The time over which usage is measured.
const WINDOW: SignedDuration = SignedDuration::from_secs(15);

const NO_RESOURCE_METRICS: &str = "unable to fetch metrics from resource metrics API: the server could not find the \
                                   requested resource (get pods.metrics.k8s.io)";
const NO_CUSTOM_METRICS: &str = "unable to fetch metrics from custom metrics API: no custom metrics API \
                                 (custom.metrics.k8s.io) registered";

/// The facts by which metrics are judged.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) autoscaler: &'a Value,
    pub(super) target: &'a Target,
    /// The pods that the target selects.
    pub(super) pods: &'a [Value],
    /// The amounts that each of them uses by its stages; none if nothing measures usage.
    pub(super) scripted: Option<&'a [ScriptedContainers]>,
    pub(super) tolerance: Tolerance,
    pub(super) now: Timestamp,
}

/// The proposal of a metric, and its status.
#[derive(Debug, PartialEq)]
pub(super) struct MetricProposal {
    pub(super) replicas: i64,
    pub(super) name: String,
    pub(super) status: Value,
}

/// The reason why a metric proposes nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MetricError {
    pub(super) reason: &'static str,
    pub(super) message: String,
    /// The words before the message in the summary of all metrics.
    pub(super) prefix: String,
}

// === impl Facts ===

impl Facts<'_> {
    /// Judges one metric of the specification.
    pub(super) fn judge(&self, metric: &Value) -> Result<MetricProposal, MetricError> {
        match text(&metric["type"]) {
            "Resource" => self.resource(&metric["resource"], None),
            "ContainerResource" => {
                let source = &metric["containerResource"];
                self.resource(source, Some(text(&source["container"])))
            }
            "Pods" => self.pods(&metric["pods"]),
            "Object" => self.object(&metric["object"]),
            "External" => self.external(&metric["external"]),
            other => Err(MetricError {
                reason: "InvalidMetricSourceType",
                message: format!("unknown metric source type {other:?}"),
                prefix: String::new(),
            }),
        }
    }

    fn resource(
        &self,
        source: &Value,
        container: Option<&str>,
    ) -> Result<MetricProposal, MetricError> {
        let (name, target) = (text(&source["name"]), &source["target"]);
        let (reason, part) = match container {
            None => ("FailedGetResourceMetric", format!("{name} resource")),
            Some(container) => {
                let part = format!("{container} container");
                ("FailedGetContainerResourceMetric", part)
            }
        };
        let current = self.target.replicas;
        let average = milli(&target["averageValue"]);
        let needs_requests = average.is_none();
        let what = if needs_requests {
            "utilization"
        } else {
            "usage"
        };
        let unavailable = |why: String| MetricError {
            reason,
            message: format!("failed to get {name} {what}: {why}"),
            prefix: format!("failed to get {part} metric value: "),
        };
        let samples = self
            .samples(name, container, needs_requests)
            .map_err(unavailable)?;
        let proposal = if let Some(average) = average {
            by_average(&samples, current, average, self.tolerance)
        } else {
            let wanted = target["averageUtilization"].as_i64().unwrap_or_default();
            by_utilization(&samples, current, wanted, self.tolerance)
        };
        let proposal = proposal.map_err(unavailable)?;
        let mut value = json!({"averageValue": quantity(proposal.value)});
        if let Some(utilization) = proposal.utilization {
            value["averageUtilization"] = json!(utilization);
        }
        let mut status = json!({"name": name, "current": value});
        let (kind, field) = match container {
            None => ("Resource", "resource"),
            Some(container) => {
                status["container"] = json!(container);
                ("ContainerResource", "containerResource")
            }
        };
        let suffix = match proposal.utilization {
            Some(_) => " utilization (percentage of request)",
            None => "",
        };
        let what = match container {
            None => format!("{name} resource{suffix}"),
            Some(_) => format!("{name} container resource{suffix}"),
        };
        Ok(judged(proposal, what, kind, field, &status))
    }

    /// Returns the samples of a resource, of all containers or of one.
    fn samples(
        &self,
        resource: &str,
        container: Option<&str>,
        needs_requests: bool,
    ) -> Result<Vec<Sample>, String> {
        let scripted = self.scripted.ok_or_else(|| {
            format!("unable to get metrics for resource {resource}: {NO_RESOURCE_METRICS}")
        })?;
        let measured: Vec<_> = self
            .pods
            .iter()
            .zip(scripted)
            .map(|(pod, scripted)| used(pod, scripted, resource, container))
            .collect();
        if measured.iter().all(Option::is_none) {
            return Err(format!(
                "unable to get metrics for resource {resource}: no metrics returned from resource metrics API"
            ));
        }
        let samples = self.pods.iter().zip(measured).map(|(pod, usage)| {
            let request = if needs_requests {
                requested(pod, resource, container)?
            } else {
                0
            };
            Ok(Sample {
                state: self.state(pod, resource == "cpu" && usage.is_some()),
                usage,
                request,
            })
        });
        samples.collect()
    }

    /// Returns the part of a pod in a calculation, by its readiness if its start uses more than its work.
    fn state(&self, pod: &Value, by_readiness: bool) -> State {
        let phase = &pod["status"]["phase"];
        if !pod["metadata"]["deletionTimestamp"].is_null() || phase == "Failed" {
            return State::Ignored;
        }
        if phase == "Pending" || (by_readiness && self.is_starting(pod)) {
            return State::Unready;
        }
        State::Counted
    }

    fn is_starting(&self, pod: &Value) -> bool {
        let ready = conditions::find(&pod["status"], "Ready");
        let started = time(&pod["status"]["startTime"]);
        let (Some(ready), Some(started)) = (ready, started) else {
            return true;
        };
        let is_unready = ready["status"] == "False";
        let Some(since) = time(&ready["lastTransitionTime"]) else {
            return is_unready;
        };
        if self.now.duration_since(started) < INITIALIZATION {
            return is_unready || self.now.duration_since(since) < WINDOW;
        }
        is_unready && since.duration_since(started) < FIRST_READINESS
    }

    fn pods(&self, source: &Value) -> Result<MetricProposal, MetricError> {
        let name = text(&source["metric"]["name"]);
        let unavailable = |why: String| MetricError {
            reason: "FailedGetPodsMetric",
            message: why,
            prefix: "failed to get pods metric value: ".to_owned(),
        };
        let value = self.value(name).map_err(|why| {
            let why = why.unwrap_or_else(|| NO_CUSTOM_METRICS.to_owned());
            unavailable(format!("unable to get metric {name}: {why}"))
        })?;
        let samples: Vec<Sample> = self
            .pods
            .iter()
            .map(|pod| Sample {
                state: self.state(pod, false),
                usage: (pod["status"]["phase"] == "Running").then_some(value),
                request: 0,
            })
            .collect();
        let wanted = milli(&source["target"]["averageValue"]).unwrap_or(1);
        let proposal = by_average(&samples, self.target.replicas, wanted, self.tolerance)
            .map_err(unavailable)?;
        let value = json!({"averageValue": quantity(proposal.value)});
        let status = json!({"metric": source["metric"], "current": value});
        let what = format!("pods metric {name}");
        Ok(judged(proposal, what, "Pods", "pods", &status))
    }

    fn object(&self, source: &Value) -> Result<MetricProposal, MetricError> {
        let name = text(&source["metric"]["name"]);
        let described = &source["describedObject"];
        let (kind, object) = (text(&described["kind"]), text(&described["name"]));
        let namespace = text(&self.autoscaler["metadata"]["namespace"]);
        let of_average = if source["target"]["averageValue"].is_null() {
            String::new()
        } else {
            format!("failed to get {name} object metric: ")
        };
        let value = self.value(name).map_err(|why| {
            let why = why.unwrap_or_else(|| NO_CUSTOM_METRICS.to_owned());
            MetricError {
                reason: "FailedGetObjectMetric",
                message: format!(
                    "unable to get metric {name}: {kind} on {namespace} {object}/{why}"
                ),
                prefix: format!("failed to get object metric value: {of_average}"),
            }
        })?;
        let (proposal, current) = self.of_value(value, &source["target"]);
        let status = json!({
            "metric": source["metric"],
            "describedObject": described,
            "current": current,
        });
        let what = if source["target"]["averageValue"].is_null() {
            format!("{kind} metric {name}")
        } else {
            format!("external metric {name}({})", selector(source))
        };
        Ok(judged(proposal, what, "Object", "object", &status))
    }

    fn external(&self, source: &Value) -> Result<MetricProposal, MetricError> {
        let name = text(&source["metric"]["name"]);
        let namespace = text(&self.autoscaler["metadata"]["namespace"]);
        let selector = selector(source);
        let part = if source["target"]["averageValue"].is_null() {
            format!("external metric {name}")
        } else {
            format!("{name} external metric")
        };
        let value = self.value(name).map_err(|why| {
            let why = why.unwrap_or_else(|| {
                format!(
                    "unable to fetch metrics from external metrics API: the server could not find the requested \
                     resource (get {name}.external.metrics.k8s.io)"
                )
            });
            MetricError {
                reason: "FailedGetExternalMetric",
                message: format!(
                    "unable to get external metric {namespace}/{name}/{selector}: {why}"
                ),
                prefix: format!(
                    "failed to get {name} external metric value: failed to get {part}: "
                ),
            }
        })?;
        let (proposal, current) = self.of_value(value, &source["target"]);
        let status = json!({"metric": source["metric"], "current": current});
        let what = format!("external metric {name}({selector})");
        Ok(judged(proposal, what, "External", "external", &status))
    }

    /// Returns the proposal for a value that all replicas share, and how it is shown.
    fn of_value(&self, value: i64, target: &Value) -> (Proposal, Value) {
        let Target {
            replicas, present, ..
        } = *self.target;
        if let Some(average) = milli(&target["averageValue"]) {
            let proposal = by_value_of_each(value, average, present, self.tolerance);
            return (proposal, json!({"averageValue": quantity(proposal.value)}));
        }
        let wanted = milli(&target["value"]).unwrap_or(1);
        let ready = self.pods.iter().filter(|pod| is_ready(pod)).count();
        let ready = i64::try_from(ready).unwrap_or(i64::MAX);
        let proposal = by_value(value, wanted, replicas, ready, self.tolerance);
        (proposal, json!({"value": quantity(proposal.value)}))
    }

    /// Returns the value of a metric that the user sets, in thousandths; the error has the problem, or `None` if
    /// it is not set.
    fn value(&self, name: &str) -> Result<i64, Option<String>> {
        let annotation = format!("{VALUE}{name}");
        let set = &self.autoscaler["metadata"]["annotations"][&annotation];
        let set = set.as_str().ok_or(None)?;
        let quantity = set.parse::<Quantity>().ok();
        let quantity = quantity.filter(|quantity| !quantity.is_negative());
        quantity.map(|quantity| quantity.in_units_of(-3)).ok_or_else(|| {
            Some(format!(
                "annotation {annotation}: {set:?} is no value; write a quantity such as 250m or 30"
            ))
        })
    }
}

fn judged(
    proposal: Proposal,
    name: String,
    kind: &str,
    field: &str,
    status: &Value,
) -> MetricProposal {
    MetricProposal {
        replicas: proposal.replicas,
        name,
        status: json!({"type": kind, field: status}),
    }
}

/// Returns the usage of a resource by a pod, or by one of its containers, in thousandths.
fn used(
    pod: &Value,
    scripted: &ScriptedContainers,
    resource: &str,
    container: Option<&str>,
) -> Option<i64> {
    let containers = usage::of_pod(pod, scripted).ok()?;
    let mut of = containers
        .iter()
        .filter(|(name, _)| container.is_none_or(|wanted| wanted == *name))
        .filter_map(|(_, usage)| match resource {
            "cpu" => Some((usage.nano_cores + 999_999) / 1_000_000),
            "memory" => Some(usage.bytes.saturating_mul(1000)),
            _ => None,
        })
        .peekable();
    of.peek()?;
    Some(of.fold(0, i64::saturating_add))
}

/// Returns the request of a pod for a resource, in thousandths.
fn requested(pod: &Value, resource: &str, container: Option<&str>) -> Result<i64, String> {
    let spec = &pod["spec"];
    let init = items(&spec["initContainers"]).iter();
    let sidecars = init.filter(|init| init["restartPolicy"] == "Always");
    let all = items(&spec["containers"]).iter().chain(sidecars);
    let of = all.filter(|own| container.is_none_or(|wanted| own["name"] == wanted));
    of.map(|own| {
        milli(&own["resources"]["requests"][resource]).ok_or_else(|| {
            let (name, pod) = (text(&own["name"]), text(&pod["metadata"]["name"]));
            format!("missing request for {resource} in container {name} of Pod {pod}")
        })
    })
    .sum()
}

fn is_ready(pod: &Value) -> bool {
    let ready = conditions::find(&pod["status"], "Ready");
    pod["status"]["phase"] == "Running" && ready.is_some_and(|ready| ready["status"] == "True")
}

/// Returns the selector of a metric as Go prints it.
fn selector(source: &Value) -> String {
    let labels = source["metric"]["selector"]["matchLabels"].as_object();
    let Some(labels) = labels else {
        return "nil".to_owned();
    };
    let labels = labels
        .iter()
        .map(|(label, value)| format!("{label}: {},", text(value)));
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{}}},MatchExpressions:[]LabelSelectorRequirement{{}},}}",
        labels.collect::<String>()
    )
}

/// Returns an amount in thousandths.
fn milli(amount: &Value) -> Option<i64> {
    let amount: Quantity = amount.as_str()?.parse().ok()?;
    Some(amount.in_units_of(-3))
}

/// Returns thousandths as statuses write them.
fn quantity(thousandths: i64) -> String {
    let text = format!("{thousandths}m");
    text.parse()
        .map_or(text, |quantity: Quantity| quantity.to_string())
}

fn time(value: &Value) -> Option<Timestamp> {
    text(value).parse().ok()
}
