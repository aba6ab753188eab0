//! `/metrics`: the server's counters, in Prometheus's format.

use std::fmt::Write;

use axum::response::{IntoResponse, Response};
use fakeserver_value::status::Status;
use http::{Method, header};

use super::Stats;

/// The form of the text, to the letter of a real server.
const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/// The counts of the log of the store.
pub(super) struct LogCounts {
    /// The revision that is on the disk.
    pub(super) revision: u64,
    /// The bytes that wait.
    pub(super) queue_bytes: usize,
    pub(super) syncs: u64,
    /// The requests that were refused because the log did not advance.
    pub(super) refusals: u64,
}

/// Answers with the counts of a server, and the seats of its priority levels.
pub(crate) fn serve(
    method: &Method,
    stats: &Stats,
    levels: &[(String, u64)],
    log: Option<LogCounts>,
) -> Result<Response, Status> {
    if method != Method::GET {
        return Err(Status::method_not_allowed());
    }
    let mut text = text(stats, levels);
    if let Some(log) = log {
        print_log(&mut text, &log);
    }
    Ok(([(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}

fn print_log(text: &mut String, log: &LogCounts) {
    for (name, kind, help, value) in [
        (
            "durable_revision",
            "gauge",
            "The revision that is on the disk.",
            log.revision,
        ),
        (
            "queue_bytes",
            "gauge",
            "Bytes of commits that wait for the log.",
            log.queue_bytes as u64,
        ),
        ("syncs_total", "counter", "Syncs of the log.", log.syncs),
        (
            "refusals_total",
            "counter",
            "Requests that were refused because the log did not advance.",
            log.refusals,
        ),
    ] {
        let name = format!("fakeserver_data_log_{name}");
        let _ = writeln!(
            text,
            "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"
        );
    }
}

fn text(stats: &Stats, levels: &[(String, u64)]) -> String {
    let mut text = String::new();
    let head = |text: &mut String, name: &str, kind: &str, help: &str| {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
    };
    let name = "apiserver_request_total";
    head(&mut text, name, "counter", "Requests by resource and verb.");
    for (counted, verbs) in &stats.requests {
        let (counted, subresource) = counted.split_once('/').unwrap_or((counted, ""));
        let (resource, group) = counted.split_once('.').unwrap_or((counted, ""));
        for (verb, count) in verbs {
            let verb = verb.to_uppercase();
            let _ = writeln!(
                text,
                "{name}{{group=\"{group}\",resource=\"{resource}\",subresource=\"{subresource}\",verb=\"{verb}\"}} {count}"
            );
        }
    }
    let name = "apiserver_registered_watchers";
    head(&mut text, name, "gauge", "Watches that are open.");
    let _ = writeln!(text, "{name} {}", stats.watchers);
    let name = "apiserver_flowcontrol_nominal_limit_seats";
    head(&mut text, name, "gauge", "Seats of each priority level.");
    for (level, count) in levels {
        let _ = writeln!(text, "{name}{{priority_level=\"{level}\"}} {count}");
    }
    let name = "fakeserver_storage_revision";
    head(&mut text, name, "gauge", "The revision of the last write.");
    let _ = writeln!(text, "{name} {}", stats.revision);
    text
}
