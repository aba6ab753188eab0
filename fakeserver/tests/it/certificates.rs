//! Certificate signing requests, from their creation to their end.

use std::time::Duration;

use axum::body::Body;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver::{Controllers, FakeServer, FakeServerBuilder, UserInfo};
use http::Request;
use http_body_util::BodyExt;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PublicKeyData};
use serde_json::{Value, json};
use tokio::time::{advance, sleep};
use tower::ServiceExt;
use x509_parser::{parse_x509_certificate, pem::parse_x509_pem};

use crate::{
    support::Api,
    tls::{TlsServer, showing},
};

const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const CLIENT: &str = "kubernetes.io/kube-apiserver-client";
const KUBELET_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";

fn builder() -> FakeServerBuilder {
    FakeServer::builder().with_controllers(Controllers::default().with_certificates(true))
}

/// A request of `name` in the group `group`, and the key that signed it.
fn signed_request(name: &str, group: &str) -> (String, KeyPair) {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    let subject = &mut params.distinguished_name;
    subject.push(DnType::OrganizationName, group);
    subject.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    let pem = params.serialize_request(&key).unwrap().pem().unwrap();
    (STANDARD.encode(pem), key)
}

fn object(name: &str, signer: &str, request: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {
        "request": request, "signerName": signer, "expirationSeconds": 3600,
        "usages": ["digital signature", "client auth"],
    }})
}

/// Sends a request of `user`, and returns the answer of the server.
async fn ask(
    server: &FakeServer,
    user: &UserInfo,
    method: &str,
    path: &str,
    body: &Value,
) -> Value {
    let request = Request::builder().method(method).uri(path);
    let request = request.body(Body::from(body.to_string())).unwrap();
    let response = server
        .router_as(user.clone())
        .oneshot(request)
        .await
        .unwrap();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap()
}

fn approved(mut object: Value) -> Value {
    let condition = json!({"type": "Approved", "status": "True", "reason": "Test", "message": ""});
    object["status"]["conditions"] = json!([condition]);
    object
}

fn certificate(object: &Value) -> Option<String> {
    let encoded = object["status"]["certificate"].as_str()?;
    Some(String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap())
}

