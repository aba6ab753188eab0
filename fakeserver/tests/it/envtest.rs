//! The program under the names of others, as envtest starts it: certificates, flags, health, definitions, webhooks, a
//! restart.

use std::{
    net::{SocketAddr, TcpListener as Reserved},
    path::PathBuf,
    process::{Output, Stdio},
    sync::Arc,
};

use axum::{Json, Router, routing::post};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use fakeserver::{Certificates, Listener};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpListener,
    process::{Child, Command},
    task::yield_now,
    time::timeout,
};
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio_util::sync::CancellationToken;

use crate::program::{PATIENCE, program, signal};

/// Programs, their arguments, and what their error says.
const BAD: [(&str, &str, &str); 26] = [
    ("kube-apiserver", "serve", "takes flags only"),
    ("kube-apiserver", "--secure-port=0", "between 1 and 65535"),
    ("kube-apiserver", "--secure-port=x", "invalid argument"),
    ("kube-apiserver", "--bind-address=here", "--bind-address"),
    (
        "kube-apiserver",
        "--allow-privileged=perhaps",
        "true or false",
    ),
    (
        "kube-apiserver",
        "--client-ca-file=/nowhere/at/all",
        "--client-ca-file /nowhere/at/all",
    ),
    (
        "kube-apiserver",
        "--client-ca-file=garbage --cert-dir=.",
        "the authorities of clients",
    ),
    (
        "kube-apiserver",
        "--tls-cert-file=apiserver.crt",
        "go together",
    ),
    (
        "kube-apiserver",
        "--tls-cert-file=garbage --tls-private-key-file=apiserver.key",
        "serving certificate",
    ),
    (
        "kube-apiserver",
        "--tls-cert-file=apiserver.crt --tls-private-key-file=sa-signer.key",
        "TLS not set up",
    ),
    ("kube-apiserver", "--cert-dir=half", "one is missing"),
    (
        "kube-apiserver",
        "--cert-dir=/proc/nothing",
        "--cert-dir /proc/nothing",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --authorization-mode=Magic",
        "not a valid mode",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --service-account-key-file=garbage",
        "PUBLIC KEY",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --service-account-signing-key-file=sa-signer.crt",
        "PRIVATE KEY",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --service-cluster-ip-range=many",
        "10.0.0.0/24",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --service-cluster-ip-range=10.0.0.0/24,10.1.0.0/24",
        "must be of different IP family",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --service-cluster-ip-range=10.0.0.0/24,fd00::/112,10.1.0.0/24",
        "must not contain more than two entries",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --token-auth-file=tokens",
        "line 1",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --enable-admission-plugins=Magic",
        "Magic",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --feature-gates=Magic=true",
        "Magic",
    ),
    (
        "kube-apiserver",
        "--cert-dir=. --etcd-servers=https://127.0.0.1:1 --etcd-certfile=client.crt",
        "--etcd-certfile and --etcd-keyfile go together",
    ),
    ("etcd", "member", "takes flags only"),
    ("etcd", "--listen-client-urls=https://127.0.0.1:0", "no TLS"),
    ("etcd", "--data-dir=real", "real etcd"),
    ("etcd", "--data-dir=garbage", "--data-dir garbage"),
];

/// The files that envtest makes, and the programs that it starts.
struct Envtest {
    folder: TempDir,
    assets: PathBuf,
    /// The authority of the serving certificate, in DER.
    authority: Vec<u8>,
    /// The certificate of the administrator and its key, in PEM.
    administrator: (String, String),
    etcd: SocketAddr,
    apiserver: SocketAddr,
}

/// An authority such as envtest makes, and what it signs.
struct TinyAuthority(CertifiedIssuer<'static, KeyPair>);

fn free_address() -> SocketAddr {
    let reserved = Reserved::bind("127.0.0.1:0").unwrap();
    reserved.local_addr().unwrap()
}

async fn output(command: &mut Command) -> Output {
    timeout(PATIENCE, command.output()).await.unwrap().unwrap()
}

// === impl TinyAuthority ===

impl TinyAuthority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    /// A certificate and its key, in PEM.
    fn sign(&self, params: &CertificateParams) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}

// === impl Envtest ===

