//! Client configurations: the addresses of webhooks in webhook configurations and definitions of custom resources.

mod path;
mod validation;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

pub use self::validation::client_config_errors;

/// The port of services that name none.
const PORT_DEFAULT: u64 = 443;

/// A parsed `clientConfig`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// Without a query, and with a clean path: `https://host[:port]/path`.
    url: String,
    service: Option<Service>,
    /// The query tells the webhook its time limit.
    tells_timeout: bool,
    /// Certificates in PEM; without any, no server is trusted.
    pub ca_bundle: Vec<u8>,
}

/// A service of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub namespace: String,
    pub name: String,
}

// === impl ClientConfig ===

impl ClientConfig {
    /// Reads a `clientConfig` that was validated when it was written.
    pub fn parse(config: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let ca_bundle = STANDARD.decode(text(&config["caBundle"]));
        let ca_bundle = ca_bundle.unwrap_or_default();
        let reference = &config["service"];
        if reference.is_null() {
            return Self {
                url: path::with_clean_path(&text(&config["url"])),
                service: None,
                tells_timeout: true,
                ca_bundle,
            };
        }
        let service = Service {
            namespace: text(&reference["namespace"]),
            name: text(&reference["name"]),
        };
        let port = reference["port"].as_u64().unwrap_or(PORT_DEFAULT);
        let path = path::clean(&text(&reference["path"]));
        Self {
            url: format!("https://{}:{port}{path}", service.host()),
            service: Some(service),
            tells_timeout: true,
            ca_bundle,
        }
    }

    /// Leaves the time limit out of the query.
    #[must_use]
    pub fn without_timeout(mut self) -> Self {
        self.tells_timeout = false;
        self
    }

    /// Returns the address with the time limit, as requests and errors have it.
    pub fn url(&self, timeout_seconds: u64) -> String {
        if self.tells_timeout {
            format!("{}?timeout={timeout_seconds}s", self.url)
        } else {
            self.url.clone()
        }
    }

    pub fn service(&self) -> Option<&Service> {
        self.service.as_ref()
    }
}

// === impl Service ===

impl Service {
    /// Returns the name of the service in the cluster.
    pub fn host(&self) -> String {
        format!("{}.{}.svc", self.name, self.namespace)
    }
}
