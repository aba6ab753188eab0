//! Coordinated leader election, as with the feature gate `CoordinatedLeaderElection`.

use std::time::Duration;

use fakeserver::FakeServer;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::support::Api;

const CANDIDATES: &str = "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const OLDEST: &str = "OldestEmulationVersion";

fn api() -> Api {
    let builder = FakeServer::builder().with_coordinated_leader_election(true);
    Api {
        server: builder.build(),
    }
}

/// The server's time, so many seconds after it has begun.
fn time(seconds: u64) -> String {
    format!(
        "2026-01-01T00:{:02}:{:02}.000000Z",
        seconds / 60,
        seconds % 60
    )
}

fn candidate(name: &str, emulation: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "leaseName": "it", "binaryVersion": "1.36.0", "emulationVersion": emulation,
            "strategy": OLDEST, "renewTime": time(0),
        },
    })
}

/// Lets the server do what it does at once.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

/// Returns the second of a time that the server has written.
fn second(time: &Value) -> &str {
    time.as_str().unwrap().split('.').next().unwrap()
}

async fn spec(api: &Api, path: &str) -> Value {
    settle().await;
    api.get(path).await.ok()["spec"].clone()
}

async fn lease(api: &Api) -> Value {
    spec(api, &format!("{LEASES}/it")).await
}

async fn renew(api: &Api, path: &str, seconds: u64) {
    let spec = json!({"renewTime": time(seconds)});
    api.merge(path, &json!({"spec": spec})).await.ok();
}

