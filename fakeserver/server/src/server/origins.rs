//! The origins of requests: what browsers send for other sites.
//!
//! A page on the web can send requests to a local server, without asking, and by a name of its own that it binds to the
//! loopback address it can read the answers. With TLS the certificate prevents the latter. Clients other than browsers send
//! no origin, and name the server as their users do.

use std::net::{IpAddr, Ipv4Addr};

use http::{HeaderMap, Uri, header, uri::Authority};

/// Domains that nobody can have on the web.
const PRIVATE_DOMAINS: [&str; 5] = [".localhost", ".internal", ".local", ".svc", ".test"];

/// Marks a request that came over TCP without TLS.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainTcp;

/// Returns the reason why a server without TLS does not answer a request, if there is one.
pub(super) fn refusal(uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
    if host(uri, headers).is_some_and(|host| !is_private(&host)) {
        return Some(
            "without TLS this server is reached by an IP address, as localhost, or by a name of a private network: \
             another site can bind its own names to any address\n",
        );
    }
    let origin = origin_of(headers).and_then(|origin| address(&origin));
    let is_local = origin.is_some_and(|address| address.is_loopback());
    let is_refused = !is_local && is_of_other_site(uri, headers);
    is_refused.then_some("this server answers no page of another site\n")
}

/// Returns whether a browser sends the request on behalf of a page of another site. Clients other than browsers send no
/// origin and no site. A followed link from another site is allowed.
pub(super) fn is_of_other_site(uri: &Uri, headers: &HeaderMap) -> bool {
    if !headers.contains_key(header::ORIGIN) {
        let says = |name: &str, value: &str| headers.get(name).is_some_and(|it| it == value);
        return says("sec-fetch-site", "cross-site") && !says("sec-fetch-mode", "navigate");
    }
    let origin = origin_of(headers);
    origin.is_none() || origin != host(uri, headers)
}

/// Returns the host of the origin that a request names.
fn origin_of(headers: &HeaderMap) -> Option<Authority> {
    let origin = headers.get(header::ORIGIN)?.to_str().ok()?;
    origin.parse::<Uri>().ok()?.into_parts().authority
}

/// Returns the address that a host is, if it is one or localhost.
fn address(host: &Authority) -> Option<IpAddr> {
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    if name.eq_ignore_ascii_case("localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    name.parse().ok()
}

/// Returns the host that a request names: in its target over HTTP/2, in its header else.
pub(super) fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    if let Some(authority) = uri.authority() {
        return Some(authority.clone());
    }
    let host = headers.get(header::HOST)?.to_str().ok()?;
    host.parse().ok()
}

/// Returns whether a host is an IP address or localhost: a name can be bound to any address.
pub(super) fn is_fixed(host: &Authority) -> bool {
    address(host).is_some()
}

/// Returns whether no site on the web can have this host: it is fixed, or its name is one of a private network.
fn is_private(host: &Authority) -> bool {
    let name = host.host().trim_end_matches('.').to_ascii_lowercase();
    let is_below = |domain: &&str| name.ends_with(*domain);
    is_fixed(host) || !name.contains('.') || PRIVATE_DOMAINS.iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        refusal(&Uri::from_static("/"), &headers).is_some()
    }

    #[test]
    fn names_of_the_web_are_refused() {
        for host in [
            "127.0.0.1:1",
            "[::1]:1",
            "10.0.0.1",
            "LOCALHOST",
            "fake:8001",
            "host.docker.internal",
            "kubernetes.default.svc",
            "",
        ] {
            assert!(!refused(host, None), "{host}");
        }
        for host in ["evil.example:8001", "evil.example.", "a.b", "svc.com"] {
            assert!(refused(host, None), "{host}");
        }
    }

    #[test]
    fn origins_are_those_of_the_server() {
        assert!(!refused("127.0.0.1:1", Some("http://127.0.0.1:1")));
        // Pages of this machine are not of the web.
        assert!(!refused("127.0.0.1:1", Some("http://localhost:3000")));
        assert!(!refused("fake:1", Some("http://fake:1")));
        for origin in [
            "http://evil.example",
            "null",
            "http://10.0.0.1",
            "",
            "http://localhost.evil.example",
        ] {
            assert!(refused("127.0.0.1:1", Some(origin)), "{origin}");
        }
        assert!(refused("evil.example", Some("http://evil.example")));
    }

    #[test]
    fn a_request_without_an_origin_may_tell_its_site() {
        let is_of_other = |site: &'static str, mode: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("sec-fetch-site", site.parse().unwrap());
            headers.insert("sec-fetch-mode", mode.parse().unwrap());
            is_of_other_site(&Uri::from_static("/"), &headers)
        };
        assert!(is_of_other("cross-site", "no-cors"));
        assert!(!is_of_other("cross-site", "navigate"));
        assert!(!is_of_other("same-origin", "cors"));
        assert!(!is_of_other_site(&Uri::from_static("/"), &HeaderMap::new()));
    }
}
