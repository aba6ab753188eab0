//! Servers that differ for the whole run, by rules that are no faults of a plan.

use std::time::Duration;

use bytes::Bytes;
use fakeserver::faults::{
    self, Answer, EventType, Fault, Faults, Filter, FrameFacts, FrameVerdict, RequestFacts,
    RequestVerdict, Rule, RuleGuard,
};
use http::{HeaderValue, StatusCode, header};

use crate::workload;

/// The length of a short history, in revisions.
const HISTORY: u64 = 6;

/// Watches, streaming lists among them, end in good order before their first event.
pub(super) fn watches_end_at_once(rules: &Faults) -> Vec<RuleGuard> {
    let empty = faults::hook(|request| {
        (request.verb == "watch").then(|| {
            let mut answer = Answer::new(StatusCode::OK, "");
            let json = HeaderValue::from_static("application/json");
            answer.headers.insert(header::CONTENT_TYPE, json);
            answer
        })
    });
    vec![rules.install(empty)]
}

/// Watches from before the last few revisions are answered with HTTP 410, as by aggregated servers and proxies.
pub(super) fn short_history(rules: &Faults) -> Vec<RuleGuard> {
    let refusing = faults::hook(|request| {
        let from: u64 = request.resource_version.parse().unwrap_or(0);
        let is_old = request.verb == "watch"
            && !request.is_watch_list
            && from > 0
            && from + HISTORY < request.revision;
        is_old.then(|| gone("too old resource version"))
    });
    vec![rules.install(refusing)]
}

/// A list cannot be continued: clients get its first page only.
pub(super) fn no_second_page(rules: &Faults) -> Vec<RuleGuard> {
    let refusing = faults::hook(|request| {
        (request.verb == "list" && request.has_continue)
            .then(|| gone("The provided continue parameter is too old"))
    });
    vec![rules.install(refusing)]
}

/// The server does not know streaming lists.
pub(super) fn no_streaming_lists(rules: &Faults) -> Vec<RuleGuard> {
    vec![rules.install(Fault::WatchListIgnored.rule())]
}

/// Only the workload may list or watch config maps.
pub(super) fn config_maps_forbidden(rules: &Faults) -> Vec<RuleGuard> {
    let refusing = faults::hook(|request| {
        (request.client != workload::CLIENT).then(|| {
            let message = "configmaps is forbidden: User \"informer\" cannot list it";
            Answer::status(StatusCode::FORBIDDEN, Some("Forbidden"), message)
        })
    });
    let refusing = refusing.matching(Filter::any().resource("configmaps"));
    vec![rules.install(refusing)]
}

/// The server of one group is away, and its resources cannot be discovered.
pub(super) fn one_group_away(rules: &Faults) -> Vec<RuleGuard> {
    let away = Fault::DiscoveryUnavailable
        .rule()
        .matching(Filter::any().group("apps"));
    vec![rules.install(away)]
}

/// The first change of a pod cannot be decoded.
pub(super) fn undecodable_change(rules: &Faults) -> Vec<RuleGuard> {
    vec![rules.install(SpoiledPod { is_done: false })]
}

/// A streaming list has an object, and its deletion, before it ends.
pub(super) fn deleted_while_streaming(rules: &Faults) -> Vec<RuleGuard> {
    vec![rules.install(ShortLived)]
}

/// Streaming lists bring all objects, never the bookmark that ends them, and end after a while, as those of aggregated servers.
pub(super) fn streaming_lists_without_end(rules: &Faults) -> Vec<RuleGuard> {
    vec![rules.install(WithoutEnd)]
}

/// Streaming lists break off after a few objects, as at a server under load.
pub(super) fn streaming_lists_cut_off(rules: &Faults) -> Vec<RuleGuard> {
    vec![rules.install(CutOff)]
}

/// The first watch ends in good order in the middle of a line.
pub(super) fn half_a_line(rules: &Faults) -> Vec<RuleGuard> {
    vec![rules.install(HalfALine { is_done: false })]
}

/// The pod whose change cannot be decoded.
pub(super) const SPOILED: &str = "one/pod-0";

struct SpoiledPod {
    is_done: bool,
}

struct ShortLived;

struct HalfALine {
    is_done: bool,
}

struct WithoutEnd;

struct CutOff;

/// The time for which a streaming list without an end stays open.
const OPEN_FOR: Duration = Duration::from_secs(5);
/// The number of objects that a streaming list brings before it breaks off.
const OBJECTS_BEFORE_CUT: u64 = 2;

// === impl SpoiledPod ===

impl Rule for SpoiledPod {
    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        let is_change = frame.event == EventType::Modified && frame.watch.resource == "pods";
        if !is_change || self.is_done {
            return FrameVerdict::Pass;
        }
        self.is_done = true;
        let revision = frame.revision;
        FrameVerdict::Replace(line(&format!(
            r#"{{"type":"MODIFIED","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"pod-0","namespace":"one","uid":"spoiled","resourceVersion":"{revision}"}},"spec":"no specification"}}}}"#
        )))
    }
}

// === impl ShortLived ===

impl Rule for ShortLived {
    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        if !frame.is_initial_events_end || frame.watch.resource != "pods" {
            return FrameVerdict::Pass;
        }
        let revision = frame.revision;
        let object = |kind: &str| {
            format!(
                r#"{{"type":"{kind}","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"short-lived","namespace":"one","uid":"short-lived","resourceVersion":"{revision}"}},"spec":{{"containers":[]}}}}}}"#
            )
        };
        let end = format!(
            r#"{{"type":"BOOKMARK","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"resourceVersion":"{revision}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}}"#
        );
        let lines = [object("ADDED"), object("DELETED"), end].join("\n");
        FrameVerdict::Replace(line(&lines))
    }
}

// === impl HalfALine ===

impl Rule for HalfALine {
    fn on_request(&mut self, _: &RequestFacts) -> RequestVerdict {
        RequestVerdict::Pass
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        if self.is_done || frame.is_initial || frame.event == EventType::Bookmark {
            return FrameVerdict::Pass;
        }
        self.is_done = true;
        FrameVerdict::EndWith(Bytes::from_static(br#"{"type":"ADDED","object":{"kind":"#))
    }
}

// === impl WithoutEnd ===

impl Rule for WithoutEnd {
    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        if !frame.is_initial_events_end || !frame.watch.is_watch_list {
            return FrameVerdict::Pass;
        }
        FrameVerdict::EndLater {
            after: OPEN_FOR,
            with: Bytes::new(),
        }
    }
}

// === impl CutOff ===

impl Rule for CutOff {
    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> FrameVerdict {
        let is_cut =
            frame.is_initial && frame.watch.is_watch_list && frame.index >= OBJECTS_BEFORE_CUT;
        if is_cut {
            FrameVerdict::Reset { after_bytes: 0 }
        } else {
            FrameVerdict::Pass
        }
    }
}

fn line(text: &str) -> Bytes {
    Bytes::from(format!("{text}\n"))
}

fn gone(message: &str) -> Answer {
    Answer::status(StatusCode::GONE, Some("Expired"), message)
}
