//! Validation of ingresses.

use std::net::IpAddr;

use fakeserver_value::{
    field::Field,
    findings::Findings,
    names::{dns_label_problems, path_segment_problems, service_name_problems},
};
use serde_json::json;

use crate::formats::{
    check_load_balancer_entry, check_port_number, check_subdomain, port_name_problems,
    wildcard_problems,
};

const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];

const BAD_SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];

const BAD_ENDS: [&str; 2] = ["/..", "/."];

const CLASS: &str = "kubernetes.io/ingress.class";

pub fn check(ingress: &Field<'_>, found: &mut Findings) {
    check_spec(&ingress.at("spec"), found);
    let annotation = ingress.get("metadata")["annotations"][CLASS].as_str();
    let class = ingress.at("spec").at("ingressClassName");
    if let Some(annotation) = annotation
        && class.is_set()
        && class.text() != annotation
    {
        let place = Field::root(ingress.value()).at("annotations").at(CLASS);
        found.invalid_as(
            &place,
            &json!(annotation),
            "must match `ingressClassName` when both are specified",
        );
    }
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_spec(&new.at("spec"), found);
}

/// An update through `status`.
pub fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let entries = new.at("status").at("loadBalancer").at("ingress");
    for entry in entries.items() {
        check_load_balancer_entry(&entry, found);
    }
}

fn check_spec(spec: &Field<'_>, found: &mut Findings) {
    let (rules, backend) = (spec.at("rules"), spec.at("defaultBackend"));
    if rules.is_empty() && !backend.is_set() {
        found.invalid_as(
            spec,
            rules.original(),
            "either `defaultBackend` or `rules` must be specified",
        );
    }
    if backend.is_set() {
        check_backend(&backend, found);
    }
    for rule in rules.items() {
        check_rule(&rule, found);
    }
    for tls in spec.at("tls").items() {
        for host in tls.at("hosts").items() {
            check_host(&host, found);
        }
        if tls.at("secretName").has_text() {
            check_subdomain(&tls.at("secretName"), found);
        }
    }
    if spec.at("ingressClassName").is_set() {
        check_subdomain(&spec.at("ingressClassName"), found);
    }
}

fn check_host(host: &Field<'_>, found: &mut Findings) {
    if host.text().contains('*') {
        found.problems(host, wildcard_problems(host.text()));
    } else {
        check_subdomain(host, found);
    }
}

fn check_rule(rule: &Field<'_>, found: &mut Findings) {
    let (host, http) = (rule.at("host"), rule.at("http"));
    if host.has_text() {
        if host.text().parse::<IpAddr>().is_ok() {
            found.invalid(&host, "must be a DNS name, not an IP address");
        }
        check_host(&host, found);
    }
    if !http.is_set() {
        return;
    }
    let paths = http.at("paths");
    if paths.is_empty() {
        found.required(&paths, "");
    }
    for path in paths.items() {
        check_path(&path, found);
    }
}

fn check_path(rule: &Field<'_>, found: &mut Findings) {
    let (path, kind) = (rule.at("path"), rule.at("pathType"));
    if !kind.is_set() {
        found.required(&kind, "pathType must be specified");
        return;
    }
    let text = path.text();
    let is_exact = matches!(kind.text(), "Exact" | "Prefix");
    if !PATH_TYPES.contains(&kind.text()) {
        found.not_supported(&kind, &PATH_TYPES);
    } else if !text.starts_with('/') && (is_exact || !text.is_empty()) {
        found.invalid_as(&path, &json!(text), "must be an absolute path");
    }
    if is_exact {
        for sequence in BAD_SEQUENCES {
            if text.contains(sequence) {
                found.invalid(&path, &format!("must not contain '{sequence}'"));
            }
        }
        for end in BAD_ENDS {
            if text.ends_with(end) {
                found.invalid(&path, &format!("cannot end with '{end}'"));
            }
        }
    }
    check_backend(&rule.at("backend"), found);
}

fn check_backend(backend: &Field<'_>, found: &mut Findings) {
    let (resource, service) = (backend.at("resource"), backend.at("service"));
    let nothing = json!("");
    match (resource.is_set(), service.is_set()) {
        (true, true) => found.invalid_as(
            backend,
            &nothing,
            "cannot set both resource and service backends",
        ),
        (true, false) => check_reference(&resource, found),
        (false, false) => {
            found.invalid_as(backend, &nothing, "resource or service backend is required");
        }
        (false, true) => {
            let (name, port) = (service.at("name"), service.at("port"));
            if name.has_text() {
                let problems = if found.is_on("RelaxedServiceNameValidation") {
                    dns_label_problems(name.text())
                } else {
                    service_name_problems(name.text())
                };
                found.problems(&name, problems);
            } else {
                found.required(&name, "");
            }
            let (called, number) = (port.at("name"), port.at("number"));
            match (called.has_text(), number.number() != 0) {
                (true, true) => {
                    found.invalid_as(backend, &nothing, "cannot set both port name & port number");
                }
                (true, false) => found.problems(&called, port_name_problems(called.text())),
                (false, true) => check_port_number(&number, found),
                (false, false) => found.required(backend, "port name or number is required"),
            }
        }
    }
}

/// A reference to an object of any kind.
pub fn check_reference(reference: &Field<'_>, found: &mut Findings) {
    if reference.at("apiGroup").is_set() {
        check_subdomain(&reference.at("apiGroup"), found);
    }
    for name in ["kind", "name"] {
        let field = reference.at(name);
        if field.has_text() {
            found.problems(&field, path_segment_problems(field.text()));
        } else if found.is_on("ReferencesRequireWithoutWords") {
            found.required(&field, "");
        } else {
            found.required(&field, &format!("{name} is required"));
        }
    }
}
