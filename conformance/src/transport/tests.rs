//! Observations of the transport, and the limit of requests.

use std::{num::NonZeroU32, time::Duration};

use fakeserver::{
    FakeServer,
    faults::{ConnectionRefused, Fault, Throttle, ThrottleForm},
};
use futures::{AsyncBufReadExt, StreamExt, TryStreamExt};
use http::{HeaderMap, HeaderValue, header};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ListParams, PostParams, WatchParams},
};

use super::{
    RequestNumbers, Route, Transport,
    observe::{refuse_protobuf, with_sooner_end},
};
use crate::trace::{Ending, Observation, Recorder, RequestKind};

fn client(server: &FakeServer, recorder: &Recorder) -> kube::Client {
    let numbers = RequestNumbers::default();
    Transport::new(
        Route::to(server),
        0,
        "informer-0",
        numbers,
        recorder.clone(),
    )
    .into_client()
}

fn named(name: &str) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name.to_owned());
    object
}

async fn served() -> FakeServer {
    let server = FakeServer::builder().build();
    let workload = Api::<ConfigMap>::default_namespaced(server.client_named("workload"));
    workload
        .create(&PostParams::default(), &named("a"))
        .await
        .unwrap();
    workload
        .create(&PostParams::default(), &named("b"))
        .await
        .unwrap();
    server
}

