//! The file that tells clients where the proxy is.

use std::{
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::ProxyError;

/// The name of cluster, context and user.
const NAME: &str = "conformance-proxy";

/// What a client has to know of a proxy. It names no user: the proxy brings the credentials of its upstream, or passes those
/// on that the client adds.
#[derive(Debug, Clone)]
pub struct Kubeconfig {
    address: SocketAddr,
    authority_pem: Option<String>,
    namespace: String,
}

// === impl Kubeconfig ===

impl Kubeconfig {
    /// For a proxy that listens at `address`, without TLS.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            authority_pem: None,
            namespace: "default".to_owned(),
        }
    }

    /// It speaks TLS, with a certificate of this authority, as PEM.
    #[must_use]
    pub fn with_authority(mut self, pem: String) -> Self {
        self.authority_pem = Some(pem);
        self
    }

    /// The namespace of requests that name none; `default` unless this says otherwise.
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Where clients find the proxy.
    pub fn url(&self) -> String {
        let scheme = match self.authority_pem {
            Some(_) => "https",
            None => "http",
        };
        format!("{scheme}://{}", reachable(self.address))
    }

    /// Its form in JSON, which is YAML too.
    pub fn to_value(&self) -> Value {
        // Without TLS there is nothing to verify; some clients take plain HTTP only where that is said.
        let (trust, how) = match &self.authority_pem {
            Some(pem) => ("certificate-authority-data", json!(STANDARD.encode(pem))),
            None => ("insecure-skip-tls-verify", json!(true)),
        };
        let mut cluster = json!({"server": self.url()});
        cluster[trust] = how;
        let context = json!({"cluster": NAME, "user": NAME, "namespace": self.namespace});
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": NAME,
            "clusters": [{"name": NAME, "cluster": cluster}],
            "users": [{"name": NAME, "user": {}}],
            "contexts": [{"name": NAME, "context": context}],
        })
    }

    /// Writes it, for this user alone, and all of it or nothing.
    ///
    /// # Errors
    ///
    /// [`ProxyError::Kubeconfig`]: it cannot be written there.
    pub fn write(&self, file: &Path) -> Result<(), ProxyError> {
        self.replace(file).map_err(|source| ProxyError::Kubeconfig {
            file: file.display().to_string(),
            source,
        })
    }

    fn replace(&self, file: &Path) -> io::Result<()> {
        let directory = match file.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        // Only its owner can read a temporary file.
        let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
        writeln!(temporary, "{:#}", self.to_value())?;
        temporary.persist(file)?;
        Ok(())
    }
}

/// A client cannot connect to "all interfaces": the loopback one serves it.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
