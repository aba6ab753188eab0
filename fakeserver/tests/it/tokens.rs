//! Tokens of service accounts: their requests, their users, their reviews and their end.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver::{Authorization, Controllers};
use serde_json::{Value, json};
use tokio::time::advance;

use crate::{
    access::{ADMIN, AUTHENTICATION, builder, get, post, with_rules},
    support::{Api, PODS, pod},
};

/// Returns a secret for the token of an account.
fn token_secret(name: &str, account: &str) -> Value {
    json!({
        "metadata": {
            "name": name,
            "annotations": {"kubernetes.io/service-account.name": account},
        },
        "type": "kubernetes.io/service-account-token",
    })
}

#[tokio::test(start_paused = true)]
async fn a_secret_gets_a_token_that_ends_with_it() {
    let controllers = Controllers::default().with_service_accounts(true);
    let builder = builder().with_authorization(Authorization::Rbac);
    let api = Api {
        server: builder.with_controllers(controllers).build(),
    };
    let secrets = "/api/v1/namespaces/default/secrets";
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let robot = json!({"metadata": {"name": "robot"}});
    let robot = post(&api, ADMIN, accounts, &robot).await.created();
    for name in ["first", "second"] {
        let secret = token_secret(name, "robot");
        post(&api, ADMIN, secrets, &secret).await.created();
    }
    let orphan = token_secret("orphan", "nobody");
    post(&api, ADMIN, secrets, &orphan).await.created();
    api.settle().await;
    let orphan = format!("{secrets}/orphan");
    get(&api, ADMIN, &orphan).await.refused(404);
    let path = format!("{secrets}/first");
    let secret = get(&api, ADMIN, &path).await.ok();
    let uid = &secret["metadata"]["annotations"]["kubernetes.io/service-account.uid"];
    assert_eq!(*uid, robot["metadata"]["uid"]);
    let decoded = |secret: &Value, entry: &str| {
        let text = secret["data"][entry].as_str().unwrap();
        String::from_utf8(STANDARD.decode(text).unwrap()).unwrap()
    };
    assert_eq!(decoded(&secret, "namespace"), "default");
    let second = get(&api, ADMIN, &format!("{secrets}/second")).await.ok();
    let bearers = [&secret, &second].map(|secret| format!("Bearer {}", decoded(secret, "token")));
    let who = format!("{AUTHENTICATION}/selfsubjectreviews");
    for bearer in &bearers {
        let robot = ("authorization", bearer.as_str());
        let me = post(&api, robot, &who, &json!({})).await.created();
        let user = &me["status"]["userInfo"];
        assert_eq!(user["username"], "system:serviceaccount:default:robot");
        get(&api, robot, PODS).await.refused(403);
    }
    let reviews = format!("{AUTHENTICATION}/tokenreviews");
    let review = json!({"spec": {"token": decoded(&secret, "token")}});
    let review = post(&api, ADMIN, &reviews, &review).await.created();
    assert_eq!(review["status"]["authenticated"], true);
    // A controller marks tokens that were not used for long.
    let label = |since: Value| json!({"metadata": {"labels": {"kubernetes.io/legacy-token-invalid-since": since}}});
    let merge = [ADMIN, ("content-type", "application/merge-patch+json")];
    let marked = label(json!("2026-01-01")).to_string();
    api.send("PATCH", &path, &merge, marked).await.ok();
    let why = "the token in secret default/first for service account default/robot has been marked invalid. Use tokens from \
               the TokenRequest API or manually created secret-based tokens, or remove the \
               'kubernetes.io/legacy-token-invalid-since' label from the secret to temporarily allow use of this token";
    assert_refused(&api, &decoded(&secret, "token"), why).await;
    let unmarked = label(Value::Null).to_string();
    api.send("PATCH", &path, &merge, unmarked).await.ok();
    get(&api, ("authorization", &bearers[0]), "/version")
        .await
        .ok();
    // The token ends with its secret, and the secret with its account.
    api.send("DELETE", &path, &[ADMIN], "").await.ok();
    let [first, second] = bearers;
    get(&api, ("authorization", &first), "/version")
        .await
        .refused(401);
    get(&api, ("authorization", &second), "/version").await.ok();
    let account = format!("{accounts}/robot");
    api.send("DELETE", &account, &[ADMIN], "").await.ok();
    get(&api, ("authorization", &second), "/version")
        .await
        .refused(401);
    api.settle().await;
    let path = format!("{secrets}/second");
    get(&api, ADMIN, &path).await.refused(404);
}

