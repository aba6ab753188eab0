//! Defaults of services, and the fields that an update keeps.

use fakeserver_value::{
    edit::{each, is_unset, remove, set, set_absent, within},
    read::{items, text},
};
use serde_json::{Value, json};

use crate::core::service::needs::Needs;

const AFFINITY_SECONDS: u32 = 10_800;

pub(super) fn set_defaults(service: &mut Value) {
    let Some(spec) = within(service, "spec") else {
        return;
    };
    set(spec, "sessionAffinity", json!("None"));
    set(spec, "type", json!("ClusterIP"));
    if spec["sessionAffinity"] == "ClientIP"
        && spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].is_null()
    {
        spec["sessionAffinityConfig"] = json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}});
    }
    if spec["sessionAffinity"] == "None" {
        remove(spec, "sessionAffinityConfig");
    }
    for port in each(spec, "ports") {
        set(port, "protocol", json!("TCP"));
        let number = port["port"].clone();
        if is_unset(&port["targetPort"]) || port["targetPort"] == 0 {
            port["targetPort"] = number;
        }
    }
    let kind = text(&spec["type"]).to_owned();
    if is_external(spec) {
        set(spec, "externalTrafficPolicy", json!("Cluster"));
    }
    if matches!(kind.as_str(), "ClusterIP" | "NodePort" | "LoadBalancer") {
        set_absent(spec, "internalTrafficPolicy", json!("Cluster"));
    }
    if kind == "LoadBalancer" {
        set(spec, "allocateLoadBalancerNodePorts", json!(true));
        set_address_modes(service);
    }
}

/// A balancer's address is one of its own, unless it says otherwise.
fn set_address_modes(service: &mut Value) {
    let balancer = within(service, "status").and_then(|status| within(status, "loadBalancer"));
    for ingress in balancer.into_iter().flat_map(|all| each(all, "ingress")) {
        if !is_unset(&ingress["ip"]) {
            set_absent(ingress, "ipMode", json!("VIP"));
        }
    }
}

/// Keeps allocated values that an update leaves out; values that the type does not have are removed, unless an update
/// sets them.
pub(super) fn keep(old: &Value, new: &mut Value) {
    let old = &old["spec"];
    let Some(spec) = within(new, "spec") else {
        return;
    };
    drop_unneeded(old, spec);
    if spec["type"] == "ExternalName" || old["type"] == "ExternalName" {
        return;
    }
    if is_unset(&spec["clusterIP"]) && !is_unset(&old["clusterIP"]) {
        spec["clusterIP"] = old["clusterIP"].clone();
    }
    if items(&spec["clusterIPs"]).is_empty() && !items(&old["clusterIPs"]).is_empty() {
        spec["clusterIPs"] = old["clusterIPs"].clone();
    }
    // A client that knows one address alone.
    if spec["clusterIP"] != old["clusterIP"] && spec["clusterIPs"] == old["clusterIPs"] {
        spec["clusterIPs"] = json!([spec["clusterIP"]]);
    }
    if !matches!(spec["type"].as_str(), Some("NodePort" | "LoadBalancer")) {
        return;
    }
    let ports = old["ports"].as_array().cloned().unwrap_or_default();
    for port in each(spec, "ports") {
        let same = ports
            .iter()
            .find(|old| old["port"] == port["port"] && old["protocol"] == port["protocol"]);
        if let Some(number) = same.and_then(|old| old.get("nodePort"))
            && port["nodePort"].as_u64().unwrap_or_default() == 0
        {
            port["nodePort"] = number.clone();
        }
    }
}

/// Returns whether it can be reached from outside of the cluster.
fn is_external(spec: &Value) -> bool {
    match spec["type"].as_str() {
        Some("NodePort" | "LoadBalancer") => true,
        Some("ClusterIP") => {
            let listens = spec["externalIPs"].as_array();
            listens.is_some_and(|all| !all.is_empty())
        }
        _ => false,
    }
}

/// Takes away what belongs to the type that a service had, and is as it was.
fn drop_unneeded(old: &Value, spec: &mut Value) {
    let (had, needs) = (Needs::of(old), Needs::of(spec));
    let mut gone = Vec::new();
    if had.address && !needs.address {
        gone.extend(["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]);
    }
    if had.health_check && !needs.health_check {
        gone.push("healthCheckNodePort");
    }
    if is_external(old) && !is_external(spec) {
        gone.push("externalTrafficPolicy");
    }
    if old["type"] == "LoadBalancer" && spec["type"] != "LoadBalancer" {
        gone.extend(["allocateLoadBalancerNodePorts", "loadBalancerClass"]);
    }
    let numbers = |spec: &Value| -> Vec<Value> {
        let ports = spec["ports"].as_array().into_iter().flatten();
        ports.map(|port| port["nodePort"].clone()).collect()
    };
    if had.node_ports && !needs.node_ports && numbers(old) == numbers(spec) {
        for port in each(spec, "ports") {
            remove(port, "nodePort");
        }
    }
    for field in gone {
        if spec[field] == old[field] {
            remove(spec, field);
        }
    }
}
