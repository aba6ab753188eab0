//! Verdicts of faults. Tests of their execution are in `verbs`, `watch` and `server`.

mod answers;
mod catalogue;
mod rules;
mod versions;

use bytes::Bytes;
use serde_json::Value;

use super::*;

fn request(verb: &'static str) -> RequestFacts {
    RequestFacts {
        client: "informer".into(),
        verb,
        version: "v1".into(),
        resource: "pods".into(),
        namespace: Some("default".into()),
        ..RequestFacts::default()
    }
}

fn frame(watch: &RequestFacts, event: EventType) -> FrameFacts<'_> {
    FrameFacts {
        api_version: "v1",
        kind: "Pod",
        ..FrameFacts::new(watch, event, 7, 100)
    }
}

/// Returns a rule by which requests are served late.
fn requests_late(request_ms: u64) -> FaultRule {
    let latency = Latency {
        request_ms,
        ..Latency::default()
    };
    latency.rule()
}

/// Returns the verdicts of `rule` on each of `frames`, one after the other.
fn on_frames(rule: impl Rule, frames: &[FrameFacts<'_>]) -> Vec<FrameVerdict> {
    let faults = Faults::default();
    let _guard = faults.install(rule);
    frames.iter().map(|frame| faults.on_frame(frame)).collect()
}

fn on_request(rule: impl Rule, request: &RequestFacts) -> RequestVerdict {
    let faults = Faults::default();
    let _guard = faults.install(rule);
    faults.on_request(request)
}

fn answer(verdict: RequestVerdict) -> Answer {
    match verdict {
        RequestVerdict::Answer(answer) => answer,
        other => panic!("no answer: {other:?}"),
    }
}

fn json(bytes: &Bytes) -> Value {
    assert!(bytes.ends_with(b"\n"));
    serde_json::from_slice(bytes).unwrap()
}
