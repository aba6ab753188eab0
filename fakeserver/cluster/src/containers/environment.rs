//! The variables of a container: those of its specification, of the services near it, and some of every container.

use std::collections::BTreeMap;

use fakeserver_kinds::addresses::in_url;
use fakeserver_value::read::{items, text};
use serde_json::Value;

use super::{
    downward::{field, resource},
    references::Reference,
    sources::PodSources,
};

/// The variable that runtimes set for every container.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Returns the variables of a container, in the order in which it gets them.
pub(super) fn variables(
    pod: &Value,
    container: &Value,
    host_name: &str,
    sources: &dyn PodSources,
) -> Vec<(String, String)> {
    let mut variables = Variables::default();
    variables.put("PATH", PATH);
    variables.put("HOSTNAME", host_name);
    if pod["spec"]["enableServiceLinks"] != false {
        for service in sources.services() {
            variables.add_service(&service);
        }
    }
    for from in items(&container["envFrom"]) {
        variables.add_all(from, sources);
    }
    for variable in items(&container["env"]) {
        let name = text(&variable["name"]);
        let value = match variable["value"].as_str() {
            Some(value) => Some(variables.expanded(value)),
            None if variable["valueFrom"].is_null() => Some(String::new()),
            None => selected(&variable["valueFrom"], pod, container, sources),
        };
        if let Some(value) = value {
            variables.put(name, &value);
        }
    }
    variables.put_default("HOME", "/root");
    variables.ordered
}

/// Variables in their order, each once.
#[derive(Default)]
struct Variables {
    ordered: Vec<(String, String)>,
    places: BTreeMap<String, usize>,
}

// === impl Variables ===

impl Variables {
    fn put(&mut self, name: &str, value: &str) {
        let entry = (name.to_owned(), value.to_owned());
        if let Some(place) = self.places.get(name) {
            self.ordered[*place] = entry;
            return;
        }
        self.places.insert(name.to_owned(), self.ordered.len());
        self.ordered.push(entry);
    }

    fn put_default(&mut self, name: &str, value: &str) {
        if !self.places.contains_key(name) {
            self.put(name, value);
        }
    }

    /// Adds the variables by which a container finds a service.
    fn add_service(&mut self, service: &Value) {
        let spec = &service["spec"];
        let host = text(&spec["clusterIP"]);
        let in_url = in_url(host);
        let Some(first) = items(&spec["ports"]).iter().next() else {
            return;
        };
        let prefix = constant(text(&service["metadata"]["name"]));
        let address = |port: &Value| {
            let protocol = text(&port["protocol"]).to_lowercase();
            format!("{protocol}://{in_url}:{}", port["port"])
        };
        self.put(&format!("{prefix}_SERVICE_HOST"), host);
        self.put(
            &format!("{prefix}_SERVICE_PORT"),
            &first["port"].to_string(),
        );
        for port in items(&spec["ports"]) {
            let name = text(&port["name"]);
            if !name.is_empty() {
                let name = format!("{prefix}_SERVICE_PORT_{}", constant(name));
                self.put(&name, &port["port"].to_string());
            }
        }
        self.put(&format!("{prefix}_PORT"), &address(first));
        for port in items(&spec["ports"]) {
            let protocol = text(&port["protocol"]);
            let prefix = format!("{prefix}_PORT_{}_{protocol}", port["port"]);
            self.put(&prefix, &address(port));
            self.put(&format!("{prefix}_PROTO"), &protocol.to_lowercase());
            self.put(&format!("{prefix}_PORT"), &port["port"].to_string());
            self.put(&format!("{prefix}_ADDR"), host);
        }
    }

    /// Adds all entries of a config map or a secret.
    fn add_all(&mut self, from: &Value, sources: &dyn PodSources) {
        let prefix = text(&from["prefix"]);
        let reference = Reference::of_environment(from);
        let entries = reference.and_then(|reference| reference.entries(sources));
        for (name, value) in entries.unwrap_or_default() {
            if let Ok(value) = str::from_utf8(&value) {
                self.put(&format!("{prefix}{name}"), value);
            }
        }
    }

    /// Replaces `$(NAME)` by the value of a variable before it. `$$` is a dollar sign.
    fn expanded(&self, value: &str) -> String {
        let mut expanded = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once('$') {
            expanded.push_str(before);
            rest = after;
            if let Some(after) = rest.strip_prefix('$') {
                expanded.push('$');
                rest = after;
            } else if let Some((name, after)) =
                rest.strip_prefix('(').and_then(|name| name.split_once(')'))
            {
                match self.places.get(name) {
                    Some(place) => expanded.push_str(&self.ordered[*place].1),
                    None => expanded.extend(["$(", name, ")"]),
                }
                rest = after;
            } else {
                expanded.push('$');
            }
        }
        expanded + rest
    }
}

/// Returns the value that a variable takes from elsewhere.
fn selected(
    from: &Value,
    pod: &Value,
    container: &Value,
    sources: &dyn PodSources,
) -> Option<String> {
    if let Some(reference) = Reference::of_variable(from) {
        let entries = reference.part.chosen(reference.entries(sources)?);
        let value = entries.into_values().next()?;
        String::from_utf8(value).ok()
    } else if !from["fieldRef"].is_null() {
        field(pod, text(&from["fieldRef"]["fieldPath"]))
    } else {
        resource(pod, container, &from["resourceFieldRef"])
    }
}

/// Returns the name of a service or port as it stands in variables.
fn constant(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_address_of_ipv6_is_in_brackets_before_a_port() {
        let mut variables = Variables::default();
        variables.add_service(&json!({
            "metadata": {"name": "kubernetes"},
            "spec": {"clusterIP": "fd00::1", "ports": [{"port": 443, "protocol": "TCP"}]},
        }));
        let value = |name: &str| &*variables.ordered[variables.places[name]].1;
        assert_eq!(value("KUBERNETES_SERVICE_HOST"), "fd00::1");
        assert_eq!(value("KUBERNETES_PORT"), "tcp://[fd00::1]:443");
        assert_eq!(value("KUBERNETES_PORT_443_TCP_ADDR"), "fd00::1");
    }
}
