//! The file that tells kubectl and client libraries where the server is, and who they are.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::ClientCertificate;

/// What is true of a server as its clients see it.
#[derive(Debug)]
pub(super) struct Kubeconfig {
    /// Where it listens.
    pub(super) address: SocketAddr,
    /// The authority that clients have to trust, if the server speaks TLS.
    pub(super) authority_pem: Option<String>,
    /// Who its user is unless another is asked for.
    pub(super) administrator: Credential,
    /// Further users, each with a context of his name.
    pub(super) users: Vec<(String, Credential)>,
}

/// What a client shows.
#[derive(Debug)]
pub(super) enum Credential {
    None,
    Token(String),
    Certificate(ClientCertificate),
}

/// The name of cluster, context and user.
const NAME: &str = "fakeserver";

// === impl Kubeconfig ===

impl Kubeconfig {
    /// Where clients find the server.
    pub(super) fn url(&self) -> String {
        format!("{}://{}", self.scheme(), reachable(self.address))
    }

    /// How it begins.
    pub(super) fn scheme(&self) -> &'static str {
        match self.authority_pem {
            Some(_) => "https",
            None => "http",
        }
    }

    /// Writes the file, for this user alone, and all of it or nothing.
    pub(super) fn write(&self, file: &Path) -> Result<(), String> {
        self.replace(file)
            .map_err(|error| format!("cannot write the kubeconfig {}: {error}", file.display()))
    }

    fn replace(&self, file: &Path) -> io::Result<()> {
        let directory = match file.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        // Only its owner can read a temporary file.
        let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
        temporary.write_all(self.text().as_bytes())?;
        temporary.persist(file)?;
        Ok(())
    }

    fn text(&self) -> String {
        // Without TLS there is nothing to verify; some clients take plain HTTP only where that is said.
        let trust = match &self.authority_pem {
            Some(pem) => format!("certificate-authority-data: {}", STANDARD.encode(pem)),
            None => "insecure-skip-tls-verify: true".to_owned(),
        };
        let url = self.url();
        let mut users = format!("- name: {NAME}\n{}", self.administrator.text());
        let mut contexts = context(NAME);
        for (name, credential) in &self.users {
            let name = quoted(name);
            let _ = write!(users, "- name: {name}\n{}", credential.text());
            contexts.push_str(&context(&name));
        }
        format!(
            "apiVersion: v1
kind: Config
current-context: {NAME}
clusters:
- name: {NAME}
  cluster:
    server: {url}
    {trust}
users:
{users}contexts:
{contexts}"
        )
    }
}

// === impl Credential ===

impl Credential {
    fn text(&self) -> String {
        match self {
            Self::None => "  user: {}\n".to_owned(),
            Self::Token(token) => format!("  user:\n    token: {}\n", quoted(token)),
            Self::Certificate(own) => format!(
                "  user:\n    client-certificate-data: {}\n    client-key-data: {}\n",
                STANDARD.encode(own.certificate_pem()),
                STANDARD.encode(own.key_pem())
            ),
        }
    }
}

/// The context of a user, by his name as YAML.
fn context(user: &str) -> String {
    format!(
        "- name: {user}
  context:
    cluster: {NAME}
    user: {user}
    namespace: default
"
    )
}

/// A text of JSON is one of YAML too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kubeconfig(address: &str) -> Kubeconfig {
        Kubeconfig {
            address: address.parse().unwrap(),
            authority_pem: None,
            administrator: Credential::None,
            users: Vec::new(),
        }
    }

    #[test]
    fn a_server_on_all_interfaces_is_reached_by_loopback() {
        let config = kubeconfig("0.0.0.0:8001").text();
        assert!(
            config.contains("server: http://127.0.0.1:8001\n"),
            "{config}"
        );
        let config = kubeconfig("[::]:8001").text();
        assert!(config.contains("server: http://[::1]:8001\n"), "{config}");
    }

    #[test]
    fn clients_that_insist_on_tls_are_told_that_there_is_none() {
        let config = kubeconfig("127.0.0.1:8001").text();
        let cluster = "server: http://127.0.0.1:8001\n    insecure-skip-tls-verify: true\n";
        assert!(config.contains(cluster), "{config}");
    }

    #[test]
    fn each_user_has_a_context() {
        let mut config = kubeconfig("127.0.0.1:8001");
        config.administrator = Credential::Token("a".to_owned());
        let jane = ("jane: \"j\"".to_owned(), Credential::Token("#t".to_owned()));
        config.users.push(jane);
        let config: serde_json::Value = serde_saphyr::from_str(&config.text()).unwrap();
        assert_eq!(config["users"][0]["user"]["token"], "a");
        assert_eq!(config["users"][1]["name"], "jane: \"j\"");
        assert_eq!(config["users"][1]["user"]["token"], "#t");
        assert_eq!(config["contexts"][0]["name"], "fakeserver");
        assert_eq!(config["contexts"][1]["context"]["user"], "jane: \"j\"");
        assert_eq!(config["current-context"], "fakeserver");
    }

    #[test]
    fn the_file_is_its_owners_alone_and_written_as_a_whole() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config");
        std::fs::write(&file, "old").unwrap();
        kubeconfig("127.0.0.1:1").write(&file).unwrap();
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let written = std::fs::read_to_string(&file).unwrap();
        assert_eq!(written, kubeconfig("127.0.0.1:1").text());
        let left = std::fs::read_dir(directory.path()).unwrap().count();
        assert_eq!(left, 1, "nothing is left beside it");
        let nowhere = directory.path().join("no/such/config");
        let error = kubeconfig("127.0.0.1:1").write(&nowhere).unwrap_err();
        assert!(error.starts_with("cannot write the kubeconfig"), "{error}");
    }
}
