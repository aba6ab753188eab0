//! Faults of a client's view of states, and of its writes.

use std::io::ErrorKind;

use super::*;
use crate::faults::{
    Fault, Filter, LaggingReplica, LostAnswer, LostAnswerForm, Rollback, SeveredConnection,
    StaleView, TimeTravel,
};

const STREAMING: &str =
    "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

fn any_state() -> String {
    format!("{CONFIG_MAPS}?resourceVersion=0")
}

async fn listed(server: &FakeServer, path: &str) -> Vec<String> {
    names(&get(server, path).await.json())
}

#[tokio::test(start_paused = true)]
async fn a_stale_view_stands_still_and_then_jumps() {
    let server = with_config_maps(&["a"]);
    let revision = server.revision();
    let mut early = watch(&server, STREAMING).await;
    events(&mut early, 1).await;
    let guard = server.faults().install(StaleView::default().rule());
    assert_eq!(listed(&server, &any_state()).await, ["a"]);
    let newer = put(&server, "default", "b", "x");

    let stale = get(&server, &any_state()).await.json();
    assert_eq!(names(&stale), ["a"]);
    assert_eq!(stale["metadata"]["resourceVersion"], revision.to_string());
    let one = get(&server, &format!("{CONFIG_MAPS}/b?resourceVersion=0")).await;
    assert_eq!(one.code, StatusCode::NOT_FOUND);
    // Reads of the most recent state return it.
    assert_eq!(listed(&server, CONFIG_MAPS).await, ["a", "b"]);
    let one = get(&server, &format!("{CONFIG_MAPS}/b")).await;
    assert_eq!(one.code, StatusCode::OK);
    let path = format!("{CONFIG_MAPS}?resourceVersion={newer}");
    let (ahead, waited) = seconds(get(&server, &path)).await;
    assert_eq!((ahead.code, waited), (StatusCode::GATEWAY_TIMEOUT, 3));

    let mut late = watch(&server, "resourceVersion=0").await;
    assert_eq!(
        events(&mut late, 60).await,
        (vec!["ADDED a".into()], "open")
    );
    assert_eq!(events(&mut early, 60).await, (Vec::new(), "open"));
    drop(guard);
    assert_eq!(
        events(&mut early, 1).await,
        (vec!["ADDED b".into()], "open")
    );
    assert_eq!(events(&mut late, 1).await, (vec!["ADDED b".into()], "open"));
    assert_eq!(listed(&server, &any_state()).await, ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_stale_view_ends_in_time_and_affects_one_client() {
    let server = with_config_maps(&["a"]);
    let lasting = Duration::from_secs(10);
    let rule = StaleView::default().rule().lasting(lasting);
    let rule = rule.matching(Filter::any().client("stale"));
    let _guard = server.faults().install(rule);
    let client = [("user-agent", "stale/1")];
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion=0");
    let mut stale = open(&server, &path, &client).await.into_body();
    events(&mut stale, 1).await;
    put(&server, "default", "b", "x");
    assert_eq!(listed(&server, &any_state()).await, ["a", "b"]);
    assert_eq!(events(&mut stale, 8).await, (Vec::new(), "open"));
    assert_eq!(
        events(&mut stale, 2).await,
        (vec!["ADDED b".into()], "open")
    );
}

#[tokio::test(start_paused = true)]
async fn with_quorum_reads_of_the_most_recent_state_are_stale_too() {
    let server = with_config_maps(&["a"]);
    let guard = server.faults().install(
        StaleView {
            behind_revisions: 1,
            quorum: true,
        }
        .rule(),
    );
    assert_eq!(listed(&server, CONFIG_MAPS).await, [] as [&str; 0]);
    drop(guard);
    assert_eq!(listed(&server, CONFIG_MAPS).await, ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_lagging_replica_serves_a_past_state() {
    let server = with_config_maps(&["a"]);
    let rule = LaggingReplica {
        lag_ms: 5_000,
        quorum: false,
    }
    .rule();
    let _guard = server.faults().install(rule);
    tokio::time::advance(Duration::from_secs(10)).await;
    let mut body = watch(&server, "resourceVersion=0").await;
    assert_eq!(events(&mut body, 1).await.0, ["ADDED a"]);
    for name in ["b", "c"] {
        put(&server, "default", name, "x");
    }
    assert_eq!(listed(&server, &any_state()).await, ["a"]);
    assert_eq!(listed(&server, CONFIG_MAPS).await, ["a", "b", "c"]);
    assert_eq!(events(&mut body, 4).await, (Vec::new(), "open"));
    let both = vec!["ADDED b".to_owned(), "ADDED c".to_owned()];
    assert_eq!(events(&mut body, 2).await, (both, "open"));
    assert_eq!(listed(&server, &any_state()).await, ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn time_travel_leads_back_once() {
    let server = with_config_maps(&["a", "b"]);
    let _guard = server.faults().install(
        TimeTravel {
            behind_revisions: 1,
            quorum: false,
        }
        .rule()
        .times(2),
    );
    assert_eq!(listed(&server, &any_state()).await, ["a"]);
    let mut body = watch(&server, "resourceVersion=0").await;
    // The watch begins with the past state, and then replays the missed changes.
    assert_eq!(events(&mut body, 1).await.0, ["ADDED a", "ADDED b"]);
    assert_eq!(listed(&server, &any_state()).await, ["a", "b"]);
    assert_eq!(server.faults().fired()["time_travel"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_rolled_back_store_reuses_the_lost_revisions() {
    let server = with_config_maps(&["a"]);
    let kept = server.revision();
    let mut body = watch(&server, STREAMING).await;
    events(&mut body, 1).await;
    put(&server, "default", "a", "lost");
    let newest = put(&server, "default", "b", "lost");
    events(&mut body, 1).await;
    let guard = server
        .faults()
        .install(Rollback { revisions: 2 }.rule().times(1));

    let list = get(&server, CONFIG_MAPS).await.json();
    assert_eq!(names(&list), ["a"]);
    assert_eq!(list["items"][0]["data"]["app"], "x");
    assert_eq!(list["metadata"]["resourceVersion"], kept.to_string());
    assert_eq!(server.revision(), kept);
    assert_eq!(events(&mut body, 1).await, (Vec::new(), "ended"));
    drop(guard);

    // From a lost revision nothing comes until the store has come by it; from before the backup nothing can be had.
    let mut ahead = watch(&server, &format!("resourceVersion={newest}")).await;
    assert_eq!(put(&server, "default", "c", "x"), newest - 1);
    put(&server, "default", "d", "x");
    assert_eq!(events(&mut ahead, 1).await, (Vec::new(), "open"));
    put(&server, "default", "e", "x");
    assert_eq!(events(&mut ahead, 1).await.0, ["ADDED e"]);
    let mut old = watch(&server, &format!("resourceVersion={}", kept - 1)).await;
    assert_eq!(
        events(&mut old, 1).await,
        (vec!["ERROR 410".into()], "ended")
    );
    let history = server.history("", "v1", "configmaps", 0);
    assert!(
        history
            .iter()
            .all(|change| change.revision() <= server.revision())
    );

    // The objects of every cluster are never lost.
    server.roll_back(u64::MAX);
    assert_eq!(listed(&server, CONFIG_MAPS).await, [] as [&str; 0]);
    let namespace = get(&server, "/api/v1/namespaces/default").await;
    assert_eq!(namespace.code, StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn an_action_behind_the_api_precedes_the_request() {
    let server = with_config_maps(&["a", "b"]);
    let old = server.revision() - 1;
    let exact = format!("{CONFIG_MAPS}?resourceVersion={old}&resourceVersionMatch=Exact");
    let guard = server.faults().install(Fault::Compact.rule().times(1));
    assert_eq!(get(&server, &exact).await.code, StatusCode::GONE);
    drop(guard);
    let resumed = format!("resourceVersion={old}");
    assert_eq!(
        events(&mut watch(&server, &resumed).await, 1).await.0,
        ["ADDED b"]
    );
    let guard = server.faults().install(Fault::Expire.rule().times(1));
    assert_eq!(
        events(&mut watch(&server, &resumed).await, 1).await.0,
        ["ERROR 410"]
    );
    drop(guard);

    let mut body = watch(&server, STREAMING).await;
    events(&mut body, 1).await;
    let _guard = server.faults().install(Fault::Disconnect.rule().times(1));
    get(&server, CONFIG_MAPS).await;
    assert_eq!(events(&mut body, 1).await, (Vec::new(), "ended"));
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_answer_is_lost_has_taken_effect_or_has_not() {
    let create = async |server: &FakeServer, name: &str| {
        let object = json!({"metadata": {"name": name}, "data": {"app": "x"}});
        let request = Request::post(CONFIG_MAPS).body(Body::from(object.to_string()));
        server.router().oneshot(request.unwrap()).await.unwrap()
    };
    let server = with_config_maps(&[]);
    let lost = server
        .faults()
        .install(LostAnswer::default().rule().nth(2).times(1));
    assert_eq!(create(&server, "a").await.status(), StatusCode::CREATED);
    let answer = create(&server, "b").await;
    assert_eq!(
        answer.extensions().get(),
        Some(&SeveredConnection(ErrorKind::ConnectionReset))
    );
    assert_eq!(listed(&server, CONFIG_MAPS).await, ["a", "b"]);
    drop(lost);

    let _lost = server.faults().install(
        LostAnswer {
            form: LostAnswerForm::Timeout,
            applied: false,
        }
        .rule()
        .times(1),
    );
    assert_eq!(
        create(&server, "c").await.status(),
        StatusCode::GATEWAY_TIMEOUT
    );
    assert_eq!(listed(&server, CONFIG_MAPS).await, ["a", "b"]);
    let _exists = server
        .faults()
        .install(Fault::AlreadyExists.rule().times(1));
    assert_eq!(create(&server, "c").await.status(), StatusCode::CONFLICT);
    assert_eq!(listed(&server, CONFIG_MAPS).await, ["a", "b", "c"]);
}
