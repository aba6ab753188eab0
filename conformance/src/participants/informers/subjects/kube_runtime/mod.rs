//! `kube_runtime` under test, as in its documentation: a watcher with the default backoff that feeds a store.
//!
//! The jitter of its backoff comes from a generator of the thread, which is seeded here for each subject. The order of
//! objects in its store is random; nothing in a trace depends on it, except the order in which subscribers receive a
//! list.

mod handlers;
mod reflector;
mod shared;
mod controller;
mod copy_controller;

use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::{
    Api, ResourceExt,
    api::{ApiResource, DynamicObject},
    core::PartialObjectMeta,
};
use kube_runtime::watcher::Config;

use super::{Subject, SubjectParts};
use crate::{
    participants::InformerPlan,
    plan::Resource,
    trace::{Key, State},
};

/// The maximal timeout of a watch: the server ends it after 290 s by itself, and kube accepts nothing longer.
const WATCH_TIMEOUT_MAX_S: u64 = 290;

/// Creates a reflector with a store.
pub(super) fn reflector(parts: &SubjectParts<'_>, waiter_count: usize) -> Box<dyn Subject> {
    let (client, plan) = (parts.client.clone(), parts.plan);
    match plan.selection.resource {
        Resource::Pods => reflector::subject(parts, waiter_count, &pods(client, plan), ()),
        Resource::ConfigMaps => {
            let kind = ApiResource::erase::<ConfigMap>(&());
            let api = match &plan.selection.namespace {
                Some(namespace) => Api::<DynamicObject>::namespaced_with(client, namespace, &kind),
                None => Api::all_with(client, &kind),
            };
            reflector::subject(parts, waiter_count, &api, kind)
        }
        Resource::Nodes => reflector::subject(
            parts,
            waiter_count,
            &Api::<PartialObjectMeta<Node>>::all(client),
            (),
        ),
    }
}

/// Creates a reflector with a shared store. Config maps are typed: a stream of dynamic objects has no subscribers.
pub(super) fn shared(parts: &SubjectParts<'_>, waiter_count: usize) -> Box<dyn Subject> {
    let (client, plan) = (parts.client.clone(), parts.plan);
    match plan.selection.resource {
        Resource::Pods => shared::subject(parts, waiter_count, &pods(client, plan)),
        Resource::ConfigMaps => {
            let api = match &plan.selection.namespace {
                Some(namespace) => Api::<ConfigMap>::namespaced(client, namespace),
                None => Api::all(client),
            };
            shared::subject(parts, waiter_count, &api)
        }
        Resource::Nodes => shared::subject(
            parts,
            waiter_count,
            &Api::<PartialObjectMeta<Node>>::all(client),
        ),
    }
}

/// Creates a controller of pods that owns config maps.
///
/// # Panics
///
/// If the plan is about another resource.
pub(super) fn controller(parts: &SubjectParts<'_>, waiter_count: usize) -> Box<dyn Subject> {
    let (client, plan) = (parts.client.clone(), parts.plan);
    assert_eq!(
        plan.selection.resource,
        Resource::Pods,
        "controllers here are controllers of pods"
    );
    let owned = Api::<ConfigMap>::all(client.clone());
    controller::subject(parts, waiter_count, pods(client, plan), owned)
}

/// Creates a controller that keeps copies of config maps.
pub(super) fn copy_controller(parts: &SubjectParts<'_>, waiter_count: usize) -> Box<dyn Subject> {
    copy_controller::subject(parts, waiter_count, config_maps(parts))
}

/// Creates the same controller with a subscriber of a shared store.
pub(super) fn shared_copy_controller(
    parts: &SubjectParts<'_>,
    waiter_count: usize,
) -> Box<dyn Subject> {
    copy_controller::shared(parts, waiter_count, config_maps(parts))
}

/// Returns the config maps of the plan.
///
/// # Panics
///
/// If the plan is about another resource.
fn config_maps(parts: &SubjectParts<'_>) -> Api<ConfigMap> {
    let selection = &parts.plan.selection;
    assert_eq!(
        selection.resource,
        Resource::ConfigMaps,
        "what is copied here are config maps"
    );
    match &selection.namespace {
        Some(namespace) => Api::namespaced(parts.client.clone(), namespace),
        None => Api::all(parts.client.clone()),
    }
}

fn pods(client: kube::Client, plan: &InformerPlan) -> Api<Pod> {
    match &plan.selection.namespace {
        Some(namespace) => Api::namespaced(client, namespace),
        None => Api::all(client),
    }
}

/// Returns the watcher's options according to the plan.
fn config(plan: &InformerPlan) -> Config {
    let timeout_s = plan.watch_timeout_s.min(WATCH_TIMEOUT_MAX_S);
    let mut config = Config::default()
        .timeout(u32::try_from(timeout_s).expect("it is less than the limit"))
        .page_size(plan.page_size);
    if plan.streaming_lists {
        config = config.streaming_lists();
    }
    if let Some(selector) = plan.selection.label_selector() {
        config = config.labels(&selector);
    }
    config
}

/// Formats `namespace/name`, or the name alone.
pub(crate) fn key(object: &impl kube::Resource) -> Key {
    match object.namespace() {
        Some(namespace) => format!("{namespace}/{}", object.name_any()).into(),
        None => object.name_any().into(),
    }
}

/// Returns the uid and the version of an object.
pub(crate) fn state(object: &impl kube::Resource) -> State {
    let uid = object.uid().unwrap_or_default();
    State::from_wire(&uid, &object.resource_version().unwrap_or_default())
}
