//! Reads of usage: `metrics.k8s.io`. It is worked out from the nodes and pods that are stored.

use std::collections::BTreeMap;

use axum::response::Response;
use fakeserver_kinds::{
    Kind, conditions, core,
    metrics::{
        node_metrics, pod_metrics,
        usage::{self, ScriptedContainers, Usage},
    },
};
use fakeserver_value::{
    read::text,
    revision::Revision,
    status::{NamedObject, Status},
};
use http::StatusCode;
use serde_json::{Value, json};

use super::{Api, Request, Verb, answer, selection::selection};
use crate::{
    edge::{request::ListOptions, response::Shape},
    store::{Range, Snapshot, StoredObject},
    watch::Selection,
    write::Target,
};

/// A kind of `metrics.k8s.io`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricsKind {
    /// Nodes that are ready.
    Nodes,
    /// Pods that run.
    Pods,
}

/// The metrics of the selected objects, with warnings about unreadable ones.
#[derive(Debug, Default)]
struct Measurements {
    items: Vec<Value>,
    warnings: Vec<String>,
}

// === impl MetricsKind ===

impl MetricsKind {
    /// The one that a request is about, if it is one of these.
    pub(super) fn of(target: &Target) -> Option<Self> {
        if target.rules().is(&node_metrics::KIND) {
            Some(Self::Nodes)
        } else if target.rules().is(&pod_metrics::KIND) {
            Some(Self::Pods)
        } else {
            None
        }
    }

    /// Answers with the current usage, in the state `sees`. A pod with unreadable annotations has no metrics, and the
    /// response has a warning.
    pub(super) fn serve(
        self,
        api: &Api,
        request: &Request<'_>,
        verb: Verb,
        options: &ListOptions,
        sees: Option<Revision>,
    ) -> Result<Response, Status> {
        let target = &request.target;
        let mut kind = target.resource.group_version_kind();
        if verb == Verb::List {
            kind.kind = format!("{}List", kind.kind).into();
        }
        let encoding = answer::encoding_of(api, request, &kind, Shape::Object)?;
        let selection = selection(target, options)?;
        let Measurements { items, warnings } = self.measure(api, &selection, sees);
        let body = if verb == Verb::List {
            json!({"metadata": {}, "items": items})
        } else {
            let found = items.into_iter().next();
            found.ok_or_else(|| self.not_found(target).after(&warnings))?
        };
        let delivery = answer::delivery(request, &encoding);
        let mut response = delivery.whole(StatusCode::OK, encoding.value(&body));
        answer::add_warnings(&mut response, &warnings);
        Ok(response)
    }

    fn measure(self, api: &Api, selection: &Selection, sees: Option<Revision>) -> Measurements {
        let storage = &api.backend.storage;
        let state = |kind: &Kind| {
            let read = storage.view(|view| view.snapshot_seen(kind.storage(), sees));
            read.0
        };
        let pods = state(&core::pod::KIND);
        let clock = &api.backend.clock;
        let (at, now) = (clock.now(), clock.now_text());
        let scripted = |pod: &StoredObject| {
            let kubelets = api.backend.kubelets.as_ref();
            kubelets.map_or_else(ScriptedContainers::new, |all| all.usage(pod.key(), at))
        };
        match self {
            Self::Pods => pods_of(&pods, scripted, selection, &now),
            Self::Nodes => nodes_of(
                &state(&core::node::KIND),
                (&pods, scripted),
                selection,
                &now,
            ),
        }
    }

    /// The error of metrics that are not there, in the words of the metrics server.
    fn not_found(self, target: &Target) -> Status {
        let name = target.name();
        let (resource, name) = match (self, &target.path.namespace) {
            (Self::Pods, Some(namespace)) => ("podmetrics", format!("{namespace}/{name}")),
            (Self::Pods, None) => ("podmetrics", name.to_owned()),
            (Self::Nodes, _) => ("nodemetrics", name.to_owned()),
        };
        Status::not_found(NamedObject {
            resource,
            group: &target.resource.group,
            name: &name,
        })
    }
}

/// Returns the metrics of the selected pods that run.
fn pods_of(
    pods: &Snapshot,
    scripted: impl Fn(&StoredObject) -> ScriptedContainers,
    selection: &Selection,
    now: &str,
) -> Measurements {
    let mut metrics_kind = Measurements::default();
    for stored in pods.objects(&selection.range, None) {
        if !selection.matches(stored) {
            continue;
        }
        let pod = stored.to_value();
        match usage::of_pod(&pod, &scripted(stored)) {
            Ok(containers) if containers.is_empty() => {}
            Ok(containers) => metrics_kind
                .items
                .push(pod_metrics::of(&pod, &containers, now)),
            Err(error) => metrics_kind.warnings.push(warning(stored, &error)),
        }
    }
    metrics_kind
}

/// Returns the metrics of the selected nodes that are ready.
fn nodes_of(
    nodes: &Snapshot,
    (pods, scripted): (&Snapshot, impl Fn(&StoredObject) -> ScriptedContainers),
    selection: &Selection,
    now: &str,
) -> Measurements {
    let mut metrics_kind = Measurements::default();
    let mut by_node: BTreeMap<String, Vec<Usage>> = BTreeMap::new();
    for stored in pods.objects(&Range::of(None), None) {
        let pod = stored.to_value();
        match usage::of_pod(&pod, &scripted(stored)) {
            Ok(containers) => {
                let node = by_node.entry(text(&pod["spec"]["nodeName"]).to_owned());
                let used = containers.into_iter().map(|(_, usage)| usage);
                node.or_default().extend(used);
            }
            Err(error) => metrics_kind.warnings.push(warning(stored, &error)),
        }
    }
    for stored in nodes.objects(&selection.range, None) {
        let node = stored.to_value();
        if selection.matches(stored) && is_ready(&node) {
            let used = by_node.remove(stored.name()).unwrap_or_default();
            let usage = usage::of_node(used);
            metrics_kind.items.push(node_metrics::of(&node, usage, now));
        }
    }
    metrics_kind
}

fn is_ready(node: &Value) -> bool {
    let ready = conditions::find(&node["status"], "Ready");
    ready.is_some_and(|ready| ready["status"] == "True")
}

fn warning(pod: &StoredObject, error: &usage::UsageError) -> String {
    let namespace = pod.namespace().unwrap_or_default();
    format!("pod {namespace}/{} has no metrics: {error}", pod.name())
}
