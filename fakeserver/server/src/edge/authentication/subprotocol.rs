//! Tokens in WebSocket subprotocols, which are the only header that a browser can set there.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, header};

/// The prefix of the token in a protocol's name. It names no protocol that is spoken.
const BEARER_PREFIX: &str = "base64url.bearer.authorization.k8s.io.";

/// Returns the subprotocols that a client offers, without those that carry a token.
pub fn spoken(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    offered(headers).filter(|protocol| !protocol.starts_with(BEARER_PREFIX))
}

/// Returns the token among the client's subprotocols. It is empty, and so invalid, if it cannot be decoded or if no
/// other subprotocol is offered.
pub(super) fn token(headers: &HeaderMap) -> Option<String> {
    let encoded = offered(headers).find_map(|protocol| protocol.strip_prefix(BEARER_PREFIX))?;
    let decoded = URL_SAFE_NO_PAD.decode(encoded).unwrap_or_default();
    let token = String::from_utf8(decoded).unwrap_or_default();
    let is_answerable = spoken(headers).next().is_some();
    Some(if is_answerable { token } else { String::new() })
}

fn offered(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::SEC_WEBSOCKET_PROTOCOL)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .filter(|protocol| !protocol.is_empty())
}
