//! Faults installed, listed and removed over HTTP, as a client in any language does it.

use axum::body::Body;
use fakeserver::{FakeServer, faults::Fault};
use serde_json::{Value, json};

use crate::support::{Api, CONFIG_MAPS};

const FAULTS: &str = "/_control/faults";

async fn installed(api: &Api) -> Vec<Value> {
    let list = api.get(FAULTS).await.ok();
    list["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_fault_is_in_force_from_its_post_to_its_delete() {
    let api = Api::new();
    let spec = json!({
        "fault": "throttle", "retryAfterSeconds": 5,
        "match": {"client": "curious", "verb": "list", "resource": "configmaps"},
        "when": {"nth": 2, "times": 1},
    });
    let created = api.post(FAULTS, &spec).await.created();
    let id = created["items"][0]["id"].as_u64().unwrap();
    assert_eq!(created["items"][0]["spec"], spec);
    assert_eq!(created["items"][0]["fired"], 0);

    let curious = [("user-agent", "curious/1")];
    let list = || api.send("GET", CONFIG_MAPS, &curious, Body::empty());
    list().await.ok();
    let throttled = list().await;
    assert_eq!(throttled.code, 429);
    assert_eq!(throttled.headers["retry-after"], "5");
    list().await.ok();
    api.get(CONFIG_MAPS).await.ok();

    let fault = api.get(&format!("{FAULTS}/{id}")).await.ok();
    assert_eq!(fault, installed(&api).await[0]);
    assert_eq!(fault["fired"], 1);
    assert_eq!(fault["lastRevision"], api.server.revision());

    let gone = api.delete(&format!("{FAULTS}/{id}")).await;
    assert_eq!(gone.code, 204);
    assert_eq!(installed(&api).await, [] as [Value; 0]);
    let again = api.delete(&format!("{FAULTS}/{id}")).await;
    assert_eq!(again.refused(404), format!("faults \"{id}\" not found"));
    api.get(&format!("{FAULTS}/{id}")).await.refused(404);
}

#[tokio::test]
async fn several_are_installed_together_or_not_at_all() {
    let api = Api::new();
    let hang = json!({"fault": "hang", "match": {"client": "other"}});
    let wrong = json!([hang, {"fault": "server_error", "code": 200}]);
    let refused = api.post(FAULTS, &wrong).await;
    assert_eq!(refused.json()["details"]["causes"][0]["field"], "[1].code");
    assert_eq!(refused.refused(400), "[1].code: 200 is not from 400 to 599");
    assert_eq!(installed(&api).await, [] as [Value; 0]);

    let both = json!([hang, {"fault": "conflict"}]);
    let created = api.post(FAULTS, &both).await.created();
    assert_eq!(created["items"].as_array().unwrap().len(), 2);
    // What the owner of a guard has installed is not seen here, and stays.
    let own = api.server.faults().install(Fault::Unauthorized.rule());
    assert_eq!(installed(&api).await.len(), 2);
    assert_eq!(api.delete(FAULTS).await.code, 204);
    assert_eq!(installed(&api).await.len(), 0);
    api.get(CONFIG_MAPS).await.refused(401);
    drop(own);
    api.get(CONFIG_MAPS).await.ok();
}

#[tokio::test]
async fn an_invalid_fault_is_rejected_by_its_field() {
    let api = Api::new();
    let check = async |body: &str, field: &str, message: &str| {
        let refused = api.send("POST", FAULTS, &[], body.to_owned()).await;
        let cause = &refused.json()["details"]["causes"][0];
        assert_eq!(cause["field"].as_str().unwrap_or_default(), field);
        assert!(refused.text.contains(message), "{refused:?}");
        refused.refused(400);
    };
    check("{", "", "no JSON").await;
    check("{}", "fault", "fault: it has to be named").await;
    check(r#"{"fault":"flood"}"#, "fault", "there is no fault").await;
    check(
        r#"{"fault":"hang","when":{"probability":2}}"#,
        "when.probability",
        "when.probability: 2 is not between 0 and 1",
    )
    .await;
    assert_eq!(installed(&api).await, [] as [Value; 0]);
    let put = api.put(FAULTS, &json!({"fault": "hang"})).await;
    put.refused(405);
}

#[tokio::test]
async fn a_fault_for_a_resource_that_is_not_served_is_warned_of() {
    let api = Api::new();
    let warned = async |filter: Value| {
        let spec = json!({"fault": "conflict", "match": filter});
        let created = api.post(FAULTS, &spec).await;
        assert_eq!(created.code, 201, "{created:?}");
        let warnings = created.headers.get_all("warning").iter();
        let warnings: Vec<_> = warnings
            .map(|value| value.to_str().unwrap().to_owned())
            .collect();
        warnings.join("; ")
    };
    for filter in [
        json!({"resource": "configmaps"}),
        json!({"resource": "deployments", "group": "apps"}),
        json!({"resource": ""}),
        json!({"namespace": "later"}),
    ] {
        assert_eq!(warned(filter).await, "");
    }
    assert_eq!(
        warned(json!({"resource": "configmap"})).await,
        "299 - \"conflict: match.resource: no resource \\\"configmap\\\" is served now; did you mean \\\"configmaps\\\"?\""
    );
    let elsewhere = warned(json!({"resource": "deployments", "group": ""})).await;
    assert!(
        elsewhere.ends_with("it is of the group \\\"apps\\\"\""),
        "{elsewhere}"
    );
    let later = warned(json!({"resource": "greetings"})).await;
    assert!(
        later.ends_with("it is for a resource that is defined later, or never fires\""),
        "{later}"
    );
    for (resource, advice) in [
        ("ConfigMap", "lower-case letters"),
        ("pods/status", "`subresource`"),
        ("deployments.apps", "`group`"),
        ("*", "without `resource`"),
    ] {
        let spec = json!({"fault": "conflict", "match": {"resource": resource}});
        let refused = api.post(FAULTS, &spec).await;
        assert_eq!(
            refused.json()["details"]["causes"][0]["field"],
            "match.resource"
        );
        assert!(refused.refused(400).contains(advice), "{resource}");
    }
}

#[tokio::test]
async fn there_is_a_limit_to_how_many_are_in_force() {
    let api = Api::new();
    let many: Vec<Value> = (0..256).map(|_| json!({"fault": "conflict"})).collect();
    api.post(FAULTS, &json!(many)).await.created();
    let refused = api.post(FAULTS, &json!({"fault": "conflict"})).await;
    assert_eq!(
        refused.refused(409),
        "at most 256 faults can be in force; there is room for 0 more"
    );
    assert_eq!(installed(&api).await.len(), 256);
}

#[tokio::test]
async fn the_catalogue_is_served() {
    let api = Api::new();
    let catalogue = api.get(&format!("{FAULTS}/catalogue")).await.ok();
    assert_eq!(catalogue.as_array().unwrap().len(), Fault::all().count());
    assert_eq!(catalogue[0]["fault"], "clean_end");
    assert_eq!(catalogue[0]["canBeHeld"], true);
}

#[tokio::test]
async fn faults_outlive_a_reset() {
    let api = Api {
        server: FakeServer::builder().build(),
    };
    api.post(FAULTS, &json!({"fault": "unauthorized"}))
        .await
        .created();
    api.server.reset();
    assert_eq!(installed(&api).await.len(), 1);
    api.get(CONFIG_MAPS).await.refused(401);
}

#[tokio::test]
async fn one_group_may_be_unknown_among_all() {
    const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let api = Api::new();
    let spec = json!({"fault": "discovery_unavailable", "match": {"group": "apps"}});
    api.post(FAULTS, &spec).await.created();
    let away = api.get("/apis/apps/v1").await;
    assert_eq!(
        (away.code.as_u16(), &*away.text),
        (503, "service unavailable\n")
    );
    api.get("/apis/batch/v1").await.ok();
    api.get("/api/v1").await.ok();
    // Only what there is cannot be told; what is there is served.
    api.get(crate::support::DEPLOYMENTS).await.ok();

    let accept = [("accept", AGGREGATED)];
    let all = api.send("GET", "/apis", &accept, Body::empty()).await.ok();
    for group in all["items"].as_array().unwrap() {
        let version = &group["versions"][0];
        let is_away = group["metadata"]["name"] == "apps";
        assert_eq!(version["freshness"] == "Stale", is_away, "{group}");
        assert_eq!(version["resources"] == json!([]), is_away, "{group}");
    }
    api.delete(FAULTS).await;
    api.get("/apis/apps/v1").await.ok();
    let all = api.send("GET", "/apis", &accept, Body::empty()).await;
    assert!(!all.text.contains("Stale"));

    let spec = json!({"fault": "unauthorized", "match": {"verb": "discover"}});
    api.post(FAULTS, &spec).await.created();
    api.get("/apis").await.refused(401);
    api.get(CONFIG_MAPS).await.ok();
}
