//! The file that tells kubectl and client libraries where the server is.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

/// Writes a kubeconfig with one context for the server at `address`.
pub(super) fn write(file: &Path, address: SocketAddr) -> Result<(), String> {
    fs::write(file, kubeconfig(address))
        .map_err(|error| format!("cannot write the kubeconfig {}: {error}", file.display()))
}

fn kubeconfig(address: SocketAddr) -> String {
    // Without TLS there is nothing to verify; some clients take plain HTTP only where that is said.
    let address = reachable(address);
    format!(
        "apiVersion: v1
kind: Config
current-context: fakeserver
clusters:
- name: fakeserver
  cluster:
    server: http://{address}
    insecure-skip-tls-verify: true
users:
- name: fakeserver
  user: {{}}
contexts:
- name: fakeserver
  context:
    cluster: fakeserver
    user: fakeserver
    namespace: default
"
    )
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

    #[test]
    fn a_server_on_all_interfaces_is_reached_by_loopback() {
        let config = kubeconfig("0.0.0.0:8001".parse().unwrap());
        assert!(
            config.contains("server: http://127.0.0.1:8001\n"),
            "{config}"
        );
        let config = kubeconfig("[::]:8001".parse().unwrap());
        assert!(config.contains("server: http://[::1]:8001\n"), "{config}");
    }

    #[test]
    fn clients_that_insist_on_tls_are_told_that_there_is_none() {
        let config = kubeconfig("127.0.0.1:8001".parse().unwrap());
        let cluster = "server: http://127.0.0.1:8001\n    insecure-skip-tls-verify: true\n";
        assert!(config.contains(cluster), "{config}");
    }
}
