//! Horizontal pod autoscalers: every 15 seconds each reads the usage of its target's pods, and scales the target.
//!
//! `calculator` computes the proposal of a metric, `limits` applies the limits of the spec; both are pure. Recent
//! recommendations and scalings are in memory alone, as in a cluster.

mod calculator;
mod limits;
mod target;
mod metric;

use std::{collections::BTreeMap, time::Duration};

use fakeserver_kinds::{
    autoscaling::horizontal_pod_autoscaler, metrics::usage::ScriptedContainers,
};
use fakeserver_server::{
    controllers::correlation::{Correlator, EventText},
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
};
use fakeserver_value::{object::selectors::LabelSelector, read::items};
use jiff::Timestamp;
use serde_json::{Value, json};

use self::{
    limits::{History, Rules},
    metric::Facts,
    target::Target,
};
use super::objects::{Condition, ReconciledKind, set_condition, truth};

const KIND: ReconciledKind = ReconciledKind {
    kind: &horizontal_pod_autoscaler::KIND,
    name: "HorizontalPodAutoscaler",
    api_version: "autoscaling/v2",
    component: "horizontal-pod-autoscaler",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
/// The time between two looks at an autoscaler, and before the first.
const PERIOD: Duration = Duration::from_secs(15);

/// The controller of autoscalers.
#[derive(Debug)]
pub(super) struct Autoscalers {
    /// True if the usage of pods is measured.
    has_metrics: bool,
    histories: BTreeMap<ObjectKey, History>,
    memory: Memory,
}

/// State that looks at autoscalers leave for those that follow.
#[derive(Debug, Default)]
struct Memory {
    events: Correlator,
    /// The selectors of their targets.
    selectors: BTreeMap<ObjectKey, LabelSelector>,
}

/// One reconciliation of an autoscaler.
struct AutoscalerSync<'a, 'c, 't> {
    cluster: &'a mut Cluster<'c, 't>,
    memory: &'a mut Memory,
    key: &'a ObjectKey,
    has_metrics: bool,
    autoscaler: &'a Value,
    status: Value,
    now: Timestamp,
    now_text: String,
}

/// The desired number of replicas, and why.
struct DesiredReplicas {
    replicas: i64,
    rescales: bool,
    reason: String,
    metrics: Vec<Value>,
}

/// The reason why no number of replicas could be computed.
struct MetricsFailure {
    message: String,
    /// The statuses of metrics, as far as they were measured.
    metrics: Vec<Value>,
}

impl Controller for Autoscalers {
    fn name(&self) -> &'static str {
        "horizontal pod autoscalers"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if !change.is_of(KIND.kind) {
            return;
        }
        match (&change.after, &change.before) {
            (Some(_), _) => due.add(change.key().clone(), PERIOD),
            (None, Some((stored, _))) => self.forget(change.key(), stored.uid()),
            (None, None) => {}
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        due: &mut KeyQueue<'_>,
    ) {
        let Some(stored) = cluster.get(key) else {
            return;
        };
        // Before the look, which may end early.
        due.add(key.clone(), PERIOD);
        let autoscaler = stored.to_value();
        let (now, now_text) = (cluster.now(), cluster.now_text());
        let history = self.histories.entry(key.clone()).or_default();
        let mut look = AutoscalerSync {
            cluster,
            memory: &mut self.memory,
            key,
            has_metrics: self.has_metrics,
            autoscaler: &autoscaler,
            status: autoscaler["status"].clone(),
            now,
            now_text,
        };
        look.scale(history);
        let status = look.status;
        cluster.update(key, ACTOR.of_status(), |object| object["status"] = status);
    }
}

// === impl Autoscalers ===

impl Autoscalers {
    pub(super) fn new(has_metrics: bool) -> Self {
        Self {
            has_metrics,
            histories: BTreeMap::new(),
            memory: Memory::default(),
        }
    }

    fn forget(&mut self, key: &ObjectKey, uid: &str) {
        self.histories.remove(key);
        self.memory.selectors.remove(key);
        self.memory.events.forget(uid);
    }
}

// === impl AutoscalerSync ===

