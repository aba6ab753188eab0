//! Servers over a real etcd.

mod etcd;
mod support;

use std::time::Duration;

use fakeserver_etcd_log::EtcdOptions;
use serde_json::json;
use tokio::{task::yield_now, time::timeout};

use self::{
    etcd::Etcd,
    support::{Api, config_map, version},
};

/// The limit of waiting for what should come at once.
const PATIENCE: Duration = Duration::from_mins(1);
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test(flavor = "multi_thread")]
async fn a_write_to_one_server_is_read_from_another_at_once() {
    let Some(etcd) = Etcd::start().await else {
        return;
    };
    let (one, other) = (Api::of(&etcd).await, Api::of(&etcd).await);
    for number in 0..20 {
        let path = format!("{CONFIG_MAPS}/c{number}");
        let made = one
            .post(CONFIG_MAPS, &config_map(&format!("c{number}")))
            .await;
        assert_eq!(made.code, 201, "{}", made.body);
        let read = other.get(&path).await;
        assert_eq!((read.code, &read.body), (200, &made.body));
        let mut changed = read.body;
        changed["data"] = json!({"number": number.to_string()});
        let changed = other.put(&path, &changed).await;
        assert_eq!(changed.code, 200, "{}", changed.body);
        assert!(version(&changed.body) > version(&made.body));
        let list = one.get(CONFIG_MAPS).await;
        let items = list.body["items"].as_array().unwrap();
        assert!(
            items
                .iter()
                .any(|item| version(item) == version(&changed.body))
        );
        assert_eq!(other.delete(&path).await.code, 200);
        assert_eq!(one.get(&path).await.code, 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_writers_of_a_version_are_in_conflict() {
    let Some(etcd) = Etcd::start().await else {
        return;
    };
    let (one, other) = (Api::of(&etcd).await, Api::of(&etcd).await);
    for number in 0..20 {
        let object = config_map(&format!("c{number}"));
        let (first, second) = tokio::join!(
            one.post(CONFIG_MAPS, &object),
            other.post(CONFIG_MAPS, &object)
        );
        let mut codes = [first.code, second.code];
        codes.sort_unstable();
        assert_eq!(codes, [201, 409]);
        let made = if first.code == 201 {
            first.body
        } else {
            second.body
        };
        let path = format!("{CONFIG_MAPS}/c{number}");
        let mut changes = [made.clone(), made];
        changes[0]["data"] = json!({"by": "one"});
        changes[1]["data"] = json!({"by": "other"});
        let (first, second) =
            tokio::join!(one.put(&path, &changes[0]), other.put(&path, &changes[1]));
        let mut codes = [first.code, second.code];
        codes.sort_unstable();
        assert_eq!(codes, [200, 409], "{} {}", first.body, second.body);
        // Patches are of the latest version, whichever that is.
        let (left, right) = (json!({"data": {"l": "1"}}), json!({"data": {"r": "1"}}));
        let (first, second) = tokio::join!(one.merge(&path, &left), other.merge(&path, &right));
        assert_eq!((first.code, second.code), (200, 200));
        let data = &one.get(&path).await.body["data"];
        assert_eq!((&data["l"], &data["r"]), (&json!("1"), &json!("1")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn watchers_of_every_server_see_every_revision_in_order_also_if_etcd_is_killed() {
    let Some(mut etcd) = Etcd::start().await else {
        return;
    };
    let (one, other) = (Api::of(&etcd).await, Api::of(&etcd).await);
    let from = version(&one.get(CONFIG_MAPS).await.body);
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={from}");
    let (mut seen_by_one, mut seen_by_other) = (one.watch(&path).await, other.watch(&path).await);
    let mut written = Vec::new();
    for round in 0..3 {
        for number in 0..20 {
            let object = config_map(&format!("r{round}-{number}"));
            let server = if number % 2 == 0 { &one } else { &other };
            let made = server.post(CONFIG_MAPS, &object).await;
            assert_eq!(made.code, 201, "{}", made.body);
            written.push(version(&made.body));
        }
        etcd.kill();
        // What is in memory is still read, but no longer proved recent.
        let any = one.get(&format!("{CONFIG_MAPS}?resourceVersion=0")).await;
        assert_eq!(any.code, 200);
        assert_eq!(one.get(CONFIG_MAPS).await.code, 500);
        let refused = one.post(CONFIG_MAPS, &config_map("lost")).await;
        assert_eq!(refused.code, 500, "{}", refused.body);
        etcd.restart().await;
        // Its first answers may be that it has no leader yet.
        let back = async {
            for server in [&one, &other] {
                while server.get(CONFIG_MAPS).await.code != 200 {
                    yield_now().await;
                }
            }
        };
        timeout(PATIENCE, back).await.unwrap();
    }
    written.sort_unstable();
    assert_eq!(seen_by_one.versions(written.len()).await, written);
    assert_eq!(seen_by_other.versions(written.len()).await, written);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_compaction_of_one_server_is_one_of_all() {
    let Some(etcd) = Etcd::start().await else {
        return;
    };
    let short =
        EtcdOptions::new([etcd.url()]).with_compaction_interval(Some(Duration::from_secs(1)));
    let never = EtcdOptions::new([etcd.url()]).with_compaction_interval(None);
    let (_compacting, other) = (Api::with(short).await, Api::with(never).await);
    let made = other.post(CONFIG_MAPS, &config_map("c")).await;
    let then = version(&made.body) - 1;
    let list = format!("{CONFIG_MAPS}?resourceVersion={then}&resourceVersionMatch=Exact");
    assert_eq!(other.get(&list).await.code, 200);
    let compacted = async {
        while other.get(&list).await.code != 410 {
            yield_now().await;
        }
    };
    timeout(PATIENCE, compacted).await.unwrap();
    let watch = format!("{CONFIG_MAPS}?watch=true&resourceVersion={then}");
    let event = other.watch(&watch).await.next().await;
    assert_eq!(
        (&event["type"], &event["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_there_for_the_next_server() {
    let Some(etcd) = Etcd::start().await else {
        return;
    };
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    let first = Api::of(&etcd).await;
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    });
    assert_eq!(first.post(definitions, &definition).await.code, 201);
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "size": 3});
    let made = first.post(widgets, &widget).await;
    assert_eq!(made.code, 201, "{}", made.body);
    let namespaces = first.get("/api/v1/namespaces").await.body;
    first.server.shutdown().await;
    drop(first);
    let next = Api::of(&etcd).await;
    assert_eq!(next.get(&format!("{widgets}/w")).await.body, made.body);
    // Initial objects are created once.
    assert_eq!(
        next.get("/api/v1/namespaces").await.body["items"],
        namespaces["items"]
    );
    // Another prefix is another state.
    let options = EtcdOptions::new([etcd.url()]).with_prefix("/elsewhere");
    assert_eq!(Api::with(options).await.get(widgets).await.code, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn controllers_of_one_server_work_for_all() {
    let Some(etcd) = Etcd::start().await else {
        return;
    };
    let (one, other) = (Api::of(&etcd).await, Api::of(&etcd).await);
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    let holder = async |api: &Api| {
        let lease = api.get(&format!("{leases}/fakeserver-controllers")).await;
        lease.body["spec"]["holderIdentity"].clone()
    };
    let elected = async {
        while holder(&one).await.is_null() {
            yield_now().await;
        }
    };
    timeout(PATIENCE, elected).await.unwrap();
    let leader = holder(&one).await;
    for (number, api) in [&one, &other].into_iter().enumerate() {
        let name = format!("n{number}");
        let path = format!("/api/v1/namespaces/{name}");
        let namespace = json!({"metadata": {"name": name}});
        assert_eq!(api.post("/api/v1/namespaces", &namespace).await.code, 201);
        assert_eq!(
            api.post(&format!("{path}/configmaps"), &config_map("c"))
                .await
                .code,
            201
        );
        assert_eq!(api.delete(&path).await.code, 200);
        let gone = async {
            while api.get(&path).await.code != 404 {
                yield_now().await;
            }
        };
        timeout(PATIENCE, gone).await.unwrap();
    }
    assert_eq!(holder(&other).await, leader);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_etcd_that_does_not_answer_is_an_error_that_names_it() {
    let options = EtcdOptions::new(["http://127.0.0.1:1"]);
    let error = fakeserver_server::FakeServer::builder()
        .with_etcd(options)
        .try_build();
    let error = fakeserver_server::server::with_sources(&error.unwrap_err());
    assert!(error.contains("http://127.0.0.1:1"), "{error}");
    let options = EtcdOptions::new(["localhost"]);
    let error = fakeserver_server::FakeServer::builder()
        .with_etcd(options)
        .try_build();
    let error = fakeserver_server::server::with_sources(&error.unwrap_err());
    assert!(error.contains("a URL such as"), "{error}");
}
