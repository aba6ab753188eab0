//! The pure parts: lines, what they say, what a verdict makes of them, and what is taken out of a request.

use std::time::Duration;

use ::support::request_facts::facts;
use bytes::Bytes;
use fakeserver::faults::{
    BodyFault, EventType, Fault, FaultSpec, Faults, FrameFacts, FrameVerdict, RequestFacts,
};
use http::{HeaderMap, HeaderName, Request, Uri};

use super::{
    frames::{Fields, LineTooLong, Lines},
    pieces::Pieces,
    request::{begins_with_state, strip, without_watch_list},
    shape::{Shaper, Step},
    support,
};

/// The lines of `text`, wherever it is cut.
fn lines(text: &[u8], cut: usize) -> (Vec<Bytes>, Bytes) {
    let mut lines = Lines::default();
    let mut found = Vec::new();
    for part in text.chunks(cut) {
        lines.push(part);
        while let Some(line) = lines.next().unwrap() {
            found.push(line);
        }
    }
    (found, lines.rest())
}

#[test]
fn lines_are_the_same_wherever_a_body_is_cut() {
    let text = "{\"a\":1}\n{\"b\":\"ü€😀\"}\n\n{\"rest".as_bytes();
    let (whole, rest) = lines(text, text.len());
    assert_eq!(whole, ["{\"a\":1}\n", "{\"b\":\"ü€😀\"}\n", "\n"]);
    assert_eq!(rest, "{\"rest");
    for cut in 1..text.len() {
        assert_eq!(lines(text, cut), (whole.clone(), rest.clone()), "{cut}");
    }
}

#[test]
fn a_line_without_end_is_given_up() {
    let mut lines = Lines::default();
    let part = vec![b'x'; 1 << 20];
    for _ in 0..16 {
        lines.push(&part);
        assert_eq!(lines.next(), Ok(None));
    }
    lines.push(&part);
    assert_eq!(lines.next(), Err(LineTooLong));
}

