//! TLS of calls of other servers.

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{self, CertificateError, crypto::ring, pki_types::ServerName},
};

use super::{bundle::BundleVerifier, error::dial_problem, trust::Trust};

/// Performs a TLS handshake with `name`, whose certificate is verified by `trust`. Errors name the server as
/// `host_and_port`.
///
/// # Cancel safety
///
/// If dropped, the connection is closed.
pub async fn connect(
    stream: TcpStream,
    name: &str,
    trust: Trust<'_>,
    host_and_port: &str,
) -> Result<TlsStream<TcpStream>, String> {
    let server = ServerName::try_from(name.to_owned()).map_err(|error| error.to_string())?;
    let connector = TlsConnector::from(Arc::new(tls_config(trust)));
    let stream = connector.connect(server, stream).await;
    stream.map_err(|error| {
        let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
        tls.map_or_else(
            || dial_problem(host_and_port, &error),
            |error| tls_problem(error, name),
        )
    })
}

/// Returns a configuration that trusts no certificates but those that `trust` names.
fn tls_config(trust: Trust<'_>) -> rustls::ClientConfig {
    let provider = Arc::new(ring::default_provider());
    let verifier = BundleVerifier::new(trust, &provider);
    rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the versions of TLS that are safe")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth()
}

fn tls_problem(error: &rustls::Error, name: &str) -> String {
    let why = match error {
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => "x509: certificate signed by unknown authority".to_owned(),
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!("x509: certificate is not valid for {name}"),
        rustls::Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => "x509: certificate has expired or is not yet valid".to_owned(),
        rustls::Error::InvalidCertificate(
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. },
        ) => "x509: certificate specifies an incompatible key usage".to_owned(),
        other => return format!("tls: {other}"),
    };
    format!("tls: failed to verify certificate: {why}")
}
