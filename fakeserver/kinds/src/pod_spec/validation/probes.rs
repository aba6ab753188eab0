//! Validation of probes and hooks.

use fakeserver_value::{field::Field, findings::Findings};

use crate::{
    formats::{check_port, check_port_number},
    pod_spec::validation::containers::Pod,
};

const HANDLERS: [&str; 5] = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

const HEADER: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex \
    used for validation is '[-A-Za-z0-9]+')";

pub(super) fn check_lifecycle(pod: &Pod<'_>, container: &Field<'_>, found: &mut Findings) {
    let lifecycle = container.at("lifecycle");
    for hook in ["postStart", "preStop"] {
        if lifecycle.at(hook).is_set() {
            check_handler(pod, &lifecycle.at(hook), found);
        }
    }
}

pub(super) fn check_probes(pod: &Pod<'_>, container: &Field<'_>, found: &mut Findings) {
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.at(name);
        if !probe.is_set() {
            continue;
        }
        check_handler(pod, &probe, found);
        for number in [
            "initialDelaySeconds",
            "timeoutSeconds",
            "periodSeconds",
            "successThreshold",
            "failureThreshold",
        ] {
            found.non_negative(&probe.at(number));
        }
        let grace = probe.at("terminationGracePeriodSeconds");
        if grace.is_set() && grace.number() <= 0 {
            found.invalid(&grace, "must be greater than 0");
        }
        let threshold = probe.at("successThreshold");
        if name == "readinessProbe" {
            if grace.is_set() {
                found.invalid(&grace, "must not be set for readinessProbes");
            }
        } else if threshold.number() != 1 {
            found.invalid_as(&threshold, &threshold.number().into(), "must be 1");
        }
    }
}

/// One way to ask, and not more.
fn check_handler(pod: &Pod<'_>, handler: &Field<'_>, found: &mut Findings) {
    let mut has_one = false;
    for name in HANDLERS {
        let action = handler.at(name);
        if !action.is_set() {
            continue;
        }
        if has_one {
            found.forbidden(&action, "may not specify more than 1 handler type");
            continue;
        }
        has_one = true;
        match name {
            "exec" if action.at("command").is_empty() => {
                found.required(&action.at("command"), "");
            }
            "httpGet" => check_request(&action, found),
            "tcpSocket" => check_port(&action.at("port"), found),
            "grpc" => check_port_number(&action.at("port"), found),
            "sleep" => check_sleep(pod, &action, found),
            _ => {}
        }
    }
    if !has_one {
        found.required(handler, "must specify a handler type");
    }
}

fn check_request(request: &Field<'_>, found: &mut Findings) {
    if !request.at("path").has_text() {
        found.required(&request.at("path"), "");
    }
    check_port(&request.at("port"), found);
    let scheme = request.at("scheme");
    if !matches!(scheme.text(), "HTTP" | "HTTPS") {
        found.not_supported(&scheme, &["HTTP", "HTTPS"]);
    }
    let headers = request.at("httpHeaders");
    for header in headers.items() {
        let name = header.at("name");
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if !name.has_text() || !name.text().bytes().all(is_allowed) {
            found.invalid_as(&headers, name.value(), HEADER);
        }
    }
}

fn check_sleep(pod: &Pod<'_>, sleep: &Field<'_>, found: &mut Findings) {
    let (seconds, grace) = (sleep.at("seconds").number(), pod.grace_seconds());
    if seconds < 0 || seconds > grace {
        found.invalid_as(
            sleep,
            &seconds.into(),
            &format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})"),
        );
    }
}
