//! Printed cells of services.

use fakeserver_value::read::{items, number, text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::table::cell::{Cells, NONE, age, labels, name, or_none, text_or};

pub(super) fn cells(object: &Value, now: Timestamp) -> Cells {
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
        json!(ports(&spec["ports"])),
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

fn ports(ports: &Value) -> String {
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