#[test]
fn a_line_reports_what_it_brings() {
    let read = |line: &str| Fields::read(line.as_bytes());
    let event = read(
        r#"{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"17"}}}"#,
    );
    let event = event.unwrap();
    assert_eq!((event.event, event.revision), (EventType::Modified, 17));
    assert_eq!(
        (event.kind.as_str(), event.api_version.as_str()),
        ("Pod", "v1")
    );
    assert!(!event.is_initial_events_end);
    let end = read(
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
    );
    assert!(end.unwrap().is_initial_events_end);
    let other = read(r#"{"type":"BOOKMARK","object":{"metadata":{"annotations":{"x":"true"}}}}"#);
    assert!(!other.unwrap().is_initial_events_end);
    let error = read(r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#).unwrap();
    assert_eq!((error.event, error.revision), (EventType::Error, 0));
    for none in [
        "",
        "{",
        "{}",
        "[]",
        r#"{"type":"OTHER","object":{}}"#,
        r#"{"type":1}"#,
    ] {
        assert_eq!(read(none), None, "{none}");
    }
}

/// Returns the steps for a frame under `verdict`, the next one, and the end.
fn shaped(verdict: FrameVerdict) -> Vec<Step> {
    let mut shaper = Shaper::default();
    assert!(shaper.shape("one\n".into(), verdict));
    shaper.shape("two\n".into(), FrameVerdict::Pass);
    shaper.end();
    std::iter::from_fn(|| shaper.next()).collect()
}

#[test]
fn each_verdict_does_what_it_says() {
    use Step::{End, Send, Wait};
    let (one, two) = (|| Send("one\n".into()), || Send("two\n".into()));
    let other = || Bytes::from("other\n");
    let second = Duration::from_secs(1);
    for (verdict, expected) in [
        (FrameVerdict::Pass, vec![one(), two(), End]),
        (
            FrameVerdict::Delay(second),
            vec![Wait(second), one(), two(), End],
        ),
        (FrameVerdict::GoAway, vec![Step::Leave, one(), two(), End]),
        (FrameVerdict::Drop, vec![two(), End]),
        (FrameVerdict::Duplicate, vec![one(), one(), two(), End]),
        (FrameVerdict::SwapWithNext, vec![two(), one(), End]),
        (
            FrameVerdict::Replace(other()),
            vec![Send(other()), two(), End],
        ),
        (FrameVerdict::JoinNext, vec![Send("one\ntwo\n".into()), End]),
        (
            FrameVerdict::Cut(vec![1, 3, 99]),
            vec![
                Send("o".into()),
                Send("ne".into()),
                Send("\n".into()),
                two(),
                End,
            ],
        ),
        (
            FrameVerdict::Trickle {
                bytes: 3,
                every: second,
            },
            vec![
                Send("one".into()),
                Wait(second),
                Send("\n".into()),
                Wait(second),
                two(),
                End,
            ],
        ),
    ] {
        assert_eq!(shaped(verdict.clone()), expected, "{verdict:?}");
    }
}

#[test]
fn each_verdict_that_ends_a_stream_does_what_it_says() {
    use Step::{Break, End, Send, Silence, Wait};
    let one = || Send("one\n".into());
    let other = || Bytes::from("other\n");
    let second = Duration::from_secs(1);
    for (verdict, expected) in [
        (FrameVerdict::End, vec![End]),
        (FrameVerdict::EndAfter, vec![one(), End]),
        (FrameVerdict::EndWith(other()), vec![Send(other()), End]),
        (FrameVerdict::Evict, vec![one(), End]),
        (
            FrameVerdict::EndLater {
                after: second,
                with: other(),
            },
            vec![Wait(second), Send(other()), End],
        ),
        (FrameVerdict::Reset { after_bytes: 0 }, vec![Break]),
        (
            FrameVerdict::Reset { after_bytes: 2 },
            vec![Send("on".into()), Break],
        ),
        (FrameVerdict::Reset { after_bytes: 99 }, vec![one(), Break]),
        (FrameVerdict::Silence, vec![Silence]),
    ] {
        let steps = shaped(verdict.clone());
        assert_eq!(steps[..expected.len()], expected, "{verdict:?}");
    }
}

/// The steps for a body that comes as `parts`.
fn cut(fault: BodyFault, length: Option<usize>, parts: &[&'static str]) -> Vec<Step> {
    let mut pieces = Pieces::new(fault, length);
    let mut shaper = Shaper::default();
    for part in parts {
        assert!(pieces.cut((*part).into(), &mut shaper));
    }
    std::iter::from_fn(|| shaper.next()).collect()
}

#[test]
fn a_body_arrives_in_pieces_or_by_half() {
    let send = |part: &'static str| Step::Send(part.into());
    let half = cut(BodyFault::Break, Some(8), &["abc", "def", "gh"]);
    assert_eq!(half[..3], [send("abc"), send("d"), Step::Break]);
    let half = cut(BodyFault::Break, None, &["abcd", "efgh"]);
    assert_eq!(half[..2], [send("ab"), Step::Break]);
    let every = Duration::from_millis(5);
    let slow = cut(BodyFault::Trickle { bytes: 2, every }, None, &["abc"]);
    let wait = || Step::Wait(every);
    assert_eq!(slow, [send("ab"), wait(), send("c"), wait()]);
    // The same seed cuts in the same places, and loses nothing.
    let long: &'static str = Box::leak("x".repeat(10_000).into_boxed_str());
    let pieces = cut(BodyFault::Cut { seed: 7 }, None, &[long]);
    assert_eq!(pieces, cut(BodyFault::Cut { seed: 7 }, None, &[long]));
    assert_ne!(pieces, cut(BodyFault::Cut { seed: 8 }, None, &[long]));
    let length = |step: &Step| match step {
        Step::Send(piece) => piece.len(),
        other => panic!("{other:?}"),
    };
    assert!(pieces.len() > 10);
    assert_eq!(pieces.iter().map(length).sum::<usize>(), 10_000);
}

#[test]
fn pending_pieces_are_sent_after_a_pause() {
    let mut shaper = Shaper::default();
    shaper.shape("one\n".into(), FrameVerdict::JoinNext);
    assert!(shaper.is_joining() && shaper.next().is_none());
    shaper.flush();
    assert_eq!(shaper.next(), Some(Step::Send("one\n".into())));
    shaper.shape("two\n".into(), FrameVerdict::JoinNext);
    shaper.shape("three\n".into(), FrameVerdict::End);
    assert_eq!(shaper.next(), Some(Step::Send("two\n".into())));
    assert_eq!(shaper.next(), Some(Step::End));
}

#[test]
fn a_frame_that_waits_for_one_that_never_comes_goes_before_the_end() {
    let mut shaper = Shaper::default();
    shaper.shape("one\n".into(), FrameVerdict::SwapWithNext);
    assert_eq!(shaper.next(), None);
    shaper.end();
    assert_eq!(shaper.next(), Some(Step::Send("one\n".into())));
    assert_eq!(shaper.next(), Some(Step::End));
}

#[test]
fn each_fault_is_made_or_refused_with_a_reason() {
    let mut refused = Vec::new();
    for fault in Fault::all() {
        let (name, spec) = (fault.name(), FaultSpec::new(fault));
        if let Err(error) = support::check(&spec) {
            let message = error.to_string();
            assert!(
                error.is_unsupported() && message.contains(name),
                "{message}"
            );
            refused.push(name);
            continue;
        }
        let faults = Faults::default();
        let _guard = faults.install_spec(&spec);
        for verb in ["list", "watch", "get", "create", "update", "delete"] {
            let mut request = RequestFacts::default();
            request.verb = verb;
            request.resource = "pods".to_owned();
            request.resource_version = "5".to_owned();
            let verdict = faults.on_request(&request);
            assert!(support::can_do(&verdict), "{name}: {verdict:?}");
        }
        let mut watch = RequestFacts::default();
        watch.verb = "watch";
        for event in [EventType::Added, EventType::Modified, EventType::Bookmark] {
            let verdict = faults.on_frame(&FrameFacts::new(&watch, event, 7, 4));
            let message = format!("{name}: {verdict:?}");
            assert!(
                Shaper::default().shape("one\n".into(), verdict),
                "{message}"
            );
        }
    }
    let page = include_str!("../../docs/proxy.md");
    let mut lines = page.lines();
    let line = lines.find(|line| line.starts_with("A proxy cannot make faults"));
    let named = line.unwrap().split('`').skip(1).step_by(2);
    assert_eq!(refused, named.collect::<Vec<_>>());
}

#[test]
fn parameters_report_what_a_watch_begins_with() {
    let of = |query: &str| {
        let request = Request::get(format!("/api/v1/pods?{query}"));
        let request = request.header("user-agent", "informer/1.0 (linux)");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        facts(&parts, 0).unwrap()
    };
    let streaming = of("watch=1&sendInitialEvents=true&resourceVersion=5");
    assert!(streaming.is_watch_list && begins_with_state(&streaming));
    assert_eq!(streaming.client, "informer");
    assert!(begins_with_state(&of("watch=1")));
    assert!(begins_with_state(&of("watch=1&resourceVersion=0")));
    let resumed = of("watch=1&resourceVersion=5");
    assert!(!resumed.is_watch_list && !begins_with_state(&resumed));
    assert_eq!(resumed.resource_version, "5");
    let page = of("limit=5&continue=abc");
    assert!(page.has_continue && page.continue_token == "abc");
    assert!(!of("limit=5").has_continue);
    // Only a watch can be one.
    assert!(!of("sendInitialEvents=true").is_watch_list);
}

#[test]
fn parameters_unknown_to_an_old_server_are_left_out() {
    let uri: Uri = "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&labelSelector=a%3Db"
        .parse()
        .unwrap();
    assert_eq!(
        without_watch_list(&uri),
        "/api/v1/pods?watch=1&labelSelector=a%3Db"
    );
}

#[test]
fn headers_of_one_connection_stay_with_it() {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("connection", "close, X-Mine"),
        ("x-mine", "1"),
        ("keep-alive", "timeout=5"),
        ("te", "trailers"),
        ("transfer-encoding", "chunked"),
        ("authorization", "Bearer t"),
        ("accept", "application/json"),
    ] {
        headers.insert(name, value.parse().unwrap());
    }
    strip(&mut headers);
    let mut left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
    left.sort_unstable();
    assert_eq!(left, ["accept", "authorization"]);
}
