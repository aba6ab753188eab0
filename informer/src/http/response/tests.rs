//! Tests of reading failures: refused connections, `Retry-After` in both its forms.

use std::{io, time::Duration};

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{retry_after, transport_error};
use crate::list_watch::ListWatchError;

fn check_retry_after(headers: &[(&'static str, &str)], expected_seconds: Option<u64>) {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_str(value).unwrap(),
            )
        })
        .collect();
    assert_eq!(
        retry_after(&headers),
        expected_seconds.map(Duration::from_secs),
        "{headers:?}"
    );
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    const DATE: (&str, &str) = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
    check_retry_after(&[], None);
    check_retry_after(&[("retry-after", "3")], Some(3));
    check_retry_after(&[("retry-after", " 3 ")], Some(3));
    check_retry_after(
        &[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"), DATE],
        Some(30),
    );
    check_retry_after(
        &[("retry-after", "Wed, 21 Oct 2026 07:27:00 GMT"), DATE],
        None,
    );
    check_retry_after(&[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")], None);
    check_retry_after(&[("retry-after", "-1")], None);
    check_retry_after(&[("retry-after", "soon"), DATE], None);
}

/// An error that wraps another, as every layer of a client does.
#[derive(Debug, thiserror::Error)]
#[error("a layer")]
struct Layer(#[source] Box<dyn std::error::Error + Send + Sync>);

#[test]
fn a_refused_connection_is_found_at_the_bottom_of_the_chain() {
    let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
    let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
    let classify = |error: Box<dyn std::error::Error + Send + Sync>| {
        let error = transport_error(kube::Error::Service(error));
        (
            error.is_refused(),
            matches!(error, ListWatchError::Transport(_)),
        )
    };
    assert_eq!(classify(refused().into()), (true, false));
    assert_eq!(classify(Layer(refused().into()).into()), (true, false));
    assert_eq!(
        classify(Layer(io::Error::other(Layer(refused().into())).into()).into()),
        (true, false)
    );
    assert_eq!(classify(Layer(reset().into()).into()), (false, true));
    assert_eq!(classify("something else".into()), (false, true));
}
