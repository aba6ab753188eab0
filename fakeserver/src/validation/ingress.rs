//! Ingresses, their classes, and network policies.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::{
    field::Field,
    findings::Findings,
    formats::{
        check_cidr, check_label_selector, check_port_number, check_subdomain, parse_cidr,
        port_name_problems, wildcard_problems,
    },
    names::{dns_label_problems, path_segment_problems, service_name_problems},
    service::check_entry,
};

const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];
const BAD_SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const BAD_ENDS: [&str; 2] = ["/..", "/."];
const CONTROLLER_MAX_BYTES: usize = 250;
const CLASS: &str = "kubernetes.io/ingress.class";

pub(super) fn check(ingress: &Field<'_>, found: &mut Findings) {
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

pub(super) fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_spec(&new.at("spec"), found);
}

/// An update through `status`.
pub(super) fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let entries = new.at("status").at("loadBalancer").at("ingress");
    for entry in entries.items() {
        check_entry(&entry, found);
    }
}

fn check_spec(spec: &Field<'_>, found: &mut Findings) {
    let (rules, backend) = (spec.at("rules"), spec.at("defaultBackend"));
    if rules.is_empty() && !backend.is_set() {
        found.invalid_as(
            spec,
            &Value::Null,
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
                found.problems(&name, service_name_problems(name.text()));
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
fn check_reference(reference: &Field<'_>, found: &mut Findings) {
    if reference.at("apiGroup").is_set() {
        check_subdomain(&reference.at("apiGroup"), found);
    }
    for name in ["kind", "name"] {
        let field = reference.at(name);
        if field.has_text() {
            found.problems(&field, path_segment_problems(field.text()));
        } else {
            found.required(&field, "");
        }
    }
}

pub(super) fn check_class(class: &Field<'_>, found: &mut Findings) {
    let spec = class.at("spec");
    let controller = spec.at("controller");
    if controller.has_text() {
        if controller.text().len() > CONTROLLER_MAX_BYTES {
            found.too_long(&controller, CONTROLLER_MAX_BYTES);
        }
        check_prefixed_path(&controller, found);
    } else {
        found.required(&controller, "");
    }
    let parameters = spec.at("parameters");
    if !parameters.is_set() {
        return;
    }
    check_reference(&parameters, found);
    let (scope, namespace) = (parameters.at("scope"), parameters.at("namespace"));
    match scope.text() {
        "" => found.required(&scope, ""),
        "Namespace" if !namespace.is_set() => {
            found.required(&namespace, "`parameters.scope` is set to 'Namespace'");
        }
        "Namespace" => found.problems(&namespace, dns_label_problems(namespace.text())),
        "Cluster" if namespace.is_set() => {
            found.forbidden(&namespace, "`parameters.scope` is set to 'Cluster'");
        }
        "Cluster" => {}
        _ => found.not_supported(&scope, &["Cluster", "Namespace"]),
    }
}

pub(super) fn update_class(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    found.immutable(
        &new.at("spec").at("controller"),
        &old.at("spec").at("controller"),
    );
    check_class(new, found);
}

/// A path below a domain, such as `example.com/controller`.
fn check_prefixed_path(field: &Field<'_>, found: &mut Findings) {
    let Some((domain, path)) = field.text().split_once('/') else {
        found.invalid(
            field,
            "must be a domain-prefixed path (such as \"acme.io/foo\")",
        );
        return;
    };
    if domain.is_empty() || path.is_empty() {
        found.invalid(
            field,
            "must be a domain-prefixed path (such as \"acme.io/foo\")",
        );
        return;
    }
    for problem in super::names::subdomain_problems(domain) {
        found.invalid_as(field, &json!(domain), &problem);
    }
}

pub(super) fn check_policy(policy: &Field<'_>, found: &mut Findings) {
    let spec = policy.at("spec");
    check_label_selector(&spec.at("podSelector"), found);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.at(direction).items() {
            for port in rule.at("ports").items() {
                check_policy_port(&port, found);
            }
            for peer in rule.at(peers).items() {
                check_peer(&peer, found);
            }
        }
    }
    let types = spec.at("policyTypes");
    if types.len() > 2 {
        found.invalid(&types, "may not specify more than two policyTypes");
        return;
    }
    for kind in types.items() {
        found.optional_one_of(&kind, &["Ingress", "Egress"]);
    }
}

pub(super) fn update_policy(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_policy(new, found);
}

fn check_policy_port(rule: &Field<'_>, found: &mut Findings) {
    found.optional_one_of(&rule.at("protocol"), &["TCP", "UDP", "SCTP"]);
    let (port, end) = (rule.at("port"), rule.at("endPort"));
    match port.value() {
        Value::Null if end.is_set() => {
            found.invalid(&end, "may not be specified when `port` is not specified");
        }
        Value::Null => {}
        Value::String(name) => {
            if end.is_set() {
                found.invalid(&end, "may not be specified when `port` is non-numeric");
            }
            found.problems(&port, port_name_problems(name));
        }
        _ => {
            check_port_number(&port, found);
            if end.is_set() && end.number() < port.number() {
                found.invalid(&end, "must be greater than or equal to `port`");
            }
            if end.is_set() {
                check_port_number(&end, found);
            }
        }
    }
}

fn check_peer(peer: &Field<'_>, found: &mut Findings) {
    let block = peer.at("ipBlock");
    let mut count = usize::from(block.is_set());
    for name in ["podSelector", "namespaceSelector"] {
        count += usize::from(peer.at(name).is_set());
        check_label_selector(&peer.at(name), found);
    }
    if block.is_set() {
        check_block(&block, found);
    }
    if count == 0 {
        found.required(peer, "must specify a peer");
    } else if count > 1 && block.is_set() {
        found.forbidden(peer, "may not specify both ipBlock and another peer");
    }
}

fn check_block(block: &Field<'_>, found: &mut Findings) {
    let whole = block.at("cidr");
    if !whole.has_text() {
        found.required(&whole, "");
        return;
    }
    check_cidr(&whole, found);
    let Some(outer) = parse_cidr(whole.text()) else {
        return;
    };
    for except in block.at("except").items() {
        check_cidr(&except, found);
        let inner = parse_cidr(except.text());
        if inner.is_some_and(|inner| !is_strictly_within(inner, outer)) {
            found.invalid(&except, "must be a strict subset of `cidr`");
        }
    }
}

fn is_strictly_within(inner: (IpAddr, u32), outer: (IpAddr, u32)) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)) << 96, true),
        IpAddr::V6(address) => (u128::from(address), false),
    };
    let (one, other) = (bits(inner.0), bits(outer.0));
    let mask = match outer.1 {
        0 => 0,
        length => u128::MAX << (128 - length),
    };
    one.1 == other.1 && one.0 & mask == other.0 & mask && inner.1 > outer.1
}
