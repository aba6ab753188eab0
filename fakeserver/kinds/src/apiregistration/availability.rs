//! The availability of an API of another server, as far as services and endpoints tell.

use fakeserver_value::read::{items, text};
use serde_json::{Map, Value, json};

use super::remote::{AVAILABLE, RemoteApi};
use crate::conditions;

/// The condition `Available` of an API service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Availability {
    pub is_available: bool,
    pub reason: &'static str,
    pub message: String,
}

/// An address of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceAddress {
    /// A host, which is looked up, and a port.
    Host { host: String, port: u16 },
    /// The pod of that name, for which a process may stand.
    Pod(String),
}

// === impl Availability ===

impl Availability {
    /// Returns the condition of an API of this server.
    pub fn local() -> Self {
        Self {
            is_available: true,
            reason: "Local",
            message: "Local APIServices are always available".to_owned(),
        }
    }

    /// Returns the condition of an API whose server has answered.
    pub fn passed() -> Self {
        Self {
            is_available: true,
            reason: "Passed",
            message: "all checks passed".to_owned(),
        }
    }

    /// Returns the condition of an API whose server has not answered as it should.
    pub fn failed_discovery(message: String) -> Self {
        Self::not("FailedDiscoveryCheck", message)
    }

    /// Returns the condition of an API that cannot be asked; `None` if its server is to be asked.
    ///
    /// `service` is the stored service, if there is one; `slices` are its endpoint slices, unless it is reached without them.
    /// Only services with an address in the cluster have to have the port and ready endpoints.
    pub fn unreachable(
        api: &RemoteApi,
        service: Option<&Value>,
        slices: Option<&[Value]>,
    ) -> Option<Self> {
        let reference = &api.service;
        let named = format!("service/{} in {:?}", reference.name, reference.namespace);
        let Some(service) = service else {
            let message = format!("{named} is not present");
            return Some(Self::not("ServiceNotFound", message));
        };
        if service["spec"]["type"] != "ClusterIP" {
            return None;
        }
        let Some(port) = port_name(service, reference.port) else {
            let message = format!("{named} is not listening on port {}", reference.port);
            return Some(Self::not("ServicePortError", message));
        };
        let slices = slices?;
        if slices.is_empty() {
            let message = format!("cannot find endpointslices for {named}");
            return Some(Self::not("EndpointsNotFound", message));
        }
        let has_endpoint = |slice: &Value| {
            let mut endpoints = items(&slice["endpoints"]).iter();
            endpoints.any(is_ready) && port_number(slice, port).is_some()
        };
        if !slices.iter().any(has_endpoint) {
            let message =
                format!("endpointslices for {named} have no addresses with port name {port:?}");
            return Some(Self::not("MissingEndpoints", message));
        }
        None
    }

    /// Returns the status with this condition at `now`; the time of the last transition is kept if there was none.
    pub fn applied(&self, status: &Value, now: &str) -> Value {
        let word = if self.is_available { "True" } else { "False" };
        let since = conditions::find(status, AVAILABLE)
            .filter(|existing| existing["status"] == word)
            .and_then(|existing| existing["lastTransitionTime"].as_str())
            .unwrap_or(now);
        let condition = json!({
            "type": AVAILABLE,
            "status": word,
            "lastTransitionTime": since,
            "reason": self.reason,
            "message": self.message,
        });
        let mut conditions = items(&status["conditions"]).to_vec();
        match conditions
            .iter_mut()
            .find(|existing| existing["type"] == AVAILABLE)
        {
            Some(existing) => *existing = condition,
            None => conditions.push(condition),
        }
        let mut status = status.as_object().cloned().unwrap_or_else(Map::new);
        status.insert("conditions".to_owned(), conditions.into());
        status.into()
    }

    fn not(reason: &'static str, message: String) -> Self {
        Self {
            is_available: false,
            reason,
            message,
        }
    }
}

/// Returns the places where a service may be reached, in the order in which they are tried.
pub fn places(api: &RemoteApi, service: &Value, slices: &[Value]) -> Vec<ServiceAddress> {
    let port = api.service.port;
    let spec = &service["spec"];
    if spec["type"] == "ExternalName" {
        let host = text(&spec["externalName"]).to_owned();
        return vec![ServiceAddress::Host { host, port }];
    }
    let Some(name) = port_name(service, port) else {
        return Vec::new();
    };
    let of_slice = |slice: &Value| -> Vec<ServiceAddress> {
        let Some(port) = port_number(slice, name) else {
            return Vec::new();
        };
        let endpoints = items(&slice["endpoints"]).iter();
        let endpoints = endpoints.filter(|endpoint| is_ready(endpoint));
        endpoints
            .filter_map(|endpoint| place(endpoint, port))
            .collect()
    };
    slices.iter().flat_map(of_slice).collect()
}

/// Returns the endpoint slices that a cluster would mirror from endpoints made by hand.
pub fn mirrored(endpoints: &Value) -> Vec<Value> {
    let slice = |subset: &Value| {
        let of = |field: &str, is_ready: bool| -> Vec<Value> {
            let addresses = items(&subset[field]).iter();
            let endpoint = |address: &Value| {
                json!({
                    "addresses": [address["ip"]],
                    "conditions": {"ready": is_ready},
                    "targetRef": address["targetRef"],
                })
            };
            addresses.map(endpoint).collect()
        };
        let mut all = of("addresses", true);
        all.extend(of("notReadyAddresses", false));
        json!({"endpoints": all, "ports": subset["ports"]})
    };
    items(&endpoints["subsets"]).iter().map(slice).collect()
}

fn place(endpoint: &Value, port: u16) -> Option<ServiceAddress> {
    let target = &endpoint["targetRef"];
    if target["kind"] == "Pod" {
        return Some(ServiceAddress::Pod(target["name"].as_str()?.to_owned()));
    }
    let host = endpoint["addresses"][0].as_str()?.to_owned();
    Some(ServiceAddress::Host { host, port })
}

/// Returns the name of a port of a service, which is empty if it has none.
fn port_name(service: &Value, number: u16) -> Option<&str> {
    let mut ports = items(&service["spec"]["ports"]).iter();
    let port = ports.find(|port| port["port"] == number)?;
    Some(text(&port["name"]))
}

/// Returns the number that a port has in an endpoint slice.
fn port_number(slice: &Value, name: &str) -> Option<u16> {
    let mut ports = items(&slice["ports"]).iter();
    let port = ports.find(|port| text(&port["name"]) == name && !port["port"].is_null())?;
    u16::try_from(port["port"].as_u64()?).ok()
}

/// Returns whether an endpoint is ready, as one is of which it is not said.
fn is_ready(endpoint: &Value) -> bool {
    endpoint["conditions"]["ready"] != false
}
