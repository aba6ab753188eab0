//! A client that suits informers.

use kube::{Client, Config};

/// A client for `config` without kube's own retry layer and without a read timeout.
///
/// The retry layer repeats a failed request up to 15 times before it reports the failure, which hides an outage for
/// minutes; an informer backs off by itself, and reports. A read timeout would end every watch that is quiet for so
/// long; an informer has its own deadline for each list, for each response's headers and for each silent stream.
/// Everything else in `config` holds: address, TLS, authentication, proxy, connect timeout.
///
/// # Errors
///
/// Those of kube: a bad certificate, a missing authentication plugin and the like. Trying again helps only once the
/// configuration has changed.
///
/// # Panics
///
/// Outside a tokio runtime: kube starts its connection task here.
pub fn client(mut config: Config) -> Result<Client, kube::Error> {
    config.default_retry = false;
    config.read_timeout = None;
    Client::try_from(config)
}
