//! Services and what leads to them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cell::{
    Cells, NONE, UNSET, age, items, labels, name, number, or_none, plain, selector, text, text_or,
};

/// How many endpoints are shown by name.
const ENDPOINTS_SHOWN_MAX: usize = 3;

pub(super) fn service(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    let cluster_ip = match text(&spec["clusterIPs"][0]) {
        "" => text_or(&spec["clusterIP"], NONE),
        address => address,
    };
    vec![
        json!(name(object)),
        json!(text(&spec["type"])),
        json!(cluster_ip),
        json!(external_addresses(object)),
        json!(service_ports(&spec["ports"])),
        json!(age(object, now)),
        json!(labels(&spec["selector"])),
    ]
}

fn external_addresses(service: &Value) -> String {
    let (spec, status) = (&service["spec"], &service["status"]);
    let external: Vec<&str> = items(&spec["externalIPs"]).iter().map(text).collect();
    match text(&spec["type"]) {
        "LoadBalancer" => {
            let ingress = items(&status["loadBalancer"]["ingress"]).iter();
            let mut addresses: Vec<&str> = ingress
                .map(|ingress| text_or(&ingress["ip"], text(&ingress["hostname"])))
                .collect();
            addresses.extend(external);
            match addresses.as_slice() {
                [] => "<pending>".to_owned(),
                some => some.join(","),
            }
        }
        "ExternalName" => text(&spec["externalName"]).to_owned(),
        _ => or_none(external.join(",")),
    }
}

fn service_ports(ports: &Value) -> String {
    let ports: Vec<String> = items(ports)
        .iter()
        .map(|port| {
            let (number, protocol) = (number(&port["port"]), text(&port["protocol"]));
            match port["nodePort"].as_i64() {
                Some(node_port) if node_port > 0 => format!("{number}:{node_port}/{protocol}"),
                _ => format!("{number}/{protocol}"),
            }
        })
        .collect();
    or_none(ports.join(","))
}

pub(super) fn endpoints(object: &Value, now: Timestamp) -> Cells {
    let mut all = Vec::new();
    for subset in items(&object["subsets"]) {
        let ports = items(&subset["ports"]);
        for address in items(&subset["addresses"]) {
            let address = text(&address["ip"]);
            if ports.is_empty() {
                all.push(address.to_owned());
            }
            all.extend(
                ports
                    .iter()
                    .map(|port| format!("{address}:{}", number(&port["port"]))),
            );
        }
    }
    vec![
        json!(name(object)),
        json!(some_of(&all)),
        json!(age(object, now)),
    ]
}

pub(super) fn endpoint_slice(object: &Value, now: Timestamp) -> Cells {
    let ports: Vec<String> = items(&object["ports"])
        .iter()
        .map(|port| match &port["port"] {
            Value::Null => "*".to_owned(),
            number => plain(number),
        })
        .collect();
    let addresses: Vec<String> = items(&object["endpoints"])
        .iter()
        .flat_map(|endpoint| items(&endpoint["addresses"]))
        .map(plain)
        .collect();
    let ports = if ports.is_empty() {
        UNSET.to_owned()
    } else {
        some_of(&ports)
    };
    let addresses = if addresses.is_empty() {
        UNSET.to_owned()
    } else {
        some_of(&addresses)
    };
    vec![
        json!(name(object)),
        json!(text(&object["addressType"])),
        json!(ports),
        json!(addresses),
        json!(age(object, now)),
    ]
}

/// The first few, and how many more there are.
fn some_of(all: &[String]) -> String {
    if all.len() <= ENDPOINTS_SHOWN_MAX {
        return or_none(all.join(","));
    }
    format!(
        "{} + {} more...",
        all[..ENDPOINTS_SHOWN_MAX].join(","),
        all.len() - ENDPOINTS_SHOWN_MAX
    )
}

pub(super) fn ingress(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let hosts: Vec<String> = items(&spec["rules"])
        .iter()
        .map(|rule| text(&rule["host"]).to_owned())
        .filter(|host| !host.is_empty())
        .collect();
    let hosts = if hosts.is_empty() {
        "*".to_owned()
    } else {
        some_of(&hosts)
    };
    let addresses: Vec<&str> = items(&status["loadBalancer"]["ingress"])
        .iter()
        .map(|ingress| text_or(&ingress["ip"], text(&ingress["hostname"])))
        .filter(|address| !address.is_empty())
        .collect();
    let ports = if items(&spec["tls"]).is_empty() {
        "80"
    } else {
        "80, 443"
    };
    vec![
        json!(name(object)),
        json!(text_or(&spec["ingressClassName"], NONE)),
        json!(hosts),
        json!(addresses.join(",")),
        json!(ports),
        json!(age(object, now)),
    ]
}

pub(super) fn ingress_class(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    let parameters = &spec["parameters"];
    let shown = if parameters.is_null() {
        NONE.to_owned()
    } else {
        let group = text(&parameters["apiGroup"]);
        let dot = if group.is_empty() { "" } else { "." };
        format!(
            "{}{dot}{group}/{}",
            text(&parameters["kind"]),
            text(&parameters["name"])
        )
    };
    vec![
        json!(name(object)),
        json!(text(&spec["controller"])),
        json!(shown),
        json!(age(object, now)),
    ]
}

pub(super) fn network_policy(object: &Value, now: Timestamp) -> Cells {
    let pods = selector(&object["spec"]["podSelector"]);
    vec![json!(name(object)), json!(pods), json!(age(object, now))]
}
