//! What each rule orders, and when. That the orders are carried out is tested where they are.

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
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

/// The verdicts of `rule` on each of `frames`, one after the other.
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

#[test]
fn each_rule_on_frames_orders_what_its_name_says() {
    use FrameVerdict::{Drop, Duplicate, End, Pass, Reset, Silence, SwapWithNext};
    let watch = request("watch");
    let added = frame(&watch, EventType::Added);
    let bookmark = frame(&watch, EventType::Bookmark);
    let end = FrameFacts {
        is_initial: true,
        is_initial_events_end: true,
        ..bookmark
    };
    let check = |verdicts: Vec<FrameVerdict>, expected: [FrameVerdict; 3]| {
        assert_eq!(verdicts, expected);
    };
    let frames = [added, bookmark, end];
    check(on_frames(clean_end(), &frames), [End, End, End]);
    let half = || Reset { after_bytes: 50 };
    check(
        on_frames(reset_mid_line(), &frames),
        [half(), half(), half()],
    );
    check(on_frames(silence(), &frames), [Silence, Silence, Silence]);
    check(
        on_frames(end_before_initial_events_end(), &frames),
        [Pass, Pass, End],
    );
    check(on_frames(drop_event(), &frames), [Drop, Pass, Pass]);
    check(
        on_frames(duplicate_event(), &frames),
        [Duplicate, Pass, Pass],
    );
    check(
        on_frames(reorder_events(), &frames),
        [SwapWithNext, Pass, Pass],
    );
    let late = Duration::from_secs(2);
    let delay = || FrameVerdict::Delay(late);
    check(
        on_frames(latency(late).and_frames(late), &frames),
        [delay(), delay(), delay()],
    );
    check(on_frames(latency(late), &frames), [Pass, Pass, Pass]);

    let FrameVerdict::EndWith(error) = &on_frames(expired_event(), &[added])[0] else {
        panic!("no event");
    };
    let error = json(error);
    assert_eq!(
        (&error["type"], &error["object"]["code"]),
        (&"ERROR".into(), &410.into())
    );
    let FrameVerdict::EndWith(ahead) = &on_frames(bookmark_ahead(), &[added])[0] else {
        panic!("no bookmark");
    };
    let ahead = json(ahead);
    assert_eq!(ahead["type"], "BOOKMARK");
    assert_eq!(ahead["object"]["metadata"]["resourceVersion"], "7");
    assert_eq!(ahead["object"]["kind"], "Pod");
    check(
        on_frames(bookmark_ahead(), &[bookmark, end, end]),
        [Pass, Pass, Pass],
    );
}

