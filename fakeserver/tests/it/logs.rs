//! Logs of pods that kubelets run.

use std::time::Duration;

use fakeserver::{Controllers, Stage, Workloads, WriteLogError};
use serde_json::json;
use tokio::time::sleep;

use crate::support::{Api, PODS, pod};

/// A server with a node, on which `p` runs.
async fn api() -> Api {
    let workloads = Workloads::default().with_pod_stop(Duration::from_secs(2));
    let api = Api::with(Controllers::default().with_workloads(workloads));
    api.post(PODS, &pod("p", "")).await.created();
    api.settle().await;
    api
}

async fn log(api: &Api, query: &str) -> String {
    let answer = api.get(&format!("{PODS}/p/log?{query}")).await;
    assert_eq!(answer.code, 200, "{query}: {answer:?}");
    assert_eq!(answer.headers["content-type"], "text/plain");
    answer.text
}

fn say(api: &Api, text: &str) {
    api.server.write_log("default", "p", "c", text).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_log_has_a_line_for_each_change_of_a_containers_state() {
    let api = api().await;
    let started = "container c of image i started\n";
    assert_eq!(log(&api, "").await, started);
    assert_eq!(log(&api, "container=c&pretty=true").await, started);
    assert_eq!(
        log(&api, "timestamps=true").await,
        format!("2026-01-01T00:00:01.000000000Z {started}")
    );
    let deleting = async {
        sleep(Duration::from_secs(1)).await;
        say(&api, "a line");
        api.delete(&format!("{PODS}/p")).await.ok();
    };
    let (followed, ()) = tokio::join!(log(&api, "follow=true"), deleting);
    let ended = "container c ended with exit code 0\n";
    assert_eq!(followed, format!("{started}a line\n{ended}"));
    api.settle().await;
    api.get(&format!("{PODS}/p/log?follow=true"))
        .await
        .refused(404);
    // The next pod of that name does not know of it.
    api.post(PODS, &pod("p", "")).await.created();
    api.settle().await;
    assert_eq!(log(&api, "").await, started);
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_log_is_selected() {
    let api = api().await;
    say(&api, "first");
    sleep(Duration::from_secs(10)).await;
    say(&api, "second\nthird");
    assert_eq!(log(&api, "tailLines=2").await, "second\nthird\n");
    assert_eq!(log(&api, "tailLines=0").await, "");
    assert_eq!(log(&api, "sinceSeconds=1").await, "second\nthird\n");
    assert_eq!(
        log(&api, "sinceTime=2026-01-01T00:00:10Z&tailLines=1").await,
        "third\n"
    );
    assert_eq!(
        log(&api, "limitBytes=13&tailLines=2").await,
        "second\nthird\n"
    );
    assert_eq!(
        log(&api, "limitBytes=8&tailLines=2&follow=1").await,
        "second\nt"
    );
}

#[tokio::test(start_paused = true)]
async fn a_log_that_is_followed_ends_with_the_server() {
    let api = api().await;
    let ending = async {
        sleep(Duration::from_mins(1)).await;
        api.server.shutdown().await;
    };
    let (followed, ()) = tokio::join!(log(&api, "follow=true&tailLines=0"), ending);
    assert_eq!(followed, "");
}

#[tokio::test(start_paused = true)]
async fn a_log_that_is_not_there_is_refused_in_a_kubelets_words() {
    let api = api().await;
    let refused = async |query: &str, code: u16| {
        let answer = api.get(&format!("{PODS}/p/log?{query}")).await;
        answer.refused(code)
    };
    assert_eq!(
        refused("previous=true", 400).await,
        "previous terminated container \"c\" in pod \"p\" not found"
    );
    assert_eq!(
        refused("container=x", 400).await,
        "container x is not valid for pod p"
    );
    let mut waiting = pod("q", "node-0");
    waiting["spec"]["initContainers"] = json!([{"name": "before", "image": "i"}]);
    api.post(PODS, &waiting).await.created();
    let path = format!("{PODS}/q/log");
    assert_eq!(
        api.get(&path).await.refused(400),
        "container \"c\" in pod \"q\" is not available"
    );
    assert_eq!(
        api.get(&format!("{path}?container=before"))
            .await
            .refused(400),
        "container \"before\" in pod \"q\" is not available"
    );
}

#[tokio::test]
async fn options_are_checked_before_the_pod_is_looked_for() {
    let api = Api::new();
    let refused = async |query: &str, code: u16| {
        let answer = api.get(&format!("{PODS}/p/log?{query}")).await;
        answer.refused(code)
    };
    let invalid = |why: &str| format!("PodLogOptions \"p\" is invalid: {why}");
    assert_eq!(
        refused("tailLines=-1", 422).await,
        invalid("tailLines: Invalid value: -1: must be greater than or equal to 0")
    );
    assert_eq!(
        refused("limitBytes=0&sinceSeconds=0", 422).await,
        invalid(
            "[limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: Invalid value: 0: must be greater \
             than 0]"
        )
    );
    assert_eq!(
        refused("sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z", 422).await,
        invalid(": Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified")
    );
    assert_eq!(
        refused("stream=Stdout", 422).await,
        invalid("stream: Forbidden: may not be specified")
    );
    assert_eq!(
        refused("tailLines=all", 400).await,
        "strconv.ParseInt: parsing \"all\": invalid syntax"
    );
    assert_eq!(
        refused("sinceTime=noon", 400).await,
        "parsing time \"noon\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"noon\" as \"2006\""
    );
    refused("tailLines=1", 404).await;
}

#[tokio::test(start_paused = true)]
async fn lines_are_written_to_containers_that_are_there() {
    let api = api().await;
    let write = |pod, container| api.server.write_log("default", pod, container, "x");
    assert!(matches!(write("x", "c"), Err(WriteLogError::NoPod { .. })));
    let error = write("p", "x").unwrap_err();
    assert_eq!(error.to_string(), "container \"x\" is not one of pod \"p\"");
    let bare = Api::new();
    let error = bare.server.write_log("default", "p", "c", "x");
    assert_eq!(error, Err(WriteLogError::NoKubelets));
}

#[tokio::test(start_paused = true)]
async fn a_stage_sets_the_log_of_each_run() {
    let stage = Stage::of_pods("chatty")
        .with_log(Duration::from_secs(2), "later\nand more")
        .with_log(Duration::ZERO, "at once")
        .with_log(Duration::from_secs(3), "at the end")
        .with_log(Duration::from_secs(4), "too late")
        .with_exit(Duration::from_secs(3), 1);
    let workloads = Workloads::default().with_stages([stage]);
    let api = Api::with(Controllers::default().with_workloads(workloads));
    api.post(PODS, &pod("p", "")).await.created();
    sleep(Duration::from_millis(2500)).await;
    let begun = "container c of image i started\nat once\n";
    assert_eq!(log(&api, "").await, begun);
    let whole = format!("{begun}later\nand more\nat the end\ncontainer c ended with exit code 1\n");
    assert_eq!(log(&api, "follow=true").await, whole);
    sleep(Duration::from_millis(500)).await;
    assert_eq!(log(&api, "previous=true").await, whole);
    assert_eq!(log(&api, "").await, begun, "the second run begins anew");
}

#[tokio::test(start_paused = true)]
async fn a_container_that_waits_for_its_next_run_shows_its_last_one() {
    let stage = Stage::of_pods("crash")
        .with_log(Duration::ZERO, "booting")
        .with_exit(Duration::from_secs(1), 1);
    let workloads = Workloads::default().with_stages([stage]);
    let api = Api::with(Controllers::default().with_workloads(workloads));
    let mut pod = pod("p", "");
    pod["spec"]["initContainers"] = json!([{"name": "before", "image": "i"}]);
    api.post(PODS, &pod).await.created();
    // It starts at 1 s and 2 s, and waits from 3 s to 13 s.
    sleep(Duration::from_secs(5)).await;
    let status = api.get(&format!("{PODS}/p")).await.ok()["status"].take();
    let before = &status["initContainerStatuses"][0];
    assert_eq!(before["state"]["waiting"]["reason"], "CrashLoopBackOff");
    let whole =
        "container before of image i started\nbooting\ncontainer before ended with exit code 1\n";
    let timed = log(&api, "container=before&timestamps=true").await;
    assert!(timed.starts_with("2026-01-01T00:00:02"), "{timed}");
    for query in ["", "&follow=true", "&previous=true"] {
        let tail = log(&api, &format!("container=before{query}")).await;
        assert_eq!(tail, whole, "{query}");
    }
    let previous = log(&api, "container=before&previous=true&timestamps=true").await;
    assert_eq!(previous, timed);
}
