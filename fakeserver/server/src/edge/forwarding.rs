//! The headers of requests and answers that are forwarded.

use http::{HeaderMap, HeaderName, header};

/// Headers that are of one connection, and those that only this server reads.
const KEPT_BACK: [HeaderName; 10] = [
    header::AUTHORIZATION,
    header::CONNECTION,
    header::HOST,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

/// Returns headers without those of one connection, those that it names, and those that are `private`.
pub fn passed(headers: &HeaderMap, is_private: impl Fn(&str) -> bool) -> HeaderMap {
    let connection = headers.get_all(header::CONNECTION).iter();
    let of_connection: Vec<String> = connection
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let is_kept = !KEPT_BACK.contains(name)
            && !is_private(name.as_str())
            && !of_connection.iter().any(|option| option == name.as_str());
        if is_kept {
            kept.append(name, value.clone());
        }
    }
    kept
}
