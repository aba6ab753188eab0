//! The responses to requests for the page and its socket.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{Method, StatusCode, header, request::Parts};
use sha2::{Digest, Sha256};

use super::access::refusal;
use crate::server::assembly::Server;

/// The page with its style and its script in it.
static HTML: LazyLock<String> = LazyLock::new(|| {
    let html = include_str!("page.html");
    let html = html.replacen("<style></style>", &format!("<style>{STYLE}</style>"), 1);
    html.replacen(
        "<script></script>",
        &format!("<script>{SCRIPT}</script>"),
        1,
    )
});
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The `Content-Security-Policy`: only the inline script of the page runs, and connects only to its own server.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let [script, style] =
        [SCRIPT, STYLE].map(|text| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text))));
    format!(
        "default-src 'none'; script-src {script}; style-src {style}; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
});

/// Marks a response that is replaced by opening the page's socket, with the request's parts.
#[derive(Debug, Clone)]
pub(in crate::server) struct LiveFeed(pub(in crate::server) Box<Parts>);

/// Answers `GET /_control/page` and, below it, `/live`. A server without a page has neither.
pub(in crate::server) fn serve(server: &Server, parts: &Parts, below: &str) -> Response {
    let is_socket = match below {
        "" => false,
        "/live" => true,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    if server.page.is_none() {
        let why = "this server has no page; `serve --page` serves one\n";
        return (StatusCode::NOT_FOUND, why).into_response();
    }
    if parts.method != Method::GET {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    if let Some(why) = refusal(&parts.uri, &parts.headers, is_socket) {
        return (StatusCode::FORBIDDEN, format!("{why}\n")).into_response();
    }
    if is_socket {
        let mut response = (StatusCode::UPGRADE_REQUIRED, "this is a WebSocket\n").into_response();
        let feed = LiveFeed(Box::new(parts.clone()));
        response.extensions_mut().insert(feed);
        return response;
    }
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY.as_str()),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, HTML.as_str()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_its_style_and_its_script_and_loads_nothing() {
        assert!(HTML.contains(STYLE) && HTML.contains(SCRIPT));
        for end in ["</style", "</script"] {
            assert_eq!(HTML.matches(end).count(), 1, "{end}");
        }
        for load in ["src=", "href=", "url(", "@import"] {
            assert!(!HTML.contains(load), "{load}");
        }
    }
}
