//! Options that name a remote server and the credentials for it.

use std::{path::PathBuf, time::Duration};

use clap::Args as ClapArgs;
use fakeserver::{Clock, FakeServer, KubernetesVersion};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;

use crate::{call::whole, golden::Endpoint};

/// Never taken from the environment: nothing happens to a server by accident.
#[derive(Debug, Default, ClapArgs)]
pub(super) struct ServerArgs {
    /// The server, as in `http://127.0.0.1:8001`.
    #[arg(
        long,
        value_name = "URL",
        required_unless_present_any = ["kubeconfig", "kubernetes_version"],
        conflicts_with = "kubeconfig"
    )]
    pub(super) server: Option<String>,
    /// Instead of a remote server, a fake one of this version of Kubernetes, in process: `1.35`, `1.35.6`, `latest` or `latest-1`.
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["server", "kubeconfig"])]
    pub(super) kubernetes_version: Option<KubernetesVersion>,
    /// Kubeconfig with the server and the credentials.
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [default: its current one].
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    pub(super) context: Option<String>,
    /// Bearer token.
    #[arg(long, value_name = "TOKEN", conflicts_with = "kubeconfig")]
    pub(super) token: Option<String>,
    /// File with the bearer token, which hides it from the list of processes.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["kubeconfig", "token"]
    )]
    pub(super) token_file: Option<PathBuf>,
    /// Authority of the server's certificate, as PEM [default: those that the system trusts].
    #[arg(long, value_name = "FILE", conflicts_with = "kubeconfig")]
    pub(super) certificate_authority: Option<PathBuf>,
    /// Client certificate, as PEM.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "kubeconfig",
        requires = "client_key"
    )]
    pub(super) client_certificate: Option<PathBuf>,
    /// Key of the client certificate, as PEM.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "kubeconfig",
        requires = "client_certificate"
    )]
    pub(super) client_key: Option<PathBuf>,
    /// Do not check the server's certificate.
    #[arg(long, conflicts_with = "kubeconfig")]
    pub(super) insecure_skip_tls_verify: bool,
}

// === impl ServerArgs ===

impl ServerArgs {
    /// Returns the server and its version. Answers that take longer than `patience` count as missing.
    pub(super) async fn reach(&self, patience: Duration) -> Result<(Endpoint, String), String> {
        let endpoint = match self.kubernetes_version {
            Some(version) => Self::in_process(version),
            None => Endpoint::remote(self.client(patience).await?),
        };
        let endpoint = endpoint.with_patience(patience);
        let version = endpoint.version().await;
        let version = version
            .map_err(|error| format!("{} is not reached: {}", self.name(), whole(&error)))?;
        let version = version.map_or_else(
            || "of unknown version".to_owned(),
            |version| format!("kube-apiserver {version}"),
        );
        Ok((endpoint, version))
    }

    /// Starts a fake server of a version, without a port.
    fn in_process(version: KubernetesVersion) -> Endpoint {
        let builder = FakeServer::builder().with_kubernetes_version(version);
        // Times of the default clock's first second are those of requests, which are not replaced in answers.
        Endpoint::in_process(&builder.with_clock(Clock::wall()).build())
    }

    /// Creates a client that does not retry, and gives up connecting after `patience`.
    async fn client(&self, patience: Duration) -> Result<Client, String> {
        let mut config = self.config().await?;
        config.connect_timeout = Some(patience);
        // Answers of any status are compared.
        config.default_retry = false;
        config.disable_compression = true;
        let url = config.cluster_url.clone();
        if url.host().is_none() || !matches!(url.scheme_str(), Some("http" | "https")) {
            let name = self.name();
            return Err(format!(
                "{name}: a URL is wanted, as in http://127.0.0.1:8001"
            ));
        }
        Client::try_from(config).map_err(|error| format!("no client for {url}: {}", whole(&error)))
    }

    /// Returns the name of the server in messages.
    pub(super) fn name(&self) -> String {
        match (&self.server, &self.kubeconfig) {
            (Some(server), _) => server.clone(),
            (None, Some(file)) => format!("the server of {}", file.display()),
            (None, None) => "the fake server".to_owned(),
        }
    }

    async fn config(&self) -> Result<Config, String> {
        let (kubeconfig, whose) = match &self.kubeconfig {
            Some(file) => (Kubeconfig::read_from(file), file.display().to_string()),
            None => (Ok(self.as_kubeconfig()?), self.name()),
        };
        let options = KubeConfigOptions {
            context: self.context.clone(),
            ..KubeConfigOptions::default()
        };
        let config = match kubeconfig {
            Ok(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options).await,
            Err(error) => Err(error),
        };
        config.map_err(|error| format!("{whose}: {}", whole(&error)))
    }

    /// Returns the options as a kubeconfig, so that files are read in one place.
    fn as_kubeconfig(&self) -> Result<Kubeconfig, String> {
        let kubeconfig = json!({
            "clusters": [{"name": "wire", "cluster": {
                "server": self.server,
                "certificate-authority": self.certificate_authority,
                "insecure-skip-tls-verify": self.insecure_skip_tls_verify,
            }}],
            "users": [{"name": "wire", "user": {
                "token": self.token,
                "tokenFile": self.token_file,
                "client-certificate": self.client_certificate,
                "client-key": self.client_key,
            }}],
            "contexts": [{"name": "wire", "context": {"cluster": "wire", "user": "wire"}}],
            "current-context": "wire",
        });
        serde_json::from_value(kubeconfig).map_err(|error| format!("{}: {error}", self.name()))
    }
}
