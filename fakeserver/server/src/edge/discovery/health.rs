//! `/healthz`, `/livez` and `/readyz`: a server that answers is healthy.

use std::{collections::BTreeSet, fmt::Write};

use axum::response::{IntoResponse, Response};
use fakeserver_value::status::Status;
use fakeserver_versions::KubernetesVersion;
use http::header;

use crate::edge::request::Query;

/// The health checks of a real server, in its order: a server in memory fails none of them while it runs.
const CHECKS: [&str; 35] = [
    "ping",
    "log",
    "loopback-serving-certificate",
    ETCD,
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-wait-for-first-sync",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
];
/// The check after which those of readiness stand.
const ETCD: &str = "etcd";

/// The checks of readiness that have no path.
const WITHOUT_PATH: [&str; 3] = [ETCD, "etcd-readiness", "loopback-serving-certificate"];

/// The checks that a version has only with a feature.
const GATED: [(&str, &str); 3] = [
    ("loopback-serving-certificate", "LoopbackCertificateCheck"),
    (
        "poststarthook/peer-endpoint-reconciler-controller",
        "UnknownVersionInteroperabilityProxy",
    ),
    (
        "poststarthook/storage-readiness",
        "WatchCacheInitializationPostStartHook",
    ),
];

/// Lists the checks of an endpoint.
fn checks_of(kubernetes: KubernetesVersion, endpoint: &str) -> Vec<&'static str> {
    let gates = kubernetes.gates();
    let is_there = |check: &&str| {
        let gate = GATED.iter().find(|(gated, _)| gated == check);
        gate.is_none_or(|(_, gate)| gates.is_on(gate))
    };
    let all = CHECKS.into_iter().filter(is_there);
    if endpoint != "readyz" {
        return all.collect();
    }
    let mut checks = Vec::new();
    for check in all {
        checks.push(check);
        if check == ETCD {
            checks.extend(["etcd-readiness", "informer-sync"]);
        }
    }
    checks.push("shutdown");
    checks
}

/// Returns whether a check of an endpoint has a path of its own.
fn has_path(endpoint: &str, check: &str) -> bool {
    endpoint != "readyz" || !WITHOUT_PATH.contains(&check)
}

/// Answers a health endpoint, or one check of it; `None` if there is no such check.
pub(super) fn serve(
    kubernetes: KubernetesVersion,
    endpoint: &str,
    check: Option<&str>,
    query: &Query,
) -> Option<Result<Response, Status>> {
    let checks = checks_of(kubernetes, endpoint);
    if let Some(check) = check {
        let answer = || {
            let content_type = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
            Ok((content_type, "ok").into_response())
        };
        let is_listed = checks.contains(&check) && has_path(endpoint, check);
        return is_listed.then(answer);
    }
    if query.get("verbose").is_none() {
        return Some(Ok(text("ok".to_owned())));
    }
    let mut report = String::new();
    let mut unknown: BTreeSet<&str> = query.all("exclude").collect();
    for check in checks {
        let outcome = if query.all("exclude").any(|excluded| excluded == check) {
            unknown.remove(check);
            "excluded: ok"
        } else {
            "ok"
        };
        let _ = writeln!(report, "[+]{check} {outcome}");
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.iter().map(|name| format!("{name:?}")).collect();
        let _ = writeln!(
            report,
            "warn: some health checks cannot be excluded: no matches for {}",
            names.join(",")
        );
    }
    let _ = writeln!(report, "{endpoint} check passed");
    Some(Ok(text(report)))
}

fn text(body: String) -> Response {
    (
        [
            (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ],
        body,
    )
        .into_response()
}

/// Returns the paths of the checks of all endpoints that `/` lists.
pub(super) fn listed_paths(kubernetes: KubernetesVersion) -> Vec<String> {
    let mut paths = Vec::new();
    for endpoint in ["healthz", "livez", "readyz"] {
        paths.push(format!("/{endpoint}"));
        let mut checks = checks_of(kubernetes, endpoint);
        checks.retain(|check| has_path(endpoint, check));
        let checks = checks.into_iter();
        paths.extend(checks.map(|check| format!("/{endpoint}/{check}")));
    }
    paths
}
