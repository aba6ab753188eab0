//! The address and credentials of a server, as entries of a kubeconfig.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_server::ClientCertificate;
use serde_json::{Value, json};

use super::mark::Mark;

/// The address of a server, its certificate authority, and its users.
#[derive(Debug)]
pub struct Kubeconfig {
    /// The name of the cluster, of its administrator and of the administrator's context.
    pub context: String,
    /// The address at which the server listens.
    pub address: SocketAddr,
    /// The authority that clients have to trust, if the server speaks TLS.
    pub authority_pem: Option<String>,
    /// The credential of its administrator.
    pub administrator: Credential,
    /// Further users, each with a context of the same name.
    pub users: Vec<(String, Credential)>,
}

/// The credential of a client.
#[derive(Debug)]
pub enum Credential {
    /// No credentials.
    None,
    /// A bearer token.
    Token(String),
    /// A client certificate and its key.
    Certificate(ClientCertificate),
}

/// The items of the lists of a kubeconfig.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) clusters: Vec<Value>,
    pub(super) contexts: Vec<Value>,
    pub(super) users: Vec<Value>,
}

// === impl Kubeconfig ===

impl Kubeconfig {
    /// Returns the URL by which clients on this machine reach the server.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme(), reachable(self.address))
    }

    /// Returns the scheme of the URL.
    pub fn scheme(&self) -> &'static str {
        match self.authority_pem {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Returns the names of all users, which are those of their contexts: the administrator's comes first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let users = self.users.iter().map(|(name, _)| name.as_str());
        std::iter::once(self.context.as_str()).chain(users)
    }

    /// Returns the entries, each with the mark.
    pub(super) fn entries(&self, mark: &Mark) -> Entries {
        let mut cluster = json!({"server": self.url(), "extensions": mark.to_extensions()});
        match &self.authority_pem {
            Some(pem) => cluster["certificate-authority-data"] = STANDARD.encode(pem).into(),
            // Some clients take plain HTTP only where it says that there is nothing to verify.
            None => cluster["insecure-skip-tls-verify"] = true.into(),
        }
        let credentials = std::iter::once(&self.administrator);
        let credentials = credentials.chain(self.users.iter().map(|(_, credential)| credential));
        let user = |(name, credential): (&str, &Credential)| {
            let mut user = credential.to_value();
            user["extensions"] = mark.to_extensions();
            json!({"name": name, "user": user})
        };
        let context = |name: &str| {
            json!({"name": name, "context": {
                "cluster": self.context,
                "user": name,
                "namespace": "default",
                "extensions": mark.to_extensions(),
            }})
        };
        Entries {
            clusters: vec![json!({"name": self.context, "cluster": cluster})],
            contexts: self.names().map(context).collect(),
            users: self.names().zip(credentials).map(user).collect(),
        }
    }
}

// === impl Credential ===

impl Credential {
    fn to_value(&self) -> Value {
        match self {
            Self::None => json!({}),
            Self::Token(token) => json!({"token": token}),
            Self::Certificate(own) => json!({
                "client-certificate-data": STANDARD.encode(own.certificate_pem()),
                "client-key-data": STANDARD.encode(own.key_pem()),
            }),
        }
    }
}

/// Returns the loopback address for "all interfaces", to which a client cannot connect.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
