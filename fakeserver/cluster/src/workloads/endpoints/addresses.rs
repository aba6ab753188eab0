//! The addresses of pods, in groups of those that serve the same ports.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_kinds::core::service::range::IpFamily;
use fakeserver_server::controllers::pods::Pod;
use fakeserver_value::read::{items, text};
use serde_json::{Value, json};

/// Endpoints that serve the same ports.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// The ports, as a slice has them.
    pub(super) ports: Vec<Value>,
    pub(super) endpoints: Vec<Endpoint>,
}

/// The address of one pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Endpoint {
    pub(super) address: String,
    pub(super) is_ready: bool,
    /// True if it serves, and true if it is going away; nothing of an address that a user has written.
    pub(super) condition: Option<(bool, bool)>,
    /// The target, node and host name of the endpoint, each null without one.
    pub(super) target: Value,
    pub(super) node: Value,
    pub(super) hostname: Value,
}

/// Returns the endpoints of a service in a family: of the selected pods that have an address of it and have not ended.
pub(super) fn groups_of(service: &Value, pods: &[Arc<Pod>], family: IpFamily) -> Vec<Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod.is_finished()) {
        let Some(address) = pod.address_of(family) else {
            continue;
        };
        let ports = ports_of(service, pod);
        let group = groups
            .entry(Value::from(ports.clone()).to_string())
            .or_insert_with(|| Group {
                ports,
                endpoints: Vec::new(),
            });
        group.endpoints.push(endpoint(service, pod, address));
    }
    groups.into_values().collect()
}

fn endpoint(service: &Value, pod: &Pod, address: &str) -> Endpoint {
    let publishes_all = service["spec"]["publishNotReadyAddresses"] == true;
    let [hostname, subdomain] = &pod.host;
    Endpoint {
        address: address.to_owned(),
        is_ready: publishes_all || pod.is_ready && !pod.is_deleted,
        condition: Some((pod.is_ready, pod.is_deleted)),
        target: json!({
            "kind": "Pod",
            "namespace": pod.stored.namespace(),
            "name": pod.stored.name(),
            "uid": pod.stored.uid(),
        }),
        node: json!(pod.node),
        hostname: if service["metadata"]["name"] == **subdomain {
            json!(hostname)
        } else {
            Value::Null
        },
    }
}

/// Returns the ports of a service at a pod, whose containers may give names to them.
fn ports_of(service: &Value, pod: &Pod) -> Vec<Value> {
    let ports = service["spec"]["ports"].as_array();
    let mut read = None;
    let found = ports.into_iter().flatten().filter_map(|port| {
        let number = match &port["targetPort"] {
            Value::String(name) => {
                let pod = read.get_or_insert_with(|| pod.stored.to_value());
                named_port(pod, name, &port["protocol"])?
            }
            Value::Null => port["port"].clone(),
            number => number.clone(),
        };
        let mut found = json!({
            "name": text(&port["name"]),
            "port": number,
            "protocol": port["protocol"],
        });
        if !port["appProtocol"].is_null() {
            found["appProtocol"] = port["appProtocol"].clone();
        }
        Some(found)
    });
    found.collect()
}

fn named_port(pod: &Value, name: &str, protocol: &Value) -> Option<Value> {
    let spec = &pod["spec"];
    let sidecars = items(&spec["initContainers"])
        .iter()
        .filter(|container| container["restartPolicy"] == "Always");
    let mut ports = items(&spec["containers"])
        .iter()
        .chain(sidecars)
        .flat_map(|container| items(&container["ports"]));
    let port = ports.find(|port| port["name"] == name && port["protocol"] == *protocol)?;
    Some(port["containerPort"].clone())
}

/// Returns the groups of endpoints that a user has written.
pub(super) fn mirrored(endpoints: &Value) -> Vec<Group> {
    let groups = items(&endpoints["subsets"]).iter().map(|subset| {
        let ports = items(&subset["ports"]).iter().map(|port| {
            let mut port = port.clone();
            if port["name"].is_null() {
                port["name"] = json!("");
            }
            port
        });
        let side = |field: &str, is_ready: bool| -> Vec<Endpoint> {
            let addresses = items(&subset[field]).iter().map(|address| Endpoint {
                address: text(&address["ip"]).to_owned(),
                is_ready,
                condition: None,
                target: address["targetRef"].clone(),
                node: address["nodeName"].clone(),
                hostname: address["hostname"].clone(),
            });
            addresses.collect()
        };
        Group {
            ports: ports.collect(),
            endpoints: [side("addresses", true), side("notReadyAddresses", false)].concat(),
        }
    });
    groups.collect()
}

/// Returns the endpoints of a family among those that a user has written.
pub(super) fn of_family(groups: &[Group], family: IpFamily) -> Vec<Group> {
    let of_family = |endpoint: &&Endpoint| IpFamily::of_text(&endpoint.address) == family;
    let groups = groups.iter().map(|group| Group {
        ports: group.ports.clone(),
        endpoints: group.endpoints.iter().filter(of_family).cloned().collect(),
    });
    groups.filter(|group| !group.endpoints.is_empty()).collect()
}

/// Returns the subsets of endpoints: without those that are going away. Null without any.
pub(super) fn subsets(groups: &[Group]) -> Value {
    let subsets: Vec<Value> = groups
        .iter()
        .filter_map(|group| {
            let stays = |endpoint: &&Endpoint| endpoint.condition.is_none_or(|(_, ends)| !ends);
            let (ready, others): (Vec<_>, Vec<_>) = group
                .endpoints
                .iter()
                .filter(stays)
                .partition(|endpoint| endpoint.is_ready);
            if ready.is_empty() && others.is_empty() {
                return None;
            }
            let mut subset = json!({});
            for (field, endpoints) in [("addresses", ready), ("notReadyAddresses", others)] {
                if !endpoints.is_empty() {
                    subset[field] = endpoints.into_iter().map(Endpoint::address).collect();
                }
            }
            if !group.ports.is_empty() {
                subset["ports"] = group.ports.iter().map(unnamed).collect();
            }
            Some(subset)
        })
        .collect();
    if subsets.is_empty() {
        return Value::Null;
    }
    subsets.into()
}

/// Returns a port as endpoints have it: without an empty name.
fn unnamed(port: &Value) -> Value {
    let mut port = port.clone();
    if let Some(fields) = port.as_object_mut()
        && fields.get("name").is_some_and(|name| name == "")
    {
        fields.remove("name");
    }
    port
}

// === impl Endpoint ===

impl Endpoint {
    /// Returns it as an address of endpoints.
    fn address(&self) -> Value {
        let mut address = json!({"ip": self.address});
        self.complete(&mut address);
        address
    }

    /// Returns it as an endpoint of a slice.
    pub(super) fn in_slice(&self) -> Value {
        let mut conditions = json!({"ready": self.is_ready});
        if let Some((serves, ends)) = self.condition {
            conditions["serving"] = json!(serves);
            conditions["terminating"] = json!(ends);
        }
        let mut endpoint = json!({"addresses": [self.address], "conditions": conditions});
        self.complete(&mut endpoint);
        endpoint
    }

    fn complete(&self, out: &mut Value) {
        let fields = [
            ("hostname", &self.hostname),
            ("nodeName", &self.node),
            ("targetRef", &self.target),
        ];
        for (field, value) in fields {
            if !value.is_null() && value != "" {
                out[field] = value.clone();
            }
        }
    }
}