#[tokio::test]
async fn a_service_accounts_token_is_its_account() {
    let api = with_rules();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"metadata": {"name": "robot"}});
    let account = post(&api, ADMIN, accounts, &account).await.created();
    let path = format!("{accounts}/robot/token");
    let issued = post(&api, ADMIN, &path, &json!({"spec": {}}))
        .await
        .created();
    let token = issued["status"]["token"].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {token}");
    let robot = ("authorization", bearer.as_str());
    let who = format!("{AUTHENTICATION}/selfsubjectreviews");
    let me = post(&api, robot, &who, &json!({})).await.created();
    let user = &me["status"]["userInfo"];
    assert_eq!(user["username"], "system:serviceaccount:default:robot");
    assert_eq!(user["uid"], account["metadata"]["uid"]);
    assert_eq!(
        user["groups"],
        json!([
            "system:serviceaccounts",
            "system:serviceaccounts:default",
            "system:authenticated"
        ])
    );
    get(&api, robot, PODS).await.refused(403);

    let reviews = format!("{AUTHENTICATION}/tokenreviews");
    let review = json!({"spec": {"token": token}});
    let review = post(&api, ADMIN, &reviews, &review).await.created();
    assert_eq!(review["status"]["authenticated"], true);
    assert_eq!(review["status"]["user"], *user);
    assert_eq!(
        review["status"]["audiences"],
        json!(["https://kubernetes.default.svc.cluster.local"])
    );
    let other = json!({"spec": {"token": token, "audiences": ["vault"]}});
    let other = post(&api, ADMIN, &reviews, &other).await.created();
    assert_eq!(other["status"].get("authenticated"), None);
    assert!(
        other["status"]["error"]
            .as_str()
            .unwrap()
            .contains("audience")
    );

    let path = format!("{accounts}/robot");
    api.send("DELETE", &path, &[ADMIN], "").await.ok();
    get(&api, robot, "/version").await.refused(401);
    let review = json!({"spec": {"token": "x"}});
    let review = post(&api, ADMIN, &reviews, &review).await.created();
    assert_eq!(
        review["status"],
        json!({"user": {}, "error": "invalid bearer token"})
    );
    let empty = post(&api, ADMIN, &reviews, &json!({"spec": {}})).await;
    assert_eq!(
        empty.refused(400),
        "token is required for TokenReview in authentication"
    );
}

/// Creates the service account `robot`, and returns a token that is bound to `object`, or to none.
async fn bound_token(api: &Api, kind: &str, object: &Value) -> String {
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let mut spec = json!({});
    if !kind.is_empty() {
        spec["boundObjectRef"] = json!({
            "apiVersion": "v1",
            "kind": kind,
            "name": object["metadata"]["name"],
            "uid": object["metadata"]["uid"],
        });
    }
    let path = format!("{accounts}/robot/token");
    let issued = post(api, ADMIN, &path, &json!({"spec": spec})).await;
    let issued = issued.created();
    issued["status"]["token"].as_str().unwrap().to_owned()
}

/// Returns the status of a review of `token`.
async fn reviewed(api: &Api, token: &str) -> Value {
    let reviews = format!("{AUTHENTICATION}/tokenreviews");
    let review = json!({"spec": {"token": token}});
    let mut review = post(api, ADMIN, &reviews, &review).await.created();
    review["status"].take()
}

/// Asserts that a token is refused, and that a review of it says why.
async fn assert_refused(api: &Api, token: &str, why: &str) {
    let bearer = format!("Bearer {token}");
    get(api, ("authorization", &bearer), "/version")
        .await
        .refused(401);
    let error = format!("[invalid bearer token, {why}]");
    assert_eq!(
        reviewed(api, token).await,
        json!({"user": {}, "error": error})
    );
}