impl Envtest {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = output(program().arg("assets").arg(folder.path().join("assets"))).await;
        assert!(made.status.success(), "{made:?}");
        let assets = PathBuf::from(String::from_utf8(made.stdout).unwrap().trim_end());
        assert!(assets.is_absolute());

        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let serving = TinyAuthority::new();
        let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        let (certificate, key) = serving.sign(&CertificateParams::new(names).unwrap());
        write("apiserver.crt", &certificate);
        write("apiserver.key", &key);
        let clients = TinyAuthority::new();
        write("client-cert-auth-ca.crt", &clients.0.pem());
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "admin");
        params
            .distinguished_name
            .push(DnType::OrganizationName, "system:masters");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let administrator = clients.sign(&params);
        let accounts = TinyAuthority::new();
        write("sa-signer.crt", &accounts.0.pem());
        write("sa-signer.key", &accounts.0.key().serialize_pem());
        Self {
            assets,
            authority: serving.0.der().to_vec(),
            administrator,
            etcd: free_address(),
            apiserver: free_address(),
            folder,
        }
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.assets.join(name));
        command.kill_on_drop(true).stdin(Stdio::null());
        command
    }

    fn etcd(&self) -> Command {
        let mut command = self.command("etcd");
        let data = self.folder.path().join("data");
        command.args([
            format!("--advertise-client-urls=http://{}", self.etcd),
            format!("--data-dir={}", data.display()),
            format!("--listen-client-urls=http://{}", self.etcd),
            format!("--listen-peer-urls=http://{}", free_address()),
            "--unsafe-no-fsync=true".to_owned(),
        ]);
        command
    }

    fn apiserver(&self, address: SocketAddr) -> Command {
        let folder = self.folder.path().display();
        let mut command = self.command("kube-apiserver");
        command.args([
            "--allow-privileged=true".to_owned(),
            "--authorization-mode=RBAC".to_owned(),
            format!("--bind-address={}", address.ip()),
            format!("--cert-dir={folder}"),
            format!("--client-ca-file={folder}/client-cert-auth-ca.crt"),
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            format!("--etcd-servers=http://{}", self.etcd),
            format!("--secure-port={}", address.port()),
            format!("--service-account-issuer=https://{address}/"),
            format!("--service-account-key-file={folder}/sa-signer.crt"),
            format!("--service-account-signing-key-file={folder}/sa-signer.key"),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        ]);
        command
    }

    /// Starts an API server, and waits until it is healthy.
    async fn start(&self) -> Child {
        let mut child = self.apiserver(self.apiserver).spawn().unwrap();
        let healthy = async {
            loop {
                let answer = self.ask(None, Method::GET, "/healthz", None).await;
                if answer.is_ok_and(|(code, _)| code == 200) {
                    return;
                }
                assert!(child.try_wait().unwrap().is_none(), "it has ended");
                yield_now().await;
            }
        };
        timeout(PATIENCE, healthy).await.unwrap();
        child
    }

    /// Asks the API server as the administrator, or with a bearer token, which may be empty for none.
    async fn ask(
        &self,
        token: Option<&str>,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<(u16, Value), String> {
        let mut roots = RootCertStore::empty();
        roots
            .add(CertificateDer::from(self.authority.clone()))
            .unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let (certificate, key) = &self.administrator;
        let config = match token {
            Some("admin") => {
                let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                builder
                    .with_client_auth_cert(vec![certificate], key)
                    .unwrap()
            }
            _ => builder.with_no_client_auth(),
        };
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_only()
            .enable_http1()
            .build();
        let client = Client::builder(TokioExecutor::new()).build::<_, Full<Bytes>>(connector);
        let mut request = Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", self.apiserver))
            .header("content-type", "application/json");
        if let Some(token) = token.filter(|token| *token != "admin") {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let response = client
            .request(request.body(Full::from(body)).unwrap())
            .await;
        let (parts, body) = response.map_err(|error| format!("{error:?}"))?.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?;
        let body = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
        Ok((parts.status.as_u16(), body))
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(Some("admin"), Method::GET, path, None)
            .await
            .unwrap()
    }

    async fn create(&self, path: &str, object: Value) -> (u16, Value) {
        self.ask(Some("admin"), Method::POST, path, Some(object))
            .await
            .unwrap()
    }
}

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    })
}

