//! The issuer of tokens of service accounts, and its public keys: others verify tokens with them.

use axum::response::{IntoResponse as _, Response};
use http::{Method, header, request::Parts};
use serde_json::{Value, json};

use crate::edge::authentication::Authenticator;

const CONFIGURATION: &str = "/.well-known/openid-configuration";
const KEYS: &str = "/openid/v1/jwks";

/// Answers a request for one of both documents. They are there if the server was given keys, and if it has an issuer that
/// is a URL.
pub(super) fn serve(authenticator: &Authenticator, parts: &Parts) -> Option<Response> {
    let signer = authenticator.signer();
    let keys = signer.keys()?;
    if parts.method != Method::GET || !signer.issuer().starts_with("https://") {
        return None;
    }
    match parts.uri.path() {
        CONFIGURATION => {
            let host = parts
                .headers
                .get(header::HOST)
                .and_then(|host| host.to_str().ok());
            let host = host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
            let document = json!({
                "issuer": signer.issuer(),
                "jwks_uri": format!("https://{}{KEYS}", host.unwrap_or_default()),
                "response_types_supported": ["id_token"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": keys.algorithms(),
            });
            Some(document_of("application/json", &document))
        }
        KEYS => Some(document_of("application/jwk-set+json", &keys.web_keys())),
        _ => None,
    }
}

fn document_of(media_type: &'static str, document: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, document.to_string()).into_response()
}