impl AutoscalerSync<'_, '_, '_> {
    /// Scales the target if it is due, and writes the findings into the status.
    fn scale(&mut self, history: &mut History) {
        let spec = &self.autoscaler["spec"];
        let namespace = self.autoscaler["metadata"]["namespace"].as_str();
        let namespace = namespace.unwrap_or_default();
        let target = match Target::find(self.cluster, &spec["scaleTargetRef"], namespace) {
            Ok(target) => target,
            Err(why) => return self.has_no_target(&why),
        };
        let message = "the HPA controller was able to get the target's current scale";
        self.set("AbleToScale", true, ("SucceededGetScale", message));
        let (current, rules) = (target.replicas, Rules::of(spec));
        history.begin(current, self.now);
        let wish = match self.wish(&target, &rules, history) {
            Ok(wish) => wish,
            Err(failed) => {
                self.warn("FailedComputeMetricsReplicas", &failed.message);
                self.status["currentReplicas"] = json!(current);
                self.status["currentMetrics"] = stored_statuses(failed.metrics);
                return;
            }
        };
        let mut desired = current;
        if wish.rescales {
            desired = wish.replicas;
            target.scale(self.cluster, desired);
            let message =
                format!("the HPA controller was able to update the target scale to {desired}");
            self.set("AbleToScale", true, ("SucceededRescale", &message));
            let message = format!("New size: {desired}; reason: {}", wish.reason);
            self.record_event(&EventText::normal("SuccessfulRescale", &message));
            history.scaled(desired - current, self.now);
            self.status["lastScaleTime"] = json!(self.now_text);
        }
        self.status["currentReplicas"] = json!(current);
        self.status["desiredReplicas"] = json!(desired);
        self.status["currentMetrics"] = stored_statuses(wish.metrics);
    }

    fn has_no_target(&mut self, why: &str) {
        let message =
            format!("the HPA controller was unable to get the target's current scale: {why}");
        self.set("AbleToScale", false, ("FailedGetScale", &message));
        self.warn("FailedGetScale", why);
    }

    /// Returns the replicas that are wanted; the condition for an error is set already.
    fn wish(
        &mut self,
        target: &Target,
        rules: &Rules,
        history: &mut History,
    ) -> Result<DesiredReplicas, MetricsFailure> {
        let current = target.replicas;
        let mut wish = DesiredReplicas {
            replicas: current,
            rescales: false,
            reason: String::new(),
            metrics: Vec::new(),
        };
        if current == 0 && rules.min != 0 {
            let message = "scaling is disabled since the replica count of the target is zero";
            self.set("ScalingActive", false, ("ScalingDisabled", message));
            return Ok(wish);
        }
        let bound = if current > rules.max {
            Some((rules.max, "above Spec.MaxReplicas"))
        } else if current < rules.min {
            Some((rules.min, "below Spec.MinReplicas"))
        } else {
            None
        };
        if let Some((replicas, which)) = bound {
            wish.replicas = replicas;
            wish.rescales = true;
            wish.reason = format!("Current number of replicas {which}");
            return Ok(wish);
        }
        let (desired, metric) = self.measure(target, rules, &mut wish.metrics)?;
        wish.reason = if desired > current {
            format!("{metric} above target")
        } else {
            "All metrics below target".to_owned()
        };
        let limited = rules.limit(history, current, desired, self.now);
        self.set("AbleToScale", true, limited.able);
        self.set("ScalingLimited", limited.holds_back, limited.limit);
        wish.replicas = limited.replicas;
        wish.rescales = limited.replicas != current;
        Ok(wish)
    }

    /// Returns the most replicas that a metric proposes, and which one it is. Those without a value keep it from scaling down.
    fn measure(
        &mut self,
        target: &Target,
        rules: &Rules,
        statuses: &mut Vec<Value>,
    ) -> Result<(i64, String), MetricsFailure> {
        let pods = self.selected(target).map_err(|message| MetricsFailure {
            message,
            metrics: Vec::new(),
        })?;
        let (pods, scripted): (Vec<_>, Vec<_>) = pods.into_iter().unzip();
        let facts = Facts {
            autoscaler: self.autoscaler,
            target,
            pods: &pods,
            scripted: self.has_metrics.then_some(&*scripted),
            tolerance: rules.tolerance(),
            now: self.now,
        };
        let metrics = items(&self.autoscaler["spec"]["metrics"]);
        let (mut best, mut failures) = (None, Vec::new());
        for metric in metrics {
            match facts.judge(metric) {
                Ok(judged) => {
                    statuses.push(judged.status);
                    if best
                        .as_ref()
                        .is_none_or(|(most, _)| judged.replicas > *most)
                    {
                        best = Some((judged.replicas, judged.name));
                    }
                }
                Err(failure) => {
                    statuses.push(json!({"type": ""}));
                    failures.push(failure);
                }
            }
        }
        for failure in &failures {
            self.warn(failure.reason, &failure.message);
        }
        let usable = best.filter(|(most, _)| failures.is_empty() || *most >= target.replicas);
        if let Some((most, name)) = usable {
            let message =
                format!("the HPA was able to successfully calculate a replica count from {name}");
            self.set("ScalingActive", true, ("ValidMetricFound", &message));
            return Ok((most, name));
        }
        let (reason, prefix, why) = match failures.first() {
            Some(first) => (first.reason, &*first.prefix, &*first.message),
            None => ("InvalidMetricSourceType", "", "no metrics"),
        };
        let message = format!("the HPA was unable to compute the replica count: {why}");
        self.set("ScalingActive", false, (reason, &message));
        let (invalid, all) = (failures.len(), metrics.len());
        Err(MetricsFailure {
            message: format!(
                "invalid metrics ({invalid} invalid out of {all}), first error is: {prefix}{why}"
            ),
            metrics: std::mem::take(statuses),
        })
    }

    /// Returns the pods that the target selects, and what stages say of their usage. Those that others select too belong to
    /// none.
    fn selected(&mut self, target: &Target) -> Result<Vec<(Value, ScriptedContainers)>, String> {
        let selects = target.selects().inspect_err(|why| {
            let (reason, message) = if target.selector.is_empty() {
                let message = "the HPA target's scale is missing a selector";
                ("SelectorRequired", message)
            } else {
                ("InvalidSelector", &**why)
            };
            self.warn(reason, why);
            self.set("ScalingActive", false, ("InvalidSelector", message));
        })?;
        let selectors = &mut self.memory.selectors;
        selectors.insert(self.key.clone(), selects.clone());
        let namespace = self.key.namespace().unwrap_or_default();
        let pods = self.cluster.index.pods.selected(namespace, &selects);
        let of_namespace = selectors
            .iter()
            .filter(|(key, _)| key.namespace() == self.key.namespace());
        let selecting: Vec<String> = of_namespace
            .filter(|(_, selects)| pods.iter().any(|pod| selects.matches(pod.stored.labels())))
            .map(|(key, _)| format!("{namespace}/{}", key.name()))
            .collect();
        if selecting.len() > 1 {
            let message = format!(
                "pods by selector {} are controlled by multiple HPAs: [{}]",
                target.selector,
                selecting.join(" ")
            );
            self.warn("AmbiguousSelector", &message);
            self.set("ScalingActive", false, ("AmbiguousSelector", &message));
            return Err(message);
        }
        let kubelets = self.cluster.backend.kubelets.as_ref();
        let scripted = |key: &ObjectKey| {
            kubelets.map_or_else(ScriptedContainers::new, |all| all.usage(key, self.now))
        };
        let pods = pods.iter();
        Ok(pods
            .map(|pod| (pod.stored.to_value(), scripted(pod.key())))
            .collect())
    }

    /// Records an event about a failure.
    fn warn(&mut self, reason: &str, message: &str) {
        self.record_event(&EventText::warning(reason, message));
    }

    fn record_event(&mut self, event: &EventText<'_>) {
        let events = &mut self.memory.events;
        self.cluster
            .correlated_event(events, &KIND, self.autoscaler, event);
    }

    /// Sets a condition.
    fn set(&mut self, kind: &str, is_true: bool, (reason, message): (&str, &str)) {
        let condition = Condition {
            kind,
            status: truth(is_true),
            reason,
            message,
        };
        set_condition(&mut self.status, condition, &self.now_text, None);
    }
}

/// Returns the statuses of metrics as they are stored: null without any.
fn stored_statuses(metrics: Vec<Value>) -> Value {
    if metrics.is_empty() {
        return Value::Null;
    }
    metrics.into()
}
