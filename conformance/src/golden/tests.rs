//! Normalising and comparing hand-written values; playing against a server that does not answer.

use serde_json::{Value, json};

use std::time::Duration;

use fakeserver::{FakeServer, faults::Fault};
use tokio::time::Instant;

use super::{
    Endpoint, Normaliser, PlayError, Scenario, Transcript, Verdict, differences, ignore, play,
};

const UID: &str = "0b1c2d3e-0000-4000-8000-000000000001";

fn check_normalised(raw: &Value, want: &Value) {
    assert_eq!(Normaliser::new().value(raw), *want);
}

fn check_text(raw: &str, want: &str) {
    assert_eq!(Normaliser::new().text(raw), want);
}

fn check_ignored(path: &str, mut value: Value, want: &Value) {
    ignore(&mut value, path);
    assert_eq!(value, *want, "{path}");
}

#[test]
fn equal_versions_and_uids_stay_equal() {
    check_normalised(
        &json!([
            {"metadata": {"uid": UID, "resourceVersion": "12"}},
            {"metadata": {"uid": UID, "resourceVersion": "14"}},
            {"metadata": {"ownerReferences": [{"uid": UID}], "resourceVersion": "12"}},
        ]),
        &json!([
            {"metadata": {"uid": "<uid1>", "resourceVersion": "<rv1>"}},
            {"metadata": {"uid": "<uid1>", "resourceVersion": "<rv2>"}},
            {"metadata": {"ownerReferences": [{"uid": "<uid1>"}], "resourceVersion": "<rv1>"}},
        ]),
    );
}

