//! Answers about versions that are gone, and that are not there yet.

use std::time::Duration;

use http::StatusCode;

use super::{answer, frame, json, on_frames, on_request, request};
use crate::faults::{
    EventType, ExpiredStatus, Fault, FrameVerdict, Gone, GoneForm, RequestFacts, RequestVerdict,
    VersionTooLarge,
};

#[test]
fn the_410_of_a_request_meets_only_reads_of_a_version() {
    let check = |request: &RequestFacts, expired: bool| {
        let verdict = on_request(ExpiredStatus::default().rule(), request);
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

/// A read that names a version.
fn at_version(verb: &'static str) -> RequestFacts {
    RequestFacts {
        resource_version: "7".into(),
        revision: 20,
        ..request(verb)
    }
}

fn streaming_at_version() -> RequestFacts {
    RequestFacts {
        is_watch_list: true,
        ..at_version("watch")
    }
}

#[test]
fn gone_has_three_forms() {
    let gone = |form| Gone { form }.rule();
    let as_status = answer(on_request(gone(GoneForm::Status), &at_version("list")));
    assert_eq!(json(&as_status.body)["reason"], "Gone");
    let as_text = answer(on_request(gone(GoneForm::Text), &at_version("watch")));
    assert_eq!(
        (as_text.code, &*as_text.body),
        (StatusCode::GONE, &b"Gone\n"[..])
    );
    let passes = |form, request: &RequestFacts| {
        assert_eq!(on_request(gone(form), request), RequestVerdict::Pass);
    };
    passes(GoneForm::Text, &request("list"));
    passes(GoneForm::Event, &at_version("list"));
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
}

#[test]
fn a_relist_of_a_version_expires_and_one_without_does_not() {
    let relist = |request: &RequestFacts| on_request(Fault::ExpiredRelist.rule(), request);
    for request in [at_version("watch"), streaming_at_version()] {
        let answer = answer(relist(&request));
        assert_eq!(answer.code, StatusCode::OK);
        assert_eq!(json(&answer.body)["object"]["code"], 410);
    }
    let listed = answer(relist(&at_version("list")));
    assert_eq!(listed.code, StatusCode::GONE);
    assert_eq!(relist(&request("list")), RequestVerdict::Pass);
    assert_eq!(relist(&request("watch")), RequestVerdict::Pass);
}

#[test]
fn a_version_that_is_too_large_fails_after_the_wait() {
    let too_large = |request: &RequestFacts| {
        let rule = VersionTooLarge { wait_ms: 3_000 }.rule();
        match on_request(rule, request) {
            RequestVerdict::AnswerLater { after, answer } => {
                assert_eq!(after, Duration::from_secs(3));
                Some(answer)
            }
            _ => None,
        }
    };
    let listed = too_large(&at_version("list")).unwrap();
    assert_eq!(listed.headers["retry-after"], "1");
    assert_eq!(
        json(&listed.body)["details"]["causes"][0]["reason"],
        "ResourceVersionTooLarge"
    );
    assert_eq!(
        too_large(&at_version("get")).unwrap().code,
        StatusCode::GATEWAY_TIMEOUT
    );
    let streamed = too_large(&streaming_at_version()).unwrap();
    assert_eq!(json(&streamed.body)["type"], "ERROR");
    assert_eq!(too_large(&at_version("watch")), None);
    assert_eq!(too_large(&request("list")), None);
}

#[test]
fn an_expired_continuation_may_have_a_replacement_token() {
    use fakeserver_value::revision::Revision;

    use crate::store::continue_token::ContinueToken;
    let token = ContinueToken::after("default/a", Some(Revision::new(5))).encode();
    let page = RequestFacts {
        has_continue: true,
        continue_token: token,
        ..request("list")
    };
    let status = json(&answer(on_request(ExpiredStatus::default().rule(), &page)).body);
    let next = ContinueToken::decode(status["metadata"]["continue"].as_str().unwrap()).unwrap();
    assert_eq!(next.revision, None);
    let rule = ExpiredStatus {
        replacement_token: false,
    }
    .rule();
    let status = json(&answer(on_request(rule, &page)).body);
    assert_eq!(status["reason"], "Expired");
    assert!(status["metadata"].get("continue").is_none());
}
