//! Calls over sockets of this machine.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Json, Router, response::Redirect, routing::post};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_kinds::client_config::ClientConfig;
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    date_time_ymd,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

use super::Webhooks;

const LIMIT: Duration = Duration::from_secs(5);

fn echo() -> Router {
    Router::new().route(
        "/echo",
        post(|Json(body): Json<Value>| async { Json(body) }),
    )
}

fn question() -> Value {
    json!({"kind": "Q", "apiVersion": "v1", "text": "well?"})
}

/// A listener, and what serves one connection of it.
async fn server(tls: Option<TlsAcceptor>) -> (SocketAddr, impl Future<Output = ()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = async move {
        let (stream, _) = listener.accept().await.unwrap();
        let service = TowerToHyperService::new(echo());
        match tls {
            None => drop(
                http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await,
            ),
            Some(tls) => {
                if let Ok(stream) = tls.accept(stream).await {
                    drop(
                        http1::Builder::new()
                            .serve_connection(TokioIo::new(stream), service)
                            .await,
                    );
                }
            }
        }
    };
    (address, serving)
}

/// An authority in PEM, and a server with a certificate of it for `name`.
fn tls(name: &str) -> (String, TlsAcceptor) {
    let (authority, _, acceptor) =
        serving_with(&CertificateParams::new(vec![name.to_owned()]).unwrap());
    (authority, acceptor)
}

/// A certificate authority in PEM, and a server with a certificate of it.
fn serving_with(certificate: &CertificateParams) -> (String, String, TlsAcceptor) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = certificate.signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (
        authority.pem(),
        certificate.pem(),
        TlsAcceptor::from(Arc::new(config)),
    )
}

/// The answer of a server with `certificate` that is in the bundle itself, or the problem with it.
async fn ask_one_in_the_bundle(certificate: CertificateParams) -> String {
    let (_, own, acceptor) = serving_with(&certificate);
    let (address, serving) = server(Some(acceptor)).await;
    let webhooks = Webhooks::default();
    let to = format!("https://{address}").parse().unwrap();
    webhooks.redirect("hooks.default.svc", to);
    let config = of_service(&own);
    let question = question();
    let (answer, ()) = tokio::join!(webhooks.ask(&config, LIMIT, &question), serving);
    match answer {
        Ok(answer) => answer["text"].as_str().unwrap().to_owned(),
        Err(error) => {
            let error = error.to_string();
            error.rsplit_once("x509: ").unwrap().1.to_owned()
        }
    }
}

#[tokio::test]
async fn a_certificate_in_the_bundle_is_trusted_for_its_name_time_and_usage() {
    let named = |name: &str| CertificateParams::new(vec![name.to_owned()]).unwrap();
    let good = named("hooks.default.svc");
    assert_eq!(ask_one_in_the_bundle(good.clone()).await, "well?");
    assert_eq!(
        ask_one_in_the_bundle(named("other.default.svc")).await,
        "certificate is not valid for hooks.default.svc"
    );
    let mut old = good.clone();
    old.not_after = date_time_ymd(2001, 2, 3);
    let mut early = good.clone();
    early.not_before = date_time_ymd(4000, 1, 1);
    for certificate in [old, early] {
        assert_eq!(
            ask_one_in_the_bundle(certificate).await,
            "certificate has expired or is not yet valid"
        );
    }
    let mut of_client = good.clone();
    of_client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    assert_eq!(
        ask_one_in_the_bundle(of_client).await,
        "certificate specifies an incompatible key usage"
    );
    let mut of_server = good;
    of_server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    assert_eq!(ask_one_in_the_bundle(of_server).await, "well?");
}

#[tokio::test]
async fn redirects_are_followed_ten_requests_long() {
    let webhooks = Webhooks::default();
    let router = echo()
        .route("/moved", post(|| async { Redirect::temporary("/echo") }))
        .route("/loop", post(|| async { Redirect::temporary("/loop") }));
    webhooks.serve("hooks.default.svc", router);
    let at = |path: &str| {
        ClientConfig::parse(&json!({
            "service": {"name": "hooks", "namespace": "default", "path": path},
        }))
    };
    let question = question();
    let moved = webhooks.ask(&at("//moved"), LIMIT, &question).await;
    assert_eq!(moved.unwrap(), question);
    let looping = webhooks.ask(&at("/loop"), LIMIT, &question).await;
    assert_eq!(
        looping.unwrap_err().to_string(),
        "Post \"https://hooks.default.svc:443/loop\": stopped after 10 redirects"
    );
}

fn of_service(ca: &str) -> ClientConfig {
    ClientConfig::parse(&json!({
        "service": {"name": "hooks", "namespace": "default", "path": "/echo"},
        "caBundle": STANDARD.encode(ca),
    }))
}

#[tokio::test]
async fn a_service_is_called_over_tls_and_its_certificate_is_verified() {
    let (authority, acceptor) = tls("hooks.default.svc");
    let (stranger, _) = tls("hooks.default.svc");
    let (address, serving) = server(Some(acceptor.clone())).await;
    let webhooks = Webhooks::default();
    let to = format!("https://{address}").parse().unwrap();
    webhooks.redirect("hooks.default.svc", to);
    let trusted = of_service(&authority);
    let question = question();
    let (answer, ()) = tokio::join!(webhooks.ask(&trusted, LIMIT, &question), serving);
    assert_eq!(answer.unwrap(), question);

    let (address, serving) = server(Some(acceptor)).await;
    let to = format!("https://{address}").parse().unwrap();
    webhooks.redirect("hooks.default.svc", to);
    let other = of_service(&stranger);
    let (answer, ()) = tokio::join!(webhooks.ask(&other, LIMIT, &question), serving);
    assert_eq!(
        answer.unwrap_err().to_string(),
        "Post \"https://hooks.default.svc:443/echo?timeout=5s\": tls: failed to verify certificate: x509: certificate \
         signed by unknown authority"
    );

    let (authority, acceptor) = tls("other.default.svc");
    let (address, serving) = server(Some(acceptor)).await;
    let to = format!("https://{address}").parse().unwrap();
    webhooks.redirect("hooks.default.svc", to);
    let misnamed = of_service(&authority);
    let (answer, ()) = tokio::join!(webhooks.ask(&misnamed, LIMIT, &question), serving);
    let error = answer.unwrap_err().to_string();
    assert!(
        error.ends_with("x509: certificate is not valid for hooks.default.svc"),
        "{error}"
    );
}

#[tokio::test]
async fn a_route_can_do_without_tls() {
    let (address, serving) = server(None).await;
    let webhooks = Webhooks::default();
    webhooks.redirect(
        "hooks.default.svc",
        format!("http://{address}").parse().unwrap(),
    );
    let config = of_service("");
    let question = question();
    let (answer, ()) = tokio::join!(webhooks.ask(&config, LIMIT, &question), serving);
    assert_eq!(answer.unwrap(), question);
}

#[tokio::test]
async fn a_refused_connection_has_gos_words() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let config = ClientConfig::parse(&json!({"url": format!("https://{address}/x")}));
    let error = Webhooks::default()
        .ask(&config, LIMIT, &question())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "Post \"https://{address}/x?timeout=5s\": dial tcp {address}: connect: connection refused"
        )
    );
}