#[tokio::test]
async fn a_signed_certificate_authenticates_its_subject() {
    // It is valid by the clock of the server, which is not that of the system.
    let secure = TlsServer::serve(builder()).await;
    let (server, admin) = (&secure.server, UserInfo::administrator());
    let (request, key) = signed_request("jane", "devs");
    let made = ask(
        server,
        &admin,
        "POST",
        REQUESTS,
        &object("r", CLIENT, &request),
    )
    .await;
    let path = format!("{REQUESTS}/r");
    let approval = format!("{path}/approval");
    ask(server, &admin, "PUT", &approval, &approved(made)).await;
    let mut signed = None;
    for _ in 0..1_000 {
        signed = certificate(&ask(server, &admin, "GET", &path, &json!({})).await);
        if signed.is_some() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let signed = signed.expect("the request is signed");
    let own = Some((signed.as_str(), &*key.serialize_pem()));
    let answer = secure.who(showing(&secure.certificates, own), None).await;
    let answer = answer.unwrap();
    assert_eq!(answer.code, 201);
    let user = &answer.body["status"]["userInfo"];
    assert_eq!(user["username"], "jane");
    assert_eq!(user["groups"], json!(["devs", "system:authenticated"]));
    secure.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_certificate_is_that_of_its_request() {
    let api = Api::with(Controllers::none().with_certificates(true));
    let (request, key) = signed_request("jane", "devs");
    let made = api
        .post(REQUESTS, &object("r", CLIENT, &request))
        .await
        .created();
    let path = format!("{REQUESTS}/r");
    api.settle().await;
    assert_eq!(
        certificate(&api.get(&path).await.ok()),
        None,
        "nobody has approved it"
    );
    api.put(&format!("{path}/approval"), &approved(made))
        .await
        .ok();
    api.settle().await;
    let signed = api.get(&path).await.ok();

    let pem = certificate(&signed).unwrap();
    let (_, block) = parse_x509_pem(pem.as_bytes()).unwrap();
    let (_, parsed) = parse_x509_certificate(&block.contents).unwrap();
    assert_eq!(parsed.subject().to_string(), "O=devs, CN=jane");
    assert_eq!(parsed.public_key().raw, key.subject_public_key_info());
    let usage = parsed.extended_key_usage().unwrap().unwrap().value;
    assert!(usage.client_auth && !usage.server_auth);
    let usage = parsed.key_usage().unwrap().unwrap().value;
    assert!(usage.digital_signature() && !usage.key_encipherment());
    assert!(!parsed.is_ca());
    let validity = parsed.validity();
    let seconds = validity.not_after.timestamp() - validity.not_before.timestamp();
    assert_eq!(seconds, 3_600 + 300);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_does_not_fit_its_signer_fails_and_goes_after_an_hour() {
    let api = Api::with(Controllers::none().with_certificates(true));
    let (request, _) = signed_request("jane", "devs");
    let made = api
        .post(REQUESTS, &object("r", KUBELET_CLIENT, &request))
        .await
        .created();
    let path = format!("{REQUESTS}/r");
    api.put(&format!("{path}/approval"), &approved(made))
        .await
        .ok();
    api.settle().await;
    let mut failed = api.get(&path).await.ok()["status"]["conditions"][1].clone();
    for time in ["lastUpdateTime", "lastTransitionTime"] {
        assert!(failed[time].take().is_string());
    }
    assert_eq!(
        failed,
        json!({
            "type": "Failed", "status": "True", "reason": "SignerValidationFailure",
            "message": "subject organization is not system:nodes",
            "lastUpdateTime": null, "lastTransitionTime": null,
        })
    );
    sleep(Duration::from_secs(3_590)).await;
    api.get(&path).await.ok();
    sleep(Duration::from_secs(10)).await;
    api.get(&path).await.refused(404);
}

#[tokio::test(start_paused = true)]
async fn kubelets_are_approved_once_a_role_allows_it() {
    let server = builder()
        .with_authorization(fakeserver::Authorization::Rbac)
        .build();
    let admin = UserInfo::administrator();
    let node = UserInfo::new("system:node:n").with_groups(["system:nodes"]);
    let (request, _) = signed_request("system:node:n", "system:nodes");
    let made = object("r", KUBELET_CLIENT, &request);
    let bind = async |name: &str, role: &str| {
        let binding = json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "User", "name": node.name(), "apiGroup": "rbac.authorization.k8s.io"}],
        });
        let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
        ask(&server, &admin, "POST", bindings, &binding).await;
    };
    bind("bootstrapper", "system:node-bootstrapper").await;
    let made = ask(&server, &node, "POST", REQUESTS, &made).await;
    assert_eq!(made["spec"]["username"], "system:node:n");
    let path = format!("{REQUESTS}/r");
    sleep(Duration::from_mins(1)).await;
    let waiting = ask(&server, &admin, "GET", &path, &json!({})).await;
    assert_eq!(waiting["status"], json!({}));
    let role = "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient";
    bind("approver", role).await;
    sleep(Duration::from_mins(2)).await;
    let signed = ask(&server, &admin, "GET", &path, &json!({})).await;
    let approval = &signed["status"]["conditions"][0];
    assert_eq!(approval["reason"], "AutoApproved");
    assert_eq!(
        approval["message"],
        "Auto approving self kubelet client certificate after SubjectAccessReview."
    );
    assert!(certificate(&signed).is_some());
    advance(Duration::from_secs(3_601)).await;
    sleep(Duration::from_secs(1)).await;
    let gone = ask(&server, &admin, "GET", &path, &json!({})).await;
    assert_eq!(gone["code"], 404);
}
