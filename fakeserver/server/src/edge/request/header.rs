//! Headers of requests as text.

use http::{HeaderMap, HeaderName};

/// Returns the first value of a header, or an empty string if there is none or it is not text.
pub(crate) fn header_text(headers: &HeaderMap, name: HeaderName) -> &str {
    let value = headers.get(name);
    value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}
