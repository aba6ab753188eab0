//! Horizontal pod autoscalers: every 15 seconds each looks at the usage of the pods of its target, and scales it.
//!
//! `calculator` says what a metric proposes, `limits` what becomes of it; both are pure. What an autoscaler recommended and
//! did of late is in memory alone, as in a cluster.

mod calculator;
mod limits;
mod target;
mod metric;

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use self::{
    limits::{History, Rules},
    metric::Facts,
    target::Target,
};
use super::objects::{Condition, ReconciledKind, set_condition};
use crate::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, Observed},
        queue::Due,
    },
    kinds::{autoscaling::horizontal_pod_autoscaler, table::cell::items},
    store::ObjectKey,
};

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
#[derive(Debug, Default)]
pub(super) struct Autoscalers {
    histories: BTreeMap<ObjectKey, History>,
}

/// One look at an autoscaler.
struct Look<'a, 'c, 't> {
    cluster: &'a mut Cluster<'c, 't>,
    autoscaler: &'a Value,
    status: Value,
    now: Timestamp,
    now_text: String,
}

/// The replicas that are wanted, and why.
struct Wish {
    replicas: i64,
    rescales: bool,
    reason: String,
    metrics: Vec<Value>,
}

impl Controller for Autoscalers {
    fn name(&self) -> &'static str {
        "horizontal pod autoscalers"
    }

    fn observe(&mut self, change: &Observed<'_>, _index: &Index, due: &mut Due<'_>) {
        if !change.is_of(KIND.kind) {
            return;
        }
        if change.after.is_some() {
            due.add(change.key().clone(), PERIOD);
        } else {
            self.histories.remove(change.key());
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut Due<'_>) {
        let Some(stored) = cluster.get(key) else {
            self.histories.remove(key);
            return;
        };
        due.add(key.clone(), PERIOD);
        let autoscaler = stored.to_value();
        let (now, now_text) = (cluster.now(), cluster.now_text());
        let history = self.histories.entry(key.clone()).or_default();
        let mut look = Look {
            cluster,
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

// === impl Look ===

impl Look<'_, '_, '_> {
    /// Scales the target if it is due, and writes into the status what was found.
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
        let Ok(wish) = self.wish(&target, &rules, history) else {
            self.status["currentReplicas"] = json!(current);
            return;
        };
        let mut desired = current;
        if wish.rescales {
            desired = wish.replicas;
            target.scale(self.cluster, desired);
            let message =
                format!("the HPA controller was able to update the target scale to {desired}");
            self.set("AbleToScale", true, ("SucceededRescale", &message));
            let message = format!("New size: {desired}; reason: {}", wish.reason);
            self.cluster
                .event(&KIND, self.autoscaler, "SuccessfulRescale", &message);
            history.scaled(desired - current, self.now);
            self.status["lastScaleTime"] = json!(self.now_text);
        }
        self.status["currentReplicas"] = json!(current);
        self.status["desiredReplicas"] = json!(desired);
        self.status["currentMetrics"] = wish.metrics.into();
    }

    fn has_no_target(&mut self, why: &str) {
        let message =
            format!("the HPA controller was unable to get the target's current scale: {why}");
        if self.set("AbleToScale", false, ("FailedGetScale", &message)) {
            self.cluster
                .warning(&KIND, self.autoscaler, "FailedGetScale", why);
        }
    }

    /// Returns the replicas that are wanted; the error is in the status already.
    fn wish(&mut self, target: &Target, rules: &Rules, history: &mut History) -> Result<Wish, ()> {
        let current = target.replicas;
        let mut wish = Wish {
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
    ) -> Result<(i64, String), ()> {
        let selects = target.selects().map_err(|why| {
            let (reason, message) = if target.selector.is_empty() {
                let message = "the HPA target's scale is missing a selector";
                ("SelectorRequired", message.to_owned())
            } else {
                ("InvalidSelector", why.clone())
            };
            if self.set("ScalingActive", false, ("InvalidSelector", &message)) {
                self.cluster.warning(&KIND, self.autoscaler, reason, &why);
            }
        })?;
        let namespace = self.autoscaler["metadata"]["namespace"].as_str();
        let index = &self.cluster.index.pods;
        let pods = index.selected(namespace.unwrap_or_default(), &selects);
        let pods: Vec<Value> = pods.iter().map(|pod| pod.stored.to_value()).collect();
        let facts = Facts {
            autoscaler: self.autoscaler,
            target,
            pods: &pods,
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
                Err(failure) => failures.push(failure),
            }
        }
        let usable = best.filter(|(most, _)| failures.is_empty() || *most >= target.replicas);
        if let Some((most, name)) = usable {
            let message =
                format!("the HPA was able to successfully calculate a replica count from {name}");
            self.set("ScalingActive", true, ("ValidMetricFound", &message));
            return Ok((most, name));
        }
        if let Some(first) = failures.first() {
            let why = &first.message;
            let message = format!("the HPA was unable to compute the replica count: {why}");
            if self.set("ScalingActive", false, (first.reason, &message)) {
                let (invalid, all) = (failures.len(), metrics.len());
                let summary = format!(
                    "invalid metrics ({invalid} invalid out of {all}), first error is: {}{why}",
                    first.prefix
                );
                let (cluster, about) = (&mut *self.cluster, self.autoscaler);
                cluster.warning(&KIND, about, first.reason, why);
                cluster.warning(&KIND, about, "FailedComputeMetricsReplicas", &summary);
            }
        }
        Err(())
    }

    /// Sets a condition. Returns whether it is another one than before.
    fn set(&mut self, kind: &str, is_true: bool, (reason, message): (&str, &str)) -> bool {
        let conditions = |status: &Value| status["conditions"].clone();
        let before = conditions(&self.status);
        let condition = Condition {
            kind,
            is_true,
            reason,
            message,
        };
        set_condition(&mut self.status, condition, &self.now_text, None);
        conditions(&self.status) != before
    }
}