#[tokio::test(start_paused = true)]
async fn a_list_is_recorded_page_by_page() {
    let (server, recorder) = (served().await, Recorder::new());
    let maps = Api::<ConfigMap>::default_namespaced(client(&server, &recorder));
    let first = maps.list(&ListParams::default().limit(1)).await.unwrap();
    let token = first.metadata.continue_.unwrap();
    maps.list(&ListParams::default().limit(1).continue_token(&token))
        .await
        .unwrap();
    let trace = recorder.take();
    let pages: Vec<(usize, usize, bool)> = trace
        .observations()
        .filter_map(|observation| match observation {
            Observation::Page {
                request,
                has_more,
                members,
                ..
            } => Some((*request, members.len(), *has_more)),
            _ => None,
        })
        .collect();
    assert_eq!(pages, [(0, 1, true), (1, 1, false)]);
    let continued = trace.observations().filter(|observation| {
        matches!(
            observation,
            Observation::Request {
                kind: RequestKind::List {
                    is_continued: true,
                    ..
                },
                ..
            }
        )
    });
    assert_eq!(continued.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_recorded_frame_by_frame_and_a_dropped_body_as_given_up() {
    let (server, recorder) = (served().await, Recorder::new());
    let maps = Api::<ConfigMap>::default_namespaced(client(&server, &recorder));
    let mut events = Box::pin(maps.watch(&WatchParams::default(), "0").await.unwrap());
    events.next().await.unwrap().unwrap();
    events.next().await.unwrap().unwrap();
    drop(events);
    let text = recorder.take().to_string();
    assert!(text.contains("request 0 of 0: watch from \"0\""), "{text}");
    assert!(text.contains("ADDED default/a="), "{text}");
    assert!(text.contains("ADDED default/b="), "{text}");
    assert!(text.contains("ended 0: given up"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_waited_for_is_given_up_too() {
    let (server, recorder) = (served().await, Recorder::new());
    let _hang = server.faults().install(Fault::Hang.rule());
    let maps = Api::<ConfigMap>::default_namespaced(client(&server, &recorder));
    let params = ListParams::default();
    let answer = tokio::time::timeout(Duration::from_secs(5), maps.list(&params)).await;
    assert!(answer.is_err());
    // The client's own task drops it when it next runs.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let trace = recorder.take();
    assert!(
        !trace
            .observations()
            .any(|observation| matches!(observation, Observation::Answer { .. }))
    );
    let endings: Vec<&Observation> = trace
        .observations()
        .filter(|observation| matches!(observation, Observation::Ended { .. }))
        .collect();
    assert_eq!(
        endings,
        [&Observation::Ended {
            request: 0,
            ending: Ending::Dropped
        }]
    );
}

#[tokio::test(start_paused = true)]
async fn a_severed_request_has_no_answer() {
    let (server, recorder) = (served().await, Recorder::new());
    let _refused = server.faults().install(ConnectionRefused::default().rule());
    let maps = Api::<ConfigMap>::default_namespaced(client(&server, &recorder));
    assert!(maps.list(&ListParams::default()).await.is_err());
    let text = recorder.take().to_string();
    assert!(text.contains("ended 0: broken off"), "{text}");
    assert!(!text.contains("answer 0"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_recorded_with_the_waits_of_its_header_and_of_its_status() {
    let (server, recorder) = (served().await, Recorder::new());
    let throttle = Throttle {
        retry_after_seconds: 3,
        form: ThrottleForm::Status,
        status_retry_after_seconds: 40,
    };
    let _throttled = server.faults().install(throttle.rule());
    let maps = Api::<ConfigMap>::default_namespaced(client(&server, &recorder));
    maps.list(&ListParams::default()).await.unwrap_err();
    let trace = recorder.take();
    let waits = trace
        .observations()
        .filter_map(|observation| match observation {
            Observation::AskedToWait { request: 0, wait } => Some(wait.as_secs()),
            _ => None,
        });
    assert_eq!(waits.collect::<Vec<_>>(), [3, 40]);
}

#[tokio::test(start_paused = true)]
async fn other_requests_are_observed_as_calls() {
    let (server, recorder) = (served().await, Recorder::new());
    let maps = Api::<ConfigMap>::default_namespaced(client(&server, &recorder));
    maps.get("a").await.unwrap();
    maps.create(&PostParams::default(), &named("a"))
        .await
        .unwrap_err();
    let refused = server.faults().install(ConnectionRefused::default().rule());
    maps.get("b").await.unwrap_err();
    drop(refused);
    let trace = recorder.take();
    let calls: Vec<String> = trace.observations().map(ToString::to_string).collect();
    assert_eq!(
        calls,
        [
            "call of 0: GET /api/v1/namespaces/default/configmaps/a -> 200",
            "call of 0: POST /api/v1/namespaces/default/configmaps -> 409",
            "call of 0: GET /api/v1/namespaces/default/configmaps/b -> none",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_loop_of_requests_is_stopped_and_reported() {
    let (server, recorder) = (served().await, Recorder::new());
    let maps = Api::<ConfigMap>::default_namespaced(client(&server, &recorder));
    let hot = async {
        loop {
            let request = maps.watch(&WatchParams::default(), "0").await;
            drop(request);
        }
    };
    tokio::select! {
        biased;
        () = recorder.tripped() => {}
        () = hot => {}
    }
    let trace = recorder.take();
    let Some(Observation::HotLoop { text }) = trace.observations().last() else {
        panic!("{trace}");
    };
    assert!(text.contains("more than 200 requests"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn requests_over_time_are_no_loop() {
    let (server, recorder) = (served().await, Recorder::new());
    let maps = Api::<ConfigMap>::default_namespaced(client(&server, &recorder));
    for _ in 0..1_000 {
        maps.list(&ListParams::default()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!recorder.is_tripped());
}

#[tokio::test(start_paused = true)]
async fn a_body_passes_unchanged() {
    let (server, recorder) = (served().await, Recorder::new());
    let client = client(&server, &recorder);
    let path = "/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=3";
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    let lines: Vec<String> = client
        .request_stream(request)
        .await
        .unwrap()
        .lines()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("{\"type\":\"ADDED\"") && line.ends_with('}'))
    );
}

#[test]
fn a_watch_ends_sooner_and_anything_else_does_not() {
    let five = NonZeroU32::new(5).unwrap();
    let sooner = |uri: &str, factor| {
        with_sooner_end(&uri.parse().unwrap(), factor).map(|uri| uri.to_string())
    };
    let watch = "http://x/api/v1/pods?watch=1&timeoutSeconds=300&resourceVersion=7";
    let want = "http://x/api/v1/pods?watch=1&timeoutSeconds=60&resourceVersion=7";
    assert_eq!(sooner(watch, five).as_deref(), Some(want));
    assert_eq!(sooner(watch, NonZeroU32::MIN), None);
    // A second at least.
    let brief = sooner("/api/v1/pods?watch=1&timeoutSeconds=3", five);
    assert_eq!(
        brief.as_deref(),
        Some("/api/v1/pods?watch=1&timeoutSeconds=1")
    );
    assert_eq!(sooner("/api/v1/pods?watch=1", five), None);
    assert_eq!(sooner("/api/v1/pods?timeoutSeconds=300", five), None);
}

#[test]
fn protobuf_is_struck_where_a_client_accepts_something_else() {
    let struck = |accepted: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(accepted));
        refuse_protobuf(&mut headers);
        headers[header::ACCEPT].to_str().unwrap().to_owned()
    };
    let protobuf = "application/vnd.kubernetes.protobuf";
    assert_eq!(
        struck("application/vnd.kubernetes.protobuf,application/json"),
        "application/json"
    );
    assert_eq!(struck(protobuf), protobuf);
    assert_eq!(struck("application/json"), "application/json");
}
