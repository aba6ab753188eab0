//! `/healthz`, `/livez` and `/readyz`: a server that answers is healthy.

use std::fmt::Write;

use axum::response::{IntoResponse, Response};
use http::header;

use crate::{edge::request::Query, value::status::Status};

/// The health checks: a server in memory fails none of them while it runs.
const CHECKS: [&str; 3] = ["ping", "log", "etcd"];
/// The additional checks of readiness.
const READINESS: [&str; 2] = ["informer-sync", "shutdown"];

/// Answers for an endpoint, or one check of it; nothing if there is no such check.
pub(super) fn serve(
    endpoint: &str,
    check: Option<&str>,
    query: &Query,
) -> Option<Result<Response, Status>> {
    let mut checks = CHECKS.to_vec();
    if endpoint == "readyz" {
        checks.extend(READINESS);
    }
    if let Some(check) = check {
        return checks.contains(&check).then(|| Ok(text("ok".to_owned())));
    }
    if query.get("verbose").is_none() {
        return Some(Ok(text("ok".to_owned())));
    }
    let mut report = String::new();
    for check in checks {
        let is_excluded = query.all("exclude").any(|excluded| excluded == check);
        let outcome = if is_excluded { "excluded: ok" } else { "ok" };
        let _ = writeln!(report, "[+]{check} {outcome}");
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