#[tokio::test(start_paused = true)]
async fn the_version_of_candidates_has_an_api_service() {
    let path = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.coordination.k8s.io";
    let service = api().get(path).await.ok();
    assert_eq!(service["spec"]["groupPriorityMinimum"], 16_500);
    assert_eq!(service["status"]["conditions"][0]["reason"], "Local");
    Api::new().get(path).await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn candidates_and_strategies_need_the_feature_gate() {
    let api = Api::new();
    assert_eq!(api.get(CANDIDATES).await.code, 404);
    let lease = json!({
        "metadata": {"name": "it"},
        "spec": {"holderIdentity": "a", "strategy": OLDEST, "preferredHolder": "b"},
    });
    let created = api.post(LEASES, &lease).await.created();
    assert_eq!(created["spec"], json!({"holderIdentity": "a"}));
    let api = self::api();
    let created = api.post(LEASES, &lease).await.created();
    assert_eq!(created["spec"], lease["spec"]);
    let group = api.get("/apis/coordination.k8s.io").await.ok();
    let versions = group["versions"].as_array().unwrap().iter();
    let versions: Vec<&str> = versions
        .map(|version| version["version"].as_str().unwrap())
        .collect();
    assert_eq!(versions, ["v1", "v1beta1"]);
    assert_eq!(group["preferredVersion"]["version"], "v1");
    let resources = api.get("/apis/coordination.k8s.io/v1beta1").await.ok();
    assert_eq!(resources["resources"][0]["kind"], "LeaseCandidate");
}

#[tokio::test(start_paused = true)]
async fn candidates_are_checked() {
    let api = api();
    for (change, message) in [
        (json!({"leaseName": ""}), "spec.leaseName: Required value"),
        (
            json!({"binaryVersion": ""}),
            "spec.binaryVersion: Required value",
        ),
        (
            json!({"binaryVersion": "1.36"}),
            "spec.binaryVersion: Invalid value: \"1.36\": must be a valid semantic version",
        ),
        (
            json!({"emulationVersion": "v1.36.0"}),
            "spec.emulationVersion: Invalid value: \"v1.36.0\": must be a valid semantic version",
        ),
        (
            json!({"emulationVersion": "1.37.0"}),
            "spec.binaryVersion: Invalid value: \"1.36.0\": must be greater than or equal to `emulationVersion`",
        ),
        (
            json!({"emulationVersion": null}),
            "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
        ),
        (json!({"strategy": null}), "spec.strategy: Required value"),
        (
            json!({"strategy": "Mine"}),
            "spec.strategy.strategy: Unsupported value: \"Mine\": supported values: \"OldestEmulationVersion\"",
        ),
    ] {
        let mut object = candidate("a", "1.35.0");
        for (field, value) in change.as_object().unwrap() {
            object["spec"][field] = value.clone();
        }
        let refusal = api.post(CANDIDATES, &object).await.refused(422);
        assert!(refusal.contains(message), "{change}: {refusal}");
    }
    let mut object = candidate("A_b", "1.35.0");
    object["spec"]["strategy"] = json!("example.com/mine");
    object["spec"]["emulationVersion"] = Value::Null;
    api.post(CANDIDATES, &object).await.created();
    let path = format!("{CANDIDATES}/A_b");
    let change = json!({"spec": {"leaseName": "other"}});
    let refusal = api.merge(&path, &change).await.refused(422);
    let immutable = "spec.leaseName: Invalid value: \"other\": field is immutable";
    assert!(refusal.contains(immutable), "{refusal}");
}

#[tokio::test(start_paused = true)]
async fn candidates_are_printed_and_described() {
    let api = api();
    api.post(CANDIDATES, &candidate("a", "1.35.0"))
        .await
        .created();
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let table = api
        .send("GET", CANDIDATES, &[("accept", table)], "")
        .await
        .ok();
    let cells = json!(["a", "it", "1.36.0", "1.35.0", "0s"]);
    assert_eq!(table["rows"][0]["cells"], cells);
    let document = "/openapi/v3/apis/coordination.k8s.io/v1beta1";
    let document = api.get(document).await.ok();
    let schemas = &document["components"]["schemas"];
    let required = &schemas["io.k8s.api.coordination.v1beta1.LeaseCandidateSpec"]["required"];
    assert_eq!(*required, json!(["leaseName", "binaryVersion", "strategy"]));
}

#[tokio::test(start_paused = true)]
async fn the_best_one_leads_and_a_better_one_is_preferred() {
    let api = api();
    api.post(CANDIDATES, &candidate("new", "1.36.0"))
        .await
        .created();
    let expected = json!({
        "holderIdentity": "new", "leaseDurationSeconds": 5, "renewTime": time(0), "strategy": OLDEST,
    });
    assert_eq!(lease(&api).await, expected);
    let created = api.get(&format!("{LEASES}/it")).await.ok();
    assert_eq!(
        created["metadata"]["managedFields"][0]["manager"],
        "kube-apiserver"
    );
    // It renews, and an older one comes.
    let renewed = json!({"spec": {"leaseDurationSeconds": 15}});
    api.merge(&format!("{LEASES}/it"), &renewed).await.ok();
    sleep(Duration::from_secs(10)).await;
    let mut old = candidate("old", "1.35.0");
    old["spec"]["renewTime"] = json!(time(10));
    api.post(CANDIDATES, &old).await.created();
    settle().await;
    let path = format!("{CANDIDATES}/new");
    assert_eq!(
        second(&spec(&api, &path).await["pingTime"]),
        second(&json!(time(10)))
    );
    assert_eq!(lease(&api).await["preferredHolder"], Value::Null);
    renew(&api, &path, 11).await;
    assert_eq!(lease(&api).await["preferredHolder"], "old");
    assert_eq!(lease(&api).await["holderIdentity"], "new");
    // Once it gives up, the older one leads.
    let released = json!({"spec": {"holderIdentity": "", "leaseDurationSeconds": 1}});
    api.merge(&format!("{LEASES}/it"), &released).await.ok();
    let last = lease(&api).await;
    assert_eq!(last["holderIdentity"], "old");
    assert_eq!(last["leaseDurationSeconds"], 5);
    assert_eq!(second(&last["renewTime"]), second(&json!(time(10))));
    assert_eq!(last["preferredHolder"], Value::Null);
}

#[tokio::test(start_paused = true)]
async fn one_that_does_not_answer_is_passed_over_and_deleted_in_the_end() {
    let api = api();
    api.post(CANDIDATES, &candidate("dead", "1.35.0"))
        .await
        .created();
    api.post(CANDIDATES, &candidate("alive", "1.36.0"))
        .await
        .created();
    assert_eq!(lease(&api).await["holderIdentity"], "dead");
    // The lease runs out at 5 s. Whoever is there is asked then, and has 5 s to answer.
    let path = format!("{CANDIDATES}/alive");
    sleep(Duration::from_secs(10)).await;
    let pinged = spec(&api, &path).await["pingTime"].clone();
    assert!(
        ["2026-01-01T00:00:05", "2026-01-01T00:00:10"].contains(&second(&pinged)),
        "{pinged}"
    );
    let mut holders = Vec::new();
    for seconds in [10, 12, 14, 16, 18, 20] {
        renew(&api, &path, seconds).await;
        holders.push(lease(&api).await["holderIdentity"].clone());
        sleep(Duration::from_secs(2)).await;
    }
    assert_eq!(holders[..3], ["dead", "dead", "dead"]);
    assert_eq!(holders[5], "alive");
    // Half an hour after it was there.
    sleep(Duration::from_secs(30 * 60 - 30)).await;
    settle().await;
    api.get(&format!("{CANDIDATES}/dead")).await.ok();
    sleep(Duration::from_secs(10)).await;
    settle().await;
    assert_eq!(api.get(&format!("{CANDIDATES}/dead")).await.code, 404);
    api.get(&path).await.ok();
}

#[tokio::test(start_paused = true)]
async fn leases_without_candidates_are_left_alone() {
    let api = api();
    let stale = json!({
        "metadata": {"name": "it"},
        "spec": {"holderIdentity": "a", "leaseDurationSeconds": 1, "renewTime": time(0)},
    });
    api.post(LEASES, &stale).await.created();
    sleep(Duration::from_mins(1)).await;
    assert_eq!(lease(&api).await, stale["spec"]);
}

#[tokio::test(start_paused = true)]
async fn candidates_of_another_namespace_have_another_lease() {
    let api = api();
    let elsewhere = CANDIDATES.replace("default", "kube-system");
    api.post(&elsewhere, &candidate("a", "1.35.0"))
        .await
        .created();
    api.post(CANDIDATES, &candidate("b", "1.36.0"))
        .await
        .created();
    assert_eq!(lease(&api).await["holderIdentity"], "b");
}