/// Refuses everything, and serves a certificate that is its own authority, as envtest's webhooks do.
async fn webhook() -> (
    SocketAddr,
    String,
    impl Future<Output = ()>,
    CancellationToken,
) {
    let certificate = TinyAuthority::new();
    let names = vec!["127.0.0.1".to_owned()];
    let (own, key) = certificate.sign(&CertificateParams::new(names).unwrap());
    let certificates = Certificates::from_pem(own.as_bytes(), key.as_bytes(), b"").unwrap();
    let answer = |Json(review): Json<Value>| async move {
        Json(json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": review["request"]["uid"], "allowed": false, "status": {"code": 403, "message": "not today"}},
        }))
    };
    let router = Router::new().route("/validate", post(answer));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let serving = Listener::new(listener)
        .with_certificates(&certificates)
        .serve(router, stop.clone());
    (address, own, serving, stop)
}

#[tokio::test]
async fn the_start_sequence_of_envtest_passes() {
    let env = Envtest::new().await;
    let help = output(env.command("etcd").arg("--help")).await;
    assert!(
        String::from_utf8(help.stdout)
            .unwrap()
            .contains("--unsafe-no-fsync")
    );
    let help = output(env.command("kube-apiserver").arg("--help")).await;
    assert!(help.status.success());
    assert!(
        !String::from_utf8(help.stdout)
            .unwrap()
            .contains("--insecure-port")
    );

    let _etcd = env.etcd().spawn().unwrap();
    let mut apiserver = env.start().await;
    assert_eq!(env.get("/api/v1/namespaces/default").await.0, 200);
    assert_eq!(
        env.get("/api/v1/namespaces/default/services/kubernetes")
            .await
            .0,
        200
    );
    let anonymous = env.ask(None, Method::GET, "/api/v1/namespaces", None).await;
    assert_eq!(anonymous.unwrap().0, 403);

    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    assert_eq!(env.create(definitions, definition()).await.0, 201);
    let served = async {
        while env.get("/apis/example.com/v1").await.0 != 200 {
            yield_now().await;
        }
    };
    timeout(PATIENCE, served).await.unwrap();
    let widget =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}});
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    assert_eq!(env.create(widgets, widget).await.0, 201);
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let (_, service) = env
        .create("/api/v1/namespaces/default/services", service)
        .await;
    let address = service["spec"]["clusterIP"].as_str().unwrap();
    assert!(address.starts_with("10.0.0."), "{address}");

    refused_by_a_webhook(&env).await;
    known_by_tokens(&env).await;

    // One API server at a time has the objects.
    let other = free_address();
    let second = output(&mut env.apiserver(other)).await;
    assert!(!second.status.success());
    let stderr = String::from_utf8(second.stderr).unwrap();
    assert!(
        stderr.contains("--etcd-servers") && stderr.contains("in use"),
        "{stderr}"
    );

    signal(&apiserver, "-TERM").await;
    let status = timeout(PATIENCE, apiserver.wait()).await.unwrap().unwrap();
    assert!(status.success(), "{status}");
    let _restarted = env.start().await;
    assert_eq!(env.get(&format!("{widgets}/w")).await.0, 200);
}

/// A `caBundle` that holds the serving certificate itself, and a URL with two slashes.
async fn refused_by_a_webhook(env: &Envtest) {
    let (address, own, serving, stop) = webhook().await;
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "hooks"},
        "webhooks": [{
            "name": "hook.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": format!("https://{address}//validate"), "caBundle": STANDARD.encode(own)},
            "rules": [{"apiGroups": ["example.com"], "apiVersions": ["*"], "resources": ["widgets"], "operations": ["CREATE"]}],
        }],
    });
    let configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    assert_eq!(env.create(configurations, configuration).await.0, 201);
    let widget =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "x"}});
    let asking = async {
        let answer = env
            .create("/apis/example.com/v1/namespaces/default/widgets", widget)
            .await;
        stop.cancel();
        answer
    };
    let ((code, answer), ()) = tokio::join!(asking, serving);
    let message = "admission webhook \"hook.example.com\" denied the request: not today";
    assert_eq!((code, answer["message"].as_str()), (403, Some(message)));
}

