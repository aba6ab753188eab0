//! What a client may leave out of an object, and what the server then takes it to have meant.
//!
//! Defaults of two sorts: those of a type's version, which belong to whoever wrote the object as if they had been sent
//! ([`set_defaults`]); and what the server adds when it takes an object in, which is nobody's ([`admit`]).

mod access;
mod autoscaler;
mod batch;
mod daemon_set;
mod deployment;
mod endpoints;
mod flow_control;
mod ingress_class;
mod limit_range;
mod network_policy;
mod node;
mod pod;
mod pod_spec;
mod replica_set;
mod secret;
mod service;
mod stateful_set;
mod volume;
mod webhook;

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

pub(crate) use self::{
    pod::{align_addresses, keep_admitted},
    service::{Allocator, Problem, keep_allocated},
};

/// Sets what the writer of an object may leave out.
pub(crate) fn set_defaults(group: &str, plural: &str, object: &mut Value) {
    match (group, plural) {
        ("", "pods") => pod::set_defaults(object),
        ("", "podtemplates") => pod_spec::set_defaults(&mut object["template"]["spec"]),
        ("", "services") => service::set_defaults(object),
        ("", "secrets") => secret::set_defaults(object),
        ("", "nodes") => node::set_defaults(object),
        ("", "replicationcontrollers") => replica_set::set_controller_defaults(object),
        ("", "persistentvolumes") => volume::set_volume_defaults(object),
        ("", "persistentvolumeclaims") => volume::set_claim_defaults(object),
        ("", "endpoints") => endpoints::set_defaults(object),
        ("discovery.k8s.io", "endpointslices") => endpoints::set_slice_defaults(object),
        ("apps", "deployments") => deployment::set_defaults(object),
        ("apps", "replicasets") => replica_set::set_defaults(object),
        ("apps", "statefulsets") => stateful_set::set_defaults(object),
        ("apps", "daemonsets") => daemon_set::set_defaults(object),
        ("batch", "jobs") => batch::set_job_defaults(object),
        ("batch", "cronjobs") => batch::set_cron_job_defaults(object),
        ("autoscaling", "horizontalpodautoscalers") => autoscaler::set_defaults(object),
        ("networking.k8s.io", "networkpolicies") => network_policy::set_defaults(object),
        ("networking.k8s.io", "ingressclasses") => ingress_class::set_defaults(object),
        ("", "limitranges") => limit_range::set_defaults(object),
        ("flowcontrol.apiserver.k8s.io", "flowschemas") => {
            flow_control::set_schema_defaults(object);
        }
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations") => {
            flow_control::set_level_defaults(object);
        }
        ("storage.k8s.io", "csidrivers") => volume::set_driver_defaults(object),
        ("storage.k8s.io", "storageclasses") => volume::set_class_defaults(object),
        ("scheduling.k8s.io", "priorityclasses") => {
            set(object, "preemptionPolicy", json!("PreemptLowerPriority"));
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            access::set_defaults(object);
        }
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations") => {
            webhook::set_mutating_defaults(object);
        }
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations") => {
            webhook::set_defaults(object);
        }
        _ => {}
    }
}

/// Adds what the server gives a new object. Its uid is there already.
pub(crate) fn admit(group: &str, plural: &str, object: &mut Value) {
    match (group, plural) {
        ("", "pods") => pod::admit(object),
        ("", "nodes") => node::admit(object),
        ("batch", "jobs") => batch::admit_job(object),
        _ => {}
    }
}

/// Sets a field that is not there, or says nothing.
fn set(object: &mut Value, field: &str, default: Value) {
    if is_unset(&object[field]) {
        object[field] = default;
    }
}

fn remove(object: &mut Value, field: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(field);
    }
}

fn is_unset(value: &Value) -> bool {
    value.is_null() || value == ""
}

/// The items of a list, to be changed.
fn each<'a>(object: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = object.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

/// A struct that is there, to be changed.
fn within<'a>(object: &'a mut Value, field: &str) -> Option<&'a mut Value> {
    object.get_mut(field).filter(|value| value.is_object())
}