#[test]
fn each_rule_on_requests_orders_what_its_name_says() {
    let list = request("list");
    assert_eq!(
        on_request(latency(Duration::from_secs(2)), &list),
        RequestVerdict::Delay(Duration::from_secs(2))
    );
    assert_eq!(on_request(hang(), &list), RequestVerdict::Hang);

    let throttled = answer(on_request(throttle(Duration::from_secs(3)), &list));
    assert_eq!(throttled.code, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(throttled.headers["retry-after"], "3");
    assert_eq!(
        throttled.headers["content-type"],
        "text/plain; charset=utf-8"
    );
    assert_eq!(
        throttled.body,
        "Too many requests, please try again later.\n"
    );

    let internal = answer(on_request(
        server_error(StatusCode::INTERNAL_SERVER_ERROR),
        &list,
    ));
    assert_eq!(json(&internal.body)["reason"], "InternalError");
    let unavailable = answer(on_request(
        server_error(StatusCode::SERVICE_UNAVAILABLE),
        &list,
    ));
    assert_eq!(
        (unavailable.code, &*unavailable.body),
        (
            StatusCode::SERVICE_UNAVAILABLE,
            &b"Service Unavailable\n"[..]
        )
    );
}

#[test]
fn the_410_of_a_request_meets_only_reads_of_a_version() {
    let check = |request: &RequestFacts, expired: bool| {
        let verdict = on_request(expired_status(), request);
        assert_eq!(verdict != RequestVerdict::Pass, expired, "{request:?}");
        if expired {
            let answer = answer(verdict);
            assert_eq!(answer.code, StatusCode::GONE);
            assert_eq!(json(&answer.body)["reason"], "Expired");
        }
    };
    let with = |verb, version: &str, has_continue| RequestFacts {
        resource_version: version.into(),
        has_continue,
        ..request(verb)
    };
    check(&with("watch", "7", false), true);
    check(&with("list", "7", false), true);
    check(&with("list", "", true), true);
    check(&with("list", "", false), false);
    check(&with("watch", "", false), false);
    let streaming = RequestFacts {
        is_watch_list: true,
        ..with("watch", "7", false)
    };
    check(&streaming, false);
    check(&with("list", "0", false), false);
    check(&with("create", "", false), false);
}

#[test]
fn rules_about_streaming_lists_leave_other_watches_alone() {
    let plain = request("watch");
    let streaming = RequestFacts {
        is_watch_list: true,
        ..request("watch")
    };
    assert_eq!(
        on_request(watch_list_ignored(), &plain),
        RequestVerdict::Pass
    );
    assert_eq!(
        on_request(watch_list_ignored(), &streaming),
        RequestVerdict::IgnoreWatchList
    );
    assert_eq!(
        on_request(watch_list_rejected(), &plain),
        RequestVerdict::Pass
    );
    let rejected = answer(on_request(watch_list_rejected(), &streaming));
    assert_eq!(rejected.code, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(json(&rejected.body)["reason"], "Invalid");
}

#[test]
fn a_trigger_counts_only_what_its_rule_is_about() {
    let faults = Faults::default();
    let rule = drop_event()
        .matching(Filter::any().client("informer"))
        .nth(2)
        .times(2);
    let _guard = faults.install(rule);
    let mine = request("watch");
    let other = RequestFacts {
        client: "kubectl".into(),
        ..request("watch")
    };
    let fired: Vec<bool> = [
        (&mine, EventType::Added),
        (&other, EventType::Added),
        (&mine, EventType::Bookmark),
        (&mine, EventType::Deleted),
        (&mine, EventType::Modified),
        (&mine, EventType::Added),
    ]
    .into_iter()
    .map(|(watch, event)| faults.on_frame(&frame(watch, event)) == FrameVerdict::Drop)
    .collect();
    assert_eq!(fired, [false, false, false, true, true, false]);
    assert_eq!(faults.fired()["drop_event"], 2);
}

#[test]
fn filters_match_what_they_name() {
    let facts = request("list");
    let check =
        |filter: Filter, expected: bool| assert_eq!(filter.matches(&facts), expected, "{filter:?}");
    check(Filter::any(), true);
    check(
        Filter::any()
            .client("informer")
            .verb("list")
            .resource("pods")
            .group(""),
        true,
    );
    check(Filter::any().namespace("default"), true);
    check(Filter::any().client("kubectl"), false);
    check(Filter::any().verb("watch"), false);
    check(Filter::any().group("apps"), false);
    check(Filter::any().resource("nodes"), false);
    check(Filter::any().namespace("kube-system"), false);
}

#[test]
fn filters_match_names_subresources_and_versions() {
    let scale = RequestFacts {
        name: Some("web".into()),
        subresource: Some("scale".into()),
        revision: 9,
        ..request("get")
    };
    let check = |filter: Filter, expected: bool| {
        assert_eq!(filter.matches(&scale), expected, "{filter:?}");
    };
    check(Filter::any().name("web").subresource("scale"), true);
    check(Filter::any().name("db"), false);
    check(Filter::any().subresource(""), false);
    check(Filter::any().min_resource_version(9), true);
    check(Filter::any().min_resource_version(10), false);
    let resumed = RequestFacts {
        resource_version: "7".into(),
        ..scale.clone()
    };
    assert!(!Filter::any().min_resource_version(9).matches(&resumed));
    assert!(Filter::any().min_resource_version(7).matches(&resumed));
    let collection = request("list");
    assert!(!Filter::any().name("web").matches(&collection));
    assert!(Filter::any().subresource("").matches(&collection));
    let late = frame(&scale, EventType::Added);
    assert!(Filter::any().min_resource_version(7).matches_frame(&late));
    assert!(!Filter::any().min_resource_version(8).matches_frame(&late));
}

/// At which of `count` occasions a rule fires.
fn firing(when: When, count: usize) -> Vec<bool> {
    let faults = Faults::default();
    let _guard = faults.install(hang().when(when));
    let list = request("list");
    (0..count)
        .map(|_| faults.on_request(&list) == RequestVerdict::Hang)
        .collect()
}

#[test]
fn dice_follow_from_their_seed() {
    let often = |probability, seed| firing(When::always().with_probability(probability, seed), 200);
    assert_eq!(often(0.0, 1), [false; 200]);
    assert_eq!(often(1.0, 1), [true; 200]);
    assert_eq!(often(0.3, 1), often(0.3, 1));
    assert_ne!(often(0.3, 1), often(0.3, 2));
    let fired = often(0.3, 1).into_iter().filter(|fired| *fired).count();
    assert!((40..80).contains(&fired), "{fired}");
}

#[test]
fn what_dice_let_pass_is_not_counted_as_fired() {
    let when = When::always().with_probability(0.5, 3).times(2).nth(3);
    let fired = firing(when, 100);
    assert_eq!(fired.iter().filter(|fired| **fired).count(), 2);
    assert_eq!(fired[..2], [false; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_rule_has_its_time() {
    let faults = Faults::default();
    let second = Duration::from_secs(1);
    let when = When::always().after(second).lasting(second).times(2).nth(2);
    let _guard = faults.install(hang().when(when));
    let list = request("list");
    let mut fired = Vec::new();
    for _ in 0..6 {
        fired.push(faults.on_request(&list) == RequestVerdict::Hang);
        tokio::time::advance(Duration::from_millis(400)).await;
    }
    // At 0 and 400 ms it is not time yet, and no occasion; at 800 neither; then at 1,200 and 1,600 ms it is.
    assert_eq!(fired, [false, false, false, false, true, false]);
}

#[test]
fn the_first_rule_that_does_not_pass_decides_until_its_guard_is_dropped() {
    let faults = Faults::default();
    let first = faults.install(hang());
    let second = faults.install(latency(Duration::from_secs(1)));
    let list = request("list");
    assert_eq!(faults.on_request(&list), RequestVerdict::Hang);
    drop(first);
    assert_eq!(
        faults.on_request(&list),
        RequestVerdict::Delay(Duration::from_secs(1))
    );
    second.detach();
    assert_eq!(
        faults.on_request(&list),
        RequestVerdict::Delay(Duration::from_secs(1))
    );
    let fired: Vec<_> = faults.fired().into_iter().collect();
    assert_eq!(fired, [("hang", 1), ("latency", 2)]);
}

/// Every fault with the defaults of its parameters.
fn all() -> Vec<Fault> {
    let names = CATALOGUE.iter().map(|entry| entry.fault);
    names.map(|name| Fault::named(name).unwrap()).collect()
}

#[test]
fn the_catalogue_has_every_fault_under_its_name() {
    for (entry, fault) in CATALOGUE.iter().zip(all()) {
        assert_eq!(fault.name(), entry.fault);
        assert_eq!(fault.rule().name(), entry.fault);
        let number: u32 = entry.number.strip_prefix('F').unwrap().parse().unwrap();
        assert_eq!(entry.can_be_held, !(20..=23).contains(&number), "{entry:?}");
        assert!(!entry.models.is_empty() && !entry.suffered.is_empty());
    }
    let numbers = CATALOGUE
        .iter()
        .map(|entry| entry.number[1..].parse::<u32>().unwrap());
    assert!(numbers.is_sorted());
    let mut names: Vec<_> = CATALOGUE.iter().map(|entry| entry.fault).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CATALOGUE.len());
}

#[test]
fn every_parameter_of_the_catalogue_is_one() {
    for entry in CATALOGUE {
        for parameter in entry.parameters {
            // Nothing takes an object for a value: the error is about the parameter, and not about its name.
            let spec = serde_json::json!({"fault": entry.fault, *parameter: {"no": "value"}});
            let error = FaultSpec::from_value(spec).unwrap_err();
            assert_eq!(error.field(), *parameter, "{}: {error}", entry.fault);
            assert!(!error.problem().contains("unknown field"), "{error}");
        }
    }
}

#[test]
fn a_spec_is_written_as_it_is_read() {
    for fault in all() {
        let spec = FaultSpec::new(fault)
            .matching(
                Filter::any()
                    .client("x")
                    .name("web")
                    .min_resource_version(3),
            )
            .when(When::always().nth(2).times(3).with_probability(0.5, 7));
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(
            serde_json::from_str::<FaultSpec>(&text).unwrap(),
            spec,
            "{text}"
        );
        let plain = serde_json::to_string(&FaultSpec::new(fault)).unwrap();
        assert!(
            !plain.contains("match") && !plain.contains("when"),
            "{plain}"
        );
    }
    let text = r#"{"fault":"throttle","retryAfterSeconds":5,"match":{"resource":"pods","verb":"watch"},"when":{"afterMs":10,"forMs":20}}"#;
    let spec: FaultSpec = serde_json::from_str(text).unwrap();
    let expected = FaultSpec::new(Fault::Throttle {
        retry_after_seconds: 5,
        form: ThrottleForm::Text,
    });
    let expected = expected
        .matching(Filter::any().verb("watch").resource("pods"))
        .when(
            When::always()
                .after(Duration::from_millis(10))
                .lasting(Duration::from_millis(20)),
        );
    assert_eq!(spec, expected);
}

/// What is no spec, the field that is wrong, and words of what is wrong with it.
const NO_SPECS: &[(&str, &str, &str)] = &[
    ("[]", "", "an object"),
    ("{}", "fault", "has to be named"),
    (r#"{"fault":3}"#, "fault", "is a string"),
    (
        r#"{"fault":"flood"}"#,
        "fault",
        "there is no fault \"flood\"",
    ),
    (
        r#"{"fault":"hang","code":500}"#,
        "code",
        "has no parameters",
    ),
    (
        r#"{"fault":"throttle","seconds":5}"#,
        "seconds",
        "retryAfterSeconds, form",
    ),
    (
        r#"{"fault":"throttle","retryAfterSeconds":"5"}"#,
        "retryAfterSeconds",
        "invalid type",
    ),
    (
        r#"{"fault":"throttle","form":"tea"}"#,
        "form",
        "unknown variant `tea`",
    ),
    (
        r#"{"fault":"server_error","code":200}"#,
        "code",
        "from 400 to 599",
    ),
    (r#"{"fault":"denied","code":500}"#, "code", "403 or 422"),
    (
        r#"{"fault":"latency","jitterMs":86400001}"#,
        "jitterMs",
        "more than a day",
    ),
    (
        r#"{"fault":"hang","match":{"verbs":"get"}}"#,
        "match.verbs",
        "unknown field `verbs`",
    ),
    (
        r#"{"fault":"hang","match":{"verb":"read"}}"#,
        "match.verb",
        "unknown verb",
    ),
    (
        r#"{"fault":"hang","match":{"client":7}}"#,
        "match.client",
        "invalid type",
    ),
    (r#"{"fault":"hang","when":{"nth":0}}"#, "when.nth", "from 1"),
    (
        r#"{"fault":"hang","when":{"probability":1.5}}"#,
        "when.probability",
        "between 0 and 1",
    ),
    (
        r#"{"fault":"hang","when":{"times":-1}}"#,
        "when.times",
        "invalid value",
    ),
];

#[test]
fn what_is_no_spec_is_refused_by_the_field_that_is_wrong() {
    for (text, field, problem) in NO_SPECS {
        let error = FaultSpec::from_value(serde_json::from_str(text).unwrap()).unwrap_err();
        assert_eq!(error.field(), *field, "{text}: {error}");
        assert!(error.problem().contains(problem), "{text}: {error}");
        assert!(error.to_string().starts_with(field));
    }
}

#[test]
fn what_is_installed_can_be_listed_and_removed() {
    let faults = Faults::default();
    let spec = FaultSpec::new(Fault::Hang).matching(Filter::any().verb("list"));
    let own = faults.install(latency(Duration::from_secs(1)));
    let guard = faults.install_spec(&spec);
    let id = guard.id();
    guard.detach();
    let mut installed = faults.installed();
    assert_eq!(installed.len(), 1);
    assert_eq!((installed[0].id, installed[0].fired), (id, 0));
    assert_eq!(installed[0].spec, spec);
    drop(own);

    let list = RequestFacts {
        revision: 12,
        ..request("list")
    };
    assert_eq!(faults.on_request(&list), RequestVerdict::Hang);
    assert_eq!(faults.on_request(&request("get")), RequestVerdict::Pass);
    installed = faults.installed();
    assert_eq!(
        (installed[0].fired, installed[0].last_revision),
        (1, Some(12))
    );
    let firings = faults.firings();
    assert_eq!(firings.len(), 1);
    let firing = &firings[0];
    assert_eq!((firing.id, firing.rule, firing.revision), (id, "hang", 12));
    assert_eq!((firing.verb, &*firing.resource), ("list", "pods"));

    assert!(!faults.remove(id + 1));
    assert!(faults.remove(id));
    assert!(!faults.remove(id));
    assert_eq!(faults.on_request(&list), RequestVerdict::Pass);
    // A rule that its owner holds is nobody else's to remove.
    let own = faults.install(hang());
    assert!(!faults.remove(own.id()));
}

#[test]
fn firings_are_remembered_up_to_a_bound() {
    let faults = Faults::default();
    let _guard = faults.install(hang());
    for revision in 0..1_500 {
        faults.on_request(&RequestFacts {
            revision,
            ..request("list")
        });
    }
    let firings = faults.firings();
    assert_eq!(firings.len(), 1_000);
    assert_eq!(firings[0].revision, 500);
    assert_eq!(faults.fired()["hang"], 1_500);
}

#[test]
fn questions_about_what_there_is_are_met_only_on_request() {
    let discover = request("discover");
    assert_eq!(on_request(hang(), &discover), RequestVerdict::Pass);
    let asked = hang().matching(Filter::any().verb("discover"));
    assert_eq!(on_request(asked, &discover), RequestVerdict::Hang);
}

#[test]
fn an_answer_has_the_form_that_is_asked_for() {
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
fn writes_meet_what_is_about_writes_and_reads_do_not() {
    for (fault, verb, code, words) in ANSWERS_TO_WRITES {
        let spec: FaultSpec = serde_json::from_str(fault).unwrap();
        let write = RequestFacts {
            name: Some("web".into()),
            ..request(verb)
        };
        let answer = match on_request(spec.rule(), &write) {
            RequestVerdict::Answer(answer)
            | RequestVerdict::AnswerLater { answer, .. }
            | RequestVerdict::Lose(Some(answer)) => answer,
            other => panic!("no answer: {other:?}"),
        };
        assert_eq!(answer.code, *code, "{fault}");
        let body = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(body.contains(words), "{fault}: {body}");
        for verb in ["get", "list", "watch"] {
            let met = on_request(spec.rule(), &request(verb));
            assert_eq!(met, RequestVerdict::Pass, "{fault}");
        }
    }
}

#[test]
fn writes_are_lost_late_or_let_alone() {
    let update = request("update");
    let reset = || lost_answer(LostAs::Reset);
    assert_eq!(on_request(reset(), &update), RequestVerdict::Lose(None));
    assert_eq!(
        on_request(reset().not_applied(), &update),
        RequestVerdict::Sever(std::io::ErrorKind::ConnectionReset)
    );
    let takes = Duration::from_secs(2);
    assert_eq!(
        on_request(slow_webhook(takes), &update),
        RequestVerdict::Delay(takes)
    );
    // Nobody modifies what is only now made.
    assert_eq!(
        on_request(conflict(), &request("create")),
        RequestVerdict::Pass
    );
    assert_eq!(on_request(already_exists(), &update), RequestVerdict::Pass);
}

#[test]
fn versions_that_are_gone_are_told_in_many_ways() {
    let at = |verb| RequestFacts {
        resource_version: "7".into(),
        revision: 20,
        ..request(verb)
    };
    let streaming = RequestFacts {
        is_watch_list: true,
        ..at("watch")
    };
    let as_status = answer(on_request(gone(GoneForm::Status), &at("list")));
    assert_eq!(json(&as_status.body)["reason"], "Gone");
    let as_text = answer(on_request(gone(GoneForm::Text), &at("watch")));
    assert_eq!(
        (as_text.code, &*as_text.body),
        (StatusCode::GONE, &b"Gone\n"[..])
    );
    assert_eq!(
        on_request(gone(GoneForm::Text), &request("list")),
        RequestVerdict::Pass
    );
    assert_eq!(
        on_request(gone(GoneForm::Event), &at("list")),
        RequestVerdict::Pass
    );
    let watch = request("watch");
    let added = frame(&watch, EventType::Added);
    let FrameVerdict::EndWith(event) = &on_frames(gone(GoneForm::Event), &[added])[0] else {
        panic!("no event");
    };
    assert_eq!(json(event)["object"]["reason"], "Gone");
    assert_eq!(
        on_frames(gone(GoneForm::Text), &[added]),
        [FrameVerdict::Pass]
    );

    for asked in [at("watch"), streaming.clone()] {
        let relist = answer(on_request(expired_relist(), &asked));
        assert_eq!(relist.code, StatusCode::OK);
        assert_eq!(json(&relist.body)["object"]["code"], 410);
    }
    let relist = answer(on_request(expired_relist(), &at("list")));
    assert_eq!(relist.code, StatusCode::GONE);
    assert_eq!(
        on_request(expired_relist(), &request("list")),
        RequestVerdict::Pass
    );
    assert_eq!(
        on_request(expired_relist(), &request("watch")),
        RequestVerdict::Pass
    );

    let wait = Duration::from_secs(3);
    let too_large = |request: &RequestFacts| match on_request(version_too_large(wait), request) {
        RequestVerdict::AnswerLater { after, answer } => {
            assert_eq!(after, wait);
            Some(answer)
        }
        _ => None,
    };
    let listed = too_large(&at("list")).unwrap();
    assert_eq!(listed.headers["retry-after"], "1");
    assert_eq!(
        json(&listed.body)["details"]["causes"][0]["reason"],
        "ResourceVersionTooLarge"
    );
    assert_eq!(
        too_large(&at("get")).unwrap().code,
        StatusCode::GATEWAY_TIMEOUT
    );
    assert_eq!(json(&too_large(&streaming).unwrap().body)["type"], "ERROR");
    assert_eq!(too_large(&at("watch")), None);
    assert_eq!(too_large(&request("list")), None);
}

#[test]
fn an_expired_continuation_may_be_told_how_to_go_on() {
    use crate::{revision::Revision, storage::continue_token::ContinueToken};
    let token = ContinueToken::after("default/a", Some(Revision::new(5))).encode();
    let page = RequestFacts {
        has_continue: true,
        continue_token: token,
        ..request("list")
    };
    let told = json(&answer(on_request(expired_status(), &page)).body);
    let next = ContinueToken::decode(told["metadata"]["continue"].as_str().unwrap()).unwrap();
    assert_eq!(next.revision, None);
    let rule = expired_status().without_replacement_token();
    let told = json(&answer(on_request(rule, &page)).body);
    assert_eq!(told["reason"], "Expired");
    assert!(told["metadata"].get("continue").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_right_comes_back_by_turns() {
    let faults = Faults::default();
    let _guard = faults.install(forbidden().flipping(Duration::from_secs(1)));
    let list = request("list");
    let mut met = Vec::new();
    for _ in 0..4 {
        met.push(faults.on_request(&list) != RequestVerdict::Pass);
        tokio::time::advance(Duration::from_millis(700)).await;
    }
    assert_eq!(met, [true, true, false, true]);
}

#[test]
fn jitter_is_within_its_bound_and_follows_from_the_seed() {
    let delays = |seed| {
        let jitter = Duration::from_millis(500);
        let rule = latency(Duration::from_secs(1)).with_jitter(jitter);
        let faults = Faults::default();
        let _guard = faults.install(rule.when(When::always().with_seed(seed)));
        let list = request("list");
        let delay = |_| match faults.on_request(&list) {
            RequestVerdict::Delay(delay) => delay.as_millis(),
            other => panic!("no delay: {other:?}"),
        };
        (0..50).map(delay).collect::<Vec<_>>()
    };
    assert!(delays(1).iter().all(|ms| (1_000..=1_500).contains(ms)));
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2));
}

#[test]
fn the_page_of_faults_is_the_catalogue() {
    let page = include_str!("../../docs/faults.md");
    let yes = |is_so: bool| if is_so { "yes" } else { "" };
    let rows = CATALOGUE.iter().map(|entry| {
        let parameters = entry.parameters.iter().map(|name| format!("`{name}`"));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        format!(
            "| {} | `{}` | {parameters} | {} | {} | {} | {} |",
            entry.number,
            entry.fault,
            entry.models,
            entry.suffered,
            yes(entry.needs_tcp),
            if entry.can_be_held { "yes" } else { "no" },
        )
    });
    let expected: Vec<String> = rows.collect();
    let found: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| F"))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn every_number_of_the_catalogue_has_a_fault() {
    for number in 1..=38 {
        let number = format!("F{number}");
        let is_there = CATALOGUE.iter().any(|entry| entry.number == number);
        assert!(is_there, "{number}");
    }
}