/// Tokens are signed with the key of the file, and others can verify them.
async fn known_by_tokens(env: &Envtest) {
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"metadata": {"name": "robot"}});
    assert_eq!(env.create(accounts, account).await.0, 201);
    let (code, issued) = env
        .create(&format!("{accounts}/robot/token"), json!({"spec": {}}))
        .await;
    assert_eq!(code, 201, "{issued}");
    let token = issued["status"]["token"].as_str().unwrap();
    let who = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let reviewed = env
        .ask(Some(token), Method::POST, who, Some(json!({})))
        .await;
    let (_, review) = reviewed.unwrap();
    assert_eq!(
        review["status"]["userInfo"]["username"],
        "system:serviceaccount:default:robot"
    );
    let changed = format!("{}x", &token[..token.len() - 1]);
    let reviewed = env
        .ask(Some(&changed), Method::POST, who, Some(json!({})))
        .await;
    assert_eq!(reviewed.unwrap().0, 401);
    let (_, keys) = env.get("/openid/v1/jwks").await;
    assert_eq!(keys["keys"][0]["alg"], "ES256", "{keys}");
    let (_, configuration) = env.get("/.well-known/openid-configuration").await;
    assert_eq!(
        configuration["issuer"],
        format!("https://{}/", env.apiserver)
    );
}

#[tokio::test]
async fn no_program_outlives_the_one_that_started_it() {
    let env = Envtest::new().await;
    let script = format!(
        "{} --data-dir={} --listen-client-urls=http://{} & echo started; wait",
        env.assets.join("etcd").display(),
        env.folder.path().join("data").display(),
        env.etcd,
    );
    let mut parent = Command::new("sh")
        .args(["-c", &script])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "started");
    let reachable = async {
        while tokio::net::TcpStream::connect(env.etcd).await.is_err() {
            yield_now().await;
        }
    };
    timeout(PATIENCE, reachable).await.unwrap();
    parent.kill().await.unwrap();
    // The output ends with the last process that could write to it.
    let end = timeout(PATIENCE, lines.next_line()).await.unwrap();
    assert_eq!(end.unwrap(), None);
}

#[tokio::test]
async fn errors_of_command_lines_and_files_name_a_remedy() {
    let env = Envtest::new().await;
    let folder = env.folder.path();
    std::fs::write(folder.join("garbage"), "this is no PEM").unwrap();
    std::fs::create_dir(folder.join("half")).unwrap();
    std::fs::copy(
        folder.join("apiserver.crt"),
        folder.join("half/apiserver.crt"),
    )
    .unwrap();
    std::fs::create_dir_all(folder.join("real/member")).unwrap();
    std::fs::write(folder.join("tokens"), "alone\n").unwrap();
    let port = format!("--secure-port={}", env.apiserver.port());
    for (name, arguments, expected) in BAD {
        let mut command = env.command(name);
        command.current_dir(folder);
        if name == "kube-apiserver" && !arguments.contains("--secure-port") {
            command.arg(&port);
        }
        let ended = output(command.args(arguments.split(' '))).await;
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(1), "{name} {arguments}: {stderr}");
        assert!(
            stderr
                .lines()
                .any(|line| line.starts_with("error: ") && line.contains(expected)),
            "{name} {arguments}: {stderr}"
        );
    }
}

#[tokio::test]
async fn a_command_gets_the_folder_and_gives_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let script = "test -x $KUBEBUILDER_ASSETS/etcd && test -x $TEST_ASSET_KUBE_APISERVER && exit 7";
    let mut command = program();
    let command = command.args([
        "envtest",
        "--controllers",
        "default",
        "--",
        "sh",
        "-c",
        script,
    ]);
    let ended = output(command.env("XDG_CACHE_HOME", folder.path())).await;
    assert_eq!(ended.status.code(), Some(7), "{ended:?}");
    let mut command = program();
    let command = command.args(["envtest", "--controllers", "magic", "--", "true"]);
    let ended = output(command.env("XDG_CACHE_HOME", folder.path())).await;
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
}
