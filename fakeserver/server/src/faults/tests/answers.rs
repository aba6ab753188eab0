//! The forms of answers, and faults of writes.

use std::time::Duration;

use serde_json::Value;

use super::{answer, on_request, request};
use crate::faults::{
    Fault, FaultSpec, LostAnswer, LostAnswerForm, Replacement, RequestFacts, RequestVerdict,
    SlowHeaders, SlowWebhook,
};

#[test]
fn a_response_has_the_requested_format() {
    let list = request("list");
    let check = |fault: &str, code: u16, words: &str| {
        let spec: FaultSpec = serde_json::from_str(fault).unwrap();
        let answer = answer(on_request(spec.rule(), &list));
        assert_eq!(answer.code, code, "{fault}");
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(body.contains(words), "{fault}: {body}");
        let media_type = answer.headers["content-type"].to_str().unwrap();
        let is_json = serde_json::from_str::<Value>(&body).is_ok();
        assert_eq!(
            is_json,
            media_type == "application/json",
            "{fault}: {media_type}"
        );
    };
    check(
        r#"{"fault":"throttle","form":"status"}"#,
        429,
        "storage is (re)initializing",
    );
    check(
        r#"{"fault":"throttle","form":"status","statusRetryAfterSeconds":40}"#,
        429,
        r#""retryAfterSeconds":40"#,
    );
    check(
        r#"{"fault":"server_error"}"#,
        500,
        "etcdserver: leader changed",
    );
    check(
        r#"{"fault":"server_error","body":"text"}"#,
        500,
        "Internal Server Error",
    );
    check(
        r#"{"fault":"server_error","code":502,"body":"html"}"#,
        502,
        "<h1>502 Bad Gateway</h1>",
    );
    check(
        r#"{"fault":"server_error","code":503,"body":"status"}"#,
        503,
        "ServiceUnavailable",
    );
    check(
        r#"{"fault":"server_error","code":504,"body":"status"}"#,
        504,
        "list operation against pods",
    );
    check(r#"{"fault":"unauthorized"}"#, 401, "Unauthorized");
    check(
        r#"{"fault":"forbidden"}"#,
        403,
        r#"pods is forbidden: User \"\" cannot list resource \"pods\""#,
    );
    check(
        r#"{"fault":"resource_gone"}"#,
        404,
        "the server could not find the requested resource",
    );
    check(r#"{"fault":"resource_gone"}"#, 404, "NotFound");
}

/// Faults that answer a write with this verb, with the code and words of the answer.
const ANSWERS_TO_WRITES: &[(&str, &str, u16, &str)] = &[
    (
        r#"{"fault":"conflict"}"#,
        "update",
        409,
        "Operation cannot be fulfilled on pods \\\"web\\\"",
    ),
    (
        r#"{"fault":"already_exists"}"#,
        "create",
        409,
        "AlreadyExists",
    ),
    (
        r#"{"fault":"denied"}"#,
        "update",
        403,
        "denied the request: denied by a fault",
    ),
    (r#"{"fault":"denied","code":422}"#, "update", 422, "Invalid"),
    (
        r#"{"fault":"entity_too_large"}"#,
        "update",
        413,
        "limit is 3145728",
    ),
    (
        r#"{"fault":"slow_webhook","timesOut":true}"#,
        "update",
        500,
        "context deadline exceeded",
    ),
    (
        r#"{"fault":"lost_answer","heard":"timeout"}"#,
        "update",
        504,
        "Gateway Timeout",
    ),
    (
        r#"{"fault":"lost_answer","heard":"timeout","applied":false}"#,
        "update",
        504,
        "Gateway Timeout",
    ),
];

#[test]
fn write_faults_affect_only_writes() {
    for (fault, verb, code, words) in ANSWERS_TO_WRITES {
        let spec: FaultSpec = serde_json::from_str(fault).unwrap();
        let write = RequestFacts {
            name: Some("web".into()),
            ..request(verb)
        };
        let answer = match on_request(spec.rule(), &write) {
            RequestVerdict::Answer(answer)
            | RequestVerdict::AnswerLater { answer, .. }
            | RequestVerdict::ReplaceAnswer(Replacement::Answer(answer)) => answer,
            other => panic!("no answer: {other:?}"),
        };
        assert_eq!(answer.code, *code, "{fault}");
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(body.contains(words), "{fault}: {body}");
        for verb in ["get", "list", "watch"] {
            let verdict = on_request(spec.rule(), &request(verb));
            assert_eq!(verdict, RequestVerdict::Pass, "{fault}");
        }
    }
}

#[test]
fn lost_answers_are_of_committed_or_dropped_writes() {
    let update = request("update");
    let reset = |applied| {
        LostAnswer {
            form: LostAnswerForm::Reset,
            applied,
        }
        .rule()
    };
    assert_eq!(
        on_request(reset(true), &update),
        RequestVerdict::ReplaceAnswer(Replacement::Disconnect)
    );
    assert_eq!(
        on_request(reset(false), &update),
        RequestVerdict::Sever(std::io::ErrorKind::ConnectionReset)
    );
    assert_eq!(
        on_request(
            SlowWebhook {
                takes_ms: 2_000,
                times_out: false
            }
            .rule(),
            &update
        ),
        RequestVerdict::Delay(Duration::from_secs(2))
    );
    assert_eq!(
        on_request(SlowHeaders { delay_ms: 2_000 }.rule(), &update),
        RequestVerdict::DelayHead(Duration::from_secs(2))
    );
    // A create has no conflict.
    assert_eq!(
        on_request(Fault::Conflict.rule(), &request("create")),
        RequestVerdict::Pass
    );
    assert_eq!(
        on_request(Fault::AlreadyExists.rule(), &update),
        RequestVerdict::Pass
    );
}