#[tokio::test]
async fn a_bound_token_ends_with_its_object() {
    let api = with_rules();
    let robot = json!({"metadata": {"name": "robot"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    post(&api, ADMIN, accounts, &robot).await.created();
    let mut p = pod("x", "");
    p["spec"]["serviceAccountName"] = json!("robot");
    let bare = json!({"metadata": {"name": "x"}});
    for (kind, path, object) in [
        ("Pod", PODS, &p),
        ("Secret", "/api/v1/namespaces/default/secrets", &bare),
        ("Node", "/api/v1/nodes", &bare),
    ] {
        let made = post(&api, ADMIN, path, object).await.created();
        let uid = made["metadata"]["uid"].as_str().unwrap();
        let token = bound_token(&api, kind, &made).await;
        let status = reviewed(&api, &token).await;
        assert_eq!(status["authenticated"], true);
        let word = kind.to_lowercase();
        let extra = &status["user"]["extra"];
        let values = ["name", "uid"]
            .map(|field| &extra[format!("authentication.kubernetes.io/{word}-{field}")]);
        if kind == "Secret" {
            assert_eq!(values, [&Value::Null, &Value::Null]);
        } else {
            assert_eq!(values, [&json!(["x"]), &json!([uid])]);
        }
        let bearer = format!("Bearer {token}");
        let own = ("authorization", bearer.as_str());
        get(&api, own, "/version").await.ok();

        let one = format!("{path}/x");
        api.send("DELETE", &one, &[ADMIN], "").await.ok();
        let gone = "service account token has been invalidated";
        assert_refused(&api, &token, gone).await;
        let again = post(&api, ADMIN, path, object).await.created();
        let other = again["metadata"]["uid"].as_str().unwrap();
        let why =
            format!("{word} UID ({other}) does not match service account {word} ref claim ({uid})");
        assert_refused(&api, &token, &why).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_ends_with_its_account_and_its_time() {
    let api = with_rules();
    let robot = json!({"metadata": {"name": "robot"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let made = post(&api, ADMIN, accounts, &robot).await.created();
    let token = bound_token(&api, "", &Value::Null).await;
    let path = format!("{accounts}/robot");
    api.send("DELETE", &path, &[ADMIN], "").await.ok();
    assert_refused(&api, &token, "serviceaccounts \"robot\" not found").await;
    let again = post(&api, ADMIN, accounts, &robot).await.created();
    let [uid, other] = [&made, &again].map(|made| made["metadata"]["uid"].as_str().unwrap());
    let why = format!("service account UID ({other}) does not match claim ({uid})");
    assert_refused(&api, &token, &why).await;

    let token = bound_token(&api, "", &Value::Null).await;
    // An hour, and a minute of leeway.
    advance(Duration::from_mins(61)).await;
    assert_eq!(reviewed(&api, &token).await["authenticated"], true);
    advance(Duration::from_secs(1)).await;
    assert_refused(&api, &token, "service account token has expired").await;
}

#[tokio::test]
async fn a_token_is_bound_to_what_is_there() {
    let api = with_rules();
    let robot = json!({"metadata": {"name": "robot"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    post(&api, ADMIN, accounts, &robot).await.created();
    post(&api, ADMIN, PODS, &pod("p", "")).await.created();
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret = json!({"metadata": {"name": "s"}});
    post(&api, ADMIN, secrets, &secret).await.created();
    let path = format!("{accounts}/robot/token");
    for (version, kind, name, uid, code, message) in [
        ("v1", "Pod", "x", "", 404, "pods \"x\" not found"),
        ("v1", "Secret", "x", "", 404, "secrets \"x\" not found"),
        ("v1", "Node", "x", "", 404, "nodes \"x\" not found"),
        (
            "v1",
            "Pod",
            "p",
            "",
            400,
            "cannot bind token for serviceaccount \"robot\" to pod running with different serviceaccount name.",
        ),
        (
            "v1",
            "ConfigMap",
            "x",
            "",
            400,
            "cannot bind token to object of type /v1, Kind=ConfigMap",
        ),
        (
            "apps/v1",
            "Deployment",
            "x",
            "",
            400,
            "cannot bind token to object of type apps/v1, Kind=Deployment",
        ),
        (
            "v1",
            "Secret",
            "s",
            "other",
            409,
            "Operation cannot be fulfilled on Secret \"s\": the UID in the bound object reference (other) does not \
             match the UID in record. The object might have been deleted and then recreated",
        ),
    ] {
        let mut reference = json!({"apiVersion": version, "kind": kind, "name": name});
        if !uid.is_empty() {
            reference["uid"] = json!(uid);
        }
        let request = json!({"spec": {"boundObjectRef": reference}});
        let answer = post(&api, ADMIN, &path, &request).await;
        assert_eq!(answer.refused(code), message);
    }
    let request = json!({"metadata": {"uid": "other"}, "spec": {}});
    let message = post(&api, ADMIN, &path, &request).await.refused(409);
    assert!(
        message.contains(
            "the UID in the token request (other) does not match the UID of the service account"
        ),
        "{message}"
    );
}
