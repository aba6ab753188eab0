//! The parts of a request that the proxy reads or removes.

use fakeserver::faults::RequestFacts;
use http::{HeaderMap, Uri, header, uri::PathAndQuery};

/// Headers that are about one connection, and not the next one.
const OF_A_CONNECTION: [header::HeaderName; 7] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Returns whether it is a watch that begins with the existing objects.
pub(super) fn begins_with_state(facts: &RequestFacts) -> bool {
    facts.is_watch_list || matches!(facts.resource_version.as_str(), "" | "0")
}

/// Returns `uri` without the parameters of streaming lists.
pub(super) fn without_watch_list(uri: &Uri) -> Uri {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
        if name != "sendInitialEvents" && name != "resourceVersionMatch" {
            query.append_pair(&name, &value);
        }
    }
    let path = format!("{}?{}", uri.path(), query.finish());
    PathAndQuery::try_from(path).map_or_else(|_| uri.clone(), Uri::from)
}

/// Takes out what is about the connection only, and what goes before the body. What `Connection` names goes too.
pub(super) fn strip(headers: &mut HeaderMap) {
    let named: Vec<String> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    for name in named {
        headers.remove(name.as_str());
    }
    for name in OF_A_CONNECTION {
        headers.remove(name);
    }
    headers.remove("keep-alive");
}
