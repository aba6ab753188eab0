//! The order in which objects are created: those that decide about others first.

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::sources::{Manifest, ManifestSet};

/// The group of policies and of webhook configurations.
const ADMISSION: &str = "admissionregistration.k8s.io/";

/// A step of the order. Objects of a step do not depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Namespace,
    Definition,
    /// Objects that others name, or that complete and limit others: classes, limit ranges.
    Class,
    /// Objects that policies read.
    Parameter,
    Policy,
    PolicyBinding,
    Object,
    /// Objects by which a server calls others. They are not stored, as there is nothing to call.
    Callout,
}

/// Returns the indices of manifests with their phases, in order.
pub(crate) fn in_order(set: &ManifestSet) -> Vec<(Phase, usize)> {
    let kinds: Vec<Phase> = set.manifests.iter().map(phase_of_kind).collect();
    let policies = kinds.iter().zip(&set.manifests);
    let policies = policies.filter(|(phase, _)| **phase == Phase::Policy);
    let parameters: FxHashSet<(&str, &str)> = policies
        .filter_map(|(_, policy)| {
            let kind = &policy.object["spec"]["paramKind"];
            Some((kind["apiVersion"].as_str()?, kind["kind"].as_str()?))
        })
        .collect();
    let mut order: Vec<(Phase, usize)> = kinds
        .into_iter()
        .zip(&set.manifests)
        .enumerate()
        .map(|(index, (phase, manifest))| {
            let kind = (&*manifest.name.api_version, &*manifest.name.kind);
            let is_parameter = phase == Phase::Object && parameters.contains(&kind);
            let phase = if is_parameter {
                Phase::Parameter
            } else {
                phase
            };
            (phase, index)
        })
        .collect();
    order.sort_unstable();
    order
}

fn phase_of_kind(manifest: &Manifest) -> Phase {
    let (api_version, kind) = (&*manifest.name.api_version, &*manifest.name.kind);
    match kind {
        "Namespace" if api_version == "v1" => Phase::Namespace,
        "CustomResourceDefinition" if api_version.starts_with("apiextensions.k8s.io/") => {
            Phase::Definition
        }
        "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy"
            if api_version.starts_with(ADMISSION) =>
        {
            Phase::Policy
        }
        "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding"
            if api_version.starts_with(ADMISSION) =>
        {
            Phase::PolicyBinding
        }
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration"
            if api_version.starts_with(ADMISSION) =>
        {
            Phase::Callout
        }
        "APIService" if api_version.starts_with("apiregistration.k8s.io/") => Phase::Callout,
        "PriorityClass"
        | "RuntimeClass"
        | "StorageClass"
        | "IngressClass"
        | "DeviceClass"
        | "VolumeAttributesClass"
        | "CSIDriver"
        | "LimitRange"
            if !is_custom(api_version) =>
        {
            Phase::Class
        }
        _ => Phase::Object,
    }
}

/// Returns whether a group is none of Kubernetes by its name.
fn is_custom(api_version: &str) -> bool {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    group.contains('.') && !group.ends_with(".k8s.io")
}

/// Returns whether conversions of the objects of a definition need a webhook.
pub(crate) fn needs_conversion(definition: &Value) -> bool {
    definition["spec"]["conversion"]["strategy"] == "Webhook"
}

/// Returns a definition whose objects are converted without a webhook: only their `apiVersion` changes.
pub(crate) fn without_conversion(definition: &Value) -> Value {
    let mut definition = definition.clone();
    definition["spec"]["conversion"] = serde_json::json!({"strategy": "None"});
    definition
}
