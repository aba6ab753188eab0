//! Verification of server certificates against a `caBundle` by Go's rules, or none.

use std::sync::Arc;

use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::trust::Trust;

/// Trusts certificates that one of a bundle has signed, and those that are in the bundle themselves.
///
/// The second is what test suites do that make a certificate for a webhook and give it to the API server.
#[derive(Debug)]
pub(super) struct BundleVerifier {
    bundle: Vec<CertificateDer<'static>>,
    /// `None` if nothing in the bundle can sign.
    chains: Option<Arc<WebPkiServerVerifier>>,
    /// True if any certificate is accepted.
    accepts_all: bool,
    provider: Arc<CryptoProvider>,
}

// === impl BundleVerifier ===

impl BundleVerifier {
    /// Parses the PEM certificates in `trust`. Other blocks are skipped.
    pub(super) fn new(trust: Trust<'_>, provider: &Arc<CryptoProvider>) -> Self {
        let ca_bundle = match trust {
            Trust::Bundle(bundle) => bundle,
            Trust::Anyone => &[],
        };
        let bundle: Vec<_> = CertificateDer::pem_slice_iter(ca_bundle)
            .filter_map(Result::ok)
            .collect();
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(bundle.iter().cloned());
        let chains =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        Self {
            bundle,
            chains: chains.build().ok(),
            accepts_all: trust == Trust::Anyone,
            provider: Arc::clone(provider),
        }
    }
}

impl ServerCertVerifier for BundleVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.accepts_all {
            return Ok(ServerCertVerified::assertion());
        }
        if self.bundle.iter().any(|trusted| trusted == end_entity) {
            check_dates_and_usage(end_entity, now)?;
            verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        let Some(chains) = &self.chains else {
            return Err(CertificateError::UnknownIssuer.into());
        };
        chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// Checks that a certificate is valid now, and is one for servers. One without extended usages is for everything.
fn check_dates_and_usage(certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
    let parsed = X509Certificate::from_der(certificate);
    let (_, parsed) = parsed.map_err(|_| CertificateError::BadEncoding)?;
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let validity = parsed.validity();
    if seconds < validity.not_before.timestamp() {
        return Err(CertificateError::NotValidYet.into());
    }
    if seconds > validity.not_after.timestamp() {
        return Err(CertificateError::Expired.into());
    }
    let usage = parsed.extended_key_usage();
    let usage = usage.map_err(|_| CertificateError::BadEncoding)?;
    match usage {
        Some(usage) if !usage.value.any && !usage.value.server_auth => {
            Err(CertificateError::InvalidPurpose.into())
        }
        _ => Ok(()),
    }
}
