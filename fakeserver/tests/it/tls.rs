//! The API by TLS: trust, client certificates, both versions of HTTP.

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use fakeserver::{
    Authorization, Certificates, ClientCertificate, FakeServer, FakeServerBuilder, UserInfo,
};
use http::{Request, Version};
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio_util::sync::CancellationToken;

const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// A server with rules that speaks TLS.
pub(crate) struct TlsServer {
    pub(crate) server: FakeServer,
    pub(crate) certificates: Certificates,
    address: SocketAddr,
    stop: CancellationToken,
    serving: tokio::task::JoinHandle<()>,
}

// === impl TlsServer ===

impl TlsServer {
    async fn start() -> Self {
        Self::serve(FakeServer::builder().with_token("jane", UserInfo::new("jane"))).await
    }

    /// Serves what `builder` builds.
    pub(crate) async fn serve(builder: FakeServerBuilder) -> Self {
        let certificates = Certificates::new(["api.example"]).unwrap();
        Self::serve_with(builder, certificates).await
    }

    /// Serves what `builder` builds, with these certificates.
    pub(crate) async fn serve_with(builder: FakeServerBuilder, certificates: Certificates) -> Self {
        let server = builder
            .with_authorization(Authorization::Rbac)
            .with_certificates(&certificates)
            .build();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        #[expect(clippy::disallowed_methods, reason = "a test owns its tasks")]
        let serving = tokio::spawn(server.serve_tls(listener, &certificates, stop.clone()));
        Self {
            server,
            certificates,
            address,
            stop,
            serving,
        }
    }

    /// Asks who one is, and returns the version of HTTP, the code and the answer.
    pub(crate) async fn who(
        &self,
        client: ClientConfig,
        token: Option<&str>,
    ) -> Result<Answer, String> {
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(client)
            .https_only()
            .enable_http1()
            .enable_http2()
            .build();
        let client = Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(connector);
        let mut request = Request::post(format!("https://{}{WHO}", self.address));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Full::from("{}")).unwrap();
        let response = client.request(request).await;
        let response = response.map_err(|error| format!("{error:?}"))?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Ok(Answer {
            version: parts.version,
            code: parts.status.as_u16(),
            body: serde_json::from_slice(&body).unwrap(),
        })
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.serving.await.unwrap();
        assert_eq!(self.server.stats().watchers, 0);
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    version: Version,
    pub(crate) code: u16,
    pub(crate) body: Value,
}

/// A client that trusts the authority of `certificates`, and shows `own`.
pub(crate) fn trusting(
    certificates: &Certificates,
    own: Option<&ClientCertificate>,
) -> ClientConfig {
    showing(
        certificates,
        own.map(|own| (own.certificate_pem(), own.key_pem())),
    )
}

/// A client that trusts the authority of `certificates`, and shows a certificate in PEM, of which it has the key.
pub(crate) fn showing(certificates: &Certificates, own: Option<(&str, &str)>) -> ClientConfig {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(trusted_roots(certificates));
    match own {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
            config.with_client_auth_cert(vec![chain], key).unwrap()
        }
    }
}

/// Returns the certificate that clients of `certificates` have to trust.
pub(crate) fn trusted_roots(certificates: &Certificates) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let authority = certificates.authority_pem();
    let authority = CertificateDer::from_pem_slice(authority.as_bytes()).unwrap();
    roots.add(authority).unwrap();
    roots
}

#[tokio::test]
async fn a_client_certificate_identifies_its_client() {
    let secure = TlsServer::start().await;
    let user = UserInfo::new("joe").with_groups(["devs", "ops", "a:b/é"]);
    let joe = secure.certificates.client(&user).unwrap();
    let client = trusting(&secure.certificates, Some(&joe));
    let answer = secure.who(client, None).await.unwrap();
    assert_eq!((answer.version, answer.code), (Version::HTTP_2, 201));
    let user = &answer.body["status"]["userInfo"];
    assert_eq!(user["username"], "joe");
    let groups = json!(["devs", "ops", "a:b/é", "system:authenticated"]);
    assert_eq!(user["groups"], groups);
    let mut lines = joe.certificate_pem().lines();
    assert!(lines.all(|line| line.len() <= 64));
    secure.end().await;
}

#[tokio::test]
async fn without_a_certificate_a_token_is_required() {
    let secure = TlsServer::start().await;
    let client = || trusting(&secure.certificates, None);
    let jane = secure.who(client(), Some("jane")).await.unwrap();
    assert_eq!(jane.body["status"]["userInfo"]["username"], "jane");
    let nobody = secure.who(client(), None).await.unwrap();
    assert_eq!(nobody.code, 403);
    let message = nobody.body["message"].as_str().unwrap();
    assert!(message.contains("User \"system:anonymous\""), "{message}");
    assert_eq!(secure.who(client(), Some("x")).await.unwrap().code, 401);
    secure.end().await;
}

#[tokio::test]
async fn a_client_without_tls_gets_an_answer() {
    let secure = TlsServer::start().await;
    let mut socket = TcpStream::connect(secure.address).await.unwrap();
    let request = b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n";
    socket.write_all(request).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert_eq!(
        answer,
        "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
    );
    secure.end().await;
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_answered_with_401() {
    let secure = TlsServer::start().await;
    let other = Certificates::new([""; 0]).unwrap();
    let stranger = other.client(&UserInfo::administrator()).unwrap();
    let client = || trusting(&secure.certificates, Some(&stranger));
    let answer = secure.who(client(), None).await.unwrap();
    assert_eq!(
        (answer.code, &answer.body["reason"]),
        (401, &json!("Unauthorized"))
    );
    let jane = secure.who(client(), Some("jane")).await.unwrap();
    assert_eq!(jane.code, 201, "a token still says who asks");
    let distrusting = secure.who(trusting(&other, None), None).await;
    assert!(distrusting.is_err(), "{distrusting:?}");
    secure.end().await;
}
