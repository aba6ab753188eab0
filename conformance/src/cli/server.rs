//! Options that name a remote server and the credentials for it.

use std::{path::PathBuf, time::Duration};

use clap::Args as ClapArgs;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;

use crate::call::whole;

/// Never taken from the environment: nothing happens to a server by accident.
#[derive(Debug, Default, ClapArgs)]
pub(super) struct ServerArgs {
    /// The server, as in `http://127.0.0.1:8001`.
    #[arg(
        long,
        value_name = "URL",
        required_unless_present = "kubeconfig",
        conflicts_with = "kubeconfig"
    )]
    pub(super) server: Option<String>,
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
    /// Creates a client that does not retry, and gives up connecting after `patience`.
    pub(super) async fn client(&self, patience: Duration) -> Result<Client, String> {
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
            (None, None) => "the server".to_owned(),
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