#[test]
fn versions_of_lists_and_bookmarks_are_nobody_s() {
    check_normalised(
        &json!({
            "items": [{"metadata": {"resourceVersion": "7"}}],
            "metadata": {"resourceVersion": "9", "continue": "eyJ9", "remainingItemCount": 3},
        }),
        &json!({
            "items": [{"metadata": {"resourceVersion": "<rv1>"}}],
            "metadata": {"resourceVersion": "<listrv>", "continue": "<continue>", "remainingItemCount": 3},
        }),
    );
    check_normalised(
        &json!({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": "9", "creationTimestamp": null}}}),
        &json!({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": "<bookmarkrv>", "creationTimestamp": null}}}),
    );
}

#[test]
fn unordered_parts_are_sorted() {
    check_normalised(
        &json!({"causes": [{"field": "b"}, {"field": "a", "message": "2"}, {"field": "a", "message": "1"}]}),
        &json!({"causes": [{"field": "a", "message": "1"}, {"field": "a", "message": "2"}, {"field": "b"}]}),
    );
    check_normalised(
        &json!({"managedFields": [
            {"manager": "b", "operation": "Update"},
            {"manager": "a", "operation": "Update", "subresource": "status"},
            {"manager": "a", "operation": "Update", "time": "2026-01-01T00:00:00Z"},
        ]}),
        &json!({"managedFields": [
            {"manager": "a", "operation": "Update", "time": "<time>"},
            {"manager": "a", "operation": "Update", "subresource": "status"},
            {"manager": "b", "operation": "Update"},
        ]}),
    );
}

#[test]
fn messages_lose_their_numbers_and_keep_their_words() {
    check_text(
        "too old resource version: 1 (246)",
        "too old resource version: <n> (<n>)",
    );
    check_text(
        "Too large resource version: 99, current: 12",
        "Too large resource version: <n>, current: <n>",
    );
    check_text(
        &format!("Precondition failed: UID in precondition: x, UID in object meta: {UID}"),
        "Precondition failed: UID in precondition: x, UID in object meta: <uid1>",
    );
    check_text(
        "ResourceVersion in the precondition (1) and ResourceVersion in record (27)",
        "ResourceVersion in the precondition (<n>) and ResourceVersion in record (<n>)",
    );
    check_text(
        "namespaces \"a-1\" not found",
        "namespaces \"a-1\" not found",
    );
    check_normalised(
        &json!({"retryAfterSeconds": 3}),
        &json!({"retryAfterSeconds": "<secs>"}),
    );
}

#[test]
fn every_difference_is_reported_with_its_path() {
    let want = json!({"a": [1, {"b": 2}], "gone": true, "same": null});
    let got = json!({"a": [1, {"b": 3}, 4], "new": 1, "same": null});
    let printed: Vec<String> = differences(&want, &got)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        printed,
        [
            ".a.len want 2 got 3",
            ".a[1].b want 2 got 3",
            ".gone want true got nothing",
            ".new want nothing got 1",
        ]
    );
    assert_eq!(differences(&want, &want), []);
}

#[test]
fn ignored_paths_are_removed_and_nothing_else() {
    let value = || json!({"a": {"x": 1, "y": 2}, "l": [{"x": 1, "z": {"x": 2}}, 5]});
    check_ignored(
        "a.x",
        value(),
        &json!({"a": {"y": 2}, "l": [{"x": 1, "z": {"x": 2}}, 5]}),
    );
    check_ignored(
        "**.x",
        value(),
        &json!({"a": {"y": 2}, "l": [{"z": {}}, 5]}),
    );
    check_ignored(
        "l.*.x",
        value(),
        &json!({"a": {"x": 1, "y": 2}, "l": [{"z": {"x": 2}}, 5]}),
    );
    check_ignored("nowhere.x", value(), &value());
}

#[test]
fn a_step_has_the_kind_of_its_first_field() {
    let text = r#"{"name":"n","about":"","steps":[
        {"id":"1","request":{"control":"expire"}},
        {"id":"2","request":{"sleep":1.5}},
        {"id":"3","request":{"open":"w","path":"/p","headers":{"accept":null}},"response":{"status":200}},
        {"id":"4","request":{"collect":"w","events":2,"ignore":["a.b"]},"response":{"events":[]}},
        {"id":"5","request":{"path":"/p"},"response":{"status":200}}
    ]}"#;
    let transcript = Transcript::parse(text).unwrap();
    let lines: Vec<String> = transcript
        .steps
        .iter()
        .map(|step| {
            format!("{:?}", step.request.action)
                .chars()
                .take(7)
                .collect()
        })
        .collect();
    assert_eq!(
        lines,
        ["Control", "Sleep {", "Open { ", "Collect", "Send(Se"]
    );
    assert_eq!(transcript.steps[3].request.ignore, ["a.b"]);
    assert_eq!(transcript.compared_count(), 3);
}

fn asks(count: usize) -> Transcript {
    let step = r#"{"id":"s","request":{"path":"/api/v1/namespaces"},"response":{"status":200}}"#;
    let steps = vec![step; count].join(",");
    let text = format!(r#"{{"name":"n","about":"","ignore":["type","body"],"steps":[{steps}]}}"#);
    Transcript::parse(&text).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_is_given_up() {
    let server = FakeServer::builder().build();
    let endpoint = Endpoint::in_process(&server).with_patience(Duration::from_secs(7));
    let _hang = server.faults().install(Fault::Hang.rule());
    let (began, transcript) = (Instant::now(), asks(9));
    let playback = play(&endpoint, &transcript.steps, |_| {}).await;
    assert_eq!(began.elapsed(), Duration::from_secs(21));
    assert_eq!(playback.played.len(), 2);
    assert!(playback.played.iter().all(super::PlayedStep::has_failed));
    assert!(matches!(playback.stopped, Some(PlayError::Unanswered(_))));
    let verdict = Verdict::of(&transcript, &playback.played);
    assert_eq!((verdict.matched_count, verdict.not_played_count), (0, 7));
    let printed = verdict.mismatches[0].differences[0].to_string();
    assert_eq!(printed, ".failed want nothing got \"no answer within 7 s\"");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_missing_is_a_difference_and_the_rest_is_played() {
    let server = FakeServer::builder().build();
    let endpoint = Endpoint::in_process(&server);
    let _hang = server.faults().install(Fault::Hang.rule().nth(2).times(1));
    let transcript = asks(4);
    let playback = play(&endpoint, &transcript.steps, |_| {}).await;
    assert!(playback.stopped.is_none());
    let verdict = Verdict::of(&transcript, &playback.played);
    assert_eq!((verdict.matched_count, verdict.not_played_count), (3, 0));
    assert_eq!(verdict.mismatches.len(), 1);
    assert!(!verdict.was_seen_before());
}

#[test]
fn a_scenario_has_names_for_its_steps_and_refuses_what_is_none() {
    let steps =
        r#"[{"path":"/a"},{"id":"x","sleep":1},{"id":"y","request":{"path":"/b"},"response":{}}]"#;
    let scenario = Scenario::from_json("case", &format!(r#"{{"steps":{steps}}}"#)).unwrap();
    assert_eq!(scenario.name(), "case");
    let lines = scenario.steps().iter();
    let lines: Vec<String> = lines
        .map(|step| format!("{}: {}", step.id, step.request.action))
        .collect();
    assert_eq!(lines, ["s1: GET /a", "x: sleep 1 s", "y: GET /b"]);
    assert!(scenario.steps().iter().all(|step| step.response.is_none()));

    let refused = |text| Scenario::from_yaml("case", text).unwrap_err().to_string();
    assert_eq!(refused("about: nothing"), "there is no list `steps`");
    let why = "no YAML: yaml: did not find expected node content";
    assert_eq!(refused("steps: [{path: [}]"), why);
    assert_eq!(refused("steps: [{neither: nor}]"), "no scenario");
}
