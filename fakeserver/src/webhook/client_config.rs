//! Whom to ask, as webhook configurations and definitions of custom resources say it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

/// The port of services that name none.
const PORT_DEFAULT: u64 = 443;

/// A `clientConfig`, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientConfig {
    /// Without a query: `https://host[:port][/path]`.
    url: String,
    service: Option<Service>,
    /// Whether the webhook is told how long it has.
    tells_timeout: bool,
    /// Certificates in PEM; without any nobody is trusted.
    pub(super) ca_bundle: Vec<u8>,
}

/// A service of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Service {
    pub(super) namespace: String,
    pub(super) name: String,
}

// === impl ClientConfig ===

impl ClientConfig {
    /// Reads a `clientConfig` that was validated when it was written.
    pub(crate) fn parse(config: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let ca_bundle = STANDARD.decode(text(&config["caBundle"]));
        let ca_bundle = ca_bundle.unwrap_or_default();
        let said = &config["service"];
        if said.is_null() {
            return Self {
                url: text(&config["url"]),
                service: None,
                tells_timeout: true,
                ca_bundle,
            };
        }
        let service = Service {
            namespace: text(&said["namespace"]),
            name: text(&said["name"]),
        };
        let port = said["port"].as_u64().unwrap_or(PORT_DEFAULT);
        let path = text(&said["path"]);
        let path = path.trim_start_matches('/');
        Self {
            url: format!("https://{}:{port}/{path}", service.host()),
            service: Some(service),
            tells_timeout: true,
            ca_bundle,
        }
    }

    /// Does not tell the webhook how long it has.
    #[must_use]
    pub(crate) fn without_timeout(mut self) -> Self {
        self.tells_timeout = false;
        self
    }

    /// The address with the time that there is for an answer, as a webhook is told it and errors show it.
    pub(super) fn url(&self, timeout_seconds: u64) -> String {
        if self.tells_timeout {
            format!("{}?timeout={timeout_seconds}s", self.url)
        } else {
            self.url.clone()
        }
    }

    pub(super) fn service(&self) -> Option<&Service> {
        self.service.as_ref()
    }
}

// === impl Service ===

impl Service {
    /// The name of the service in the cluster.
    pub(super) fn host(&self) -> String {
        format!("{}.{}.svc", self.name, self.namespace)
    }
}
