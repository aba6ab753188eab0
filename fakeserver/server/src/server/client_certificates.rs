//! Certificates of clients in the TLS handshake: any is accepted, and authentication verifies it later.

use std::sync::Arc;

use fakeserver_kinds::certificates::{
    chain::{Roots, certificate_problem},
    public_key::{self, Curve, Hash, SignatureAlgorithm},
};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    pki_types::{CertificateDer, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
};
use x509_parser::{certificate::X509Certificate, prelude::FromDer};

/// The schemes by which clients may sign the handshake, in the order of Go's preference.
const SCHEMES: [(SignatureScheme, SignatureAlgorithm, Option<Curve>); 10] = [
    (
        SignatureScheme::RSA_PSS_SHA256,
        SignatureAlgorithm::RsaPss(Hash::Sha256),
        None,
    ),
    (
        SignatureScheme::ECDSA_NISTP256_SHA256,
        SignatureAlgorithm::Ecdsa(Hash::Sha256),
        Some(Curve::P256),
    ),
    (SignatureScheme::ED25519, SignatureAlgorithm::Ed25519, None),
    (
        SignatureScheme::RSA_PSS_SHA384,
        SignatureAlgorithm::RsaPss(Hash::Sha384),
        None,
    ),
    (
        SignatureScheme::RSA_PSS_SHA512,
        SignatureAlgorithm::RsaPss(Hash::Sha512),
        None,
    ),
    (
        SignatureScheme::RSA_PKCS1_SHA256,
        SignatureAlgorithm::RsaPkcs1(Hash::Sha256),
        None,
    ),
    (
        SignatureScheme::RSA_PKCS1_SHA384,
        SignatureAlgorithm::RsaPkcs1(Hash::Sha384),
        None,
    ),
    (
        SignatureScheme::RSA_PKCS1_SHA512,
        SignatureAlgorithm::RsaPkcs1(Hash::Sha512),
        None,
    ),
    (
        SignatureScheme::ECDSA_NISTP384_SHA384,
        SignatureAlgorithm::Ecdsa(Hash::Sha384),
        Some(Curve::P384),
    ),
    (
        SignatureScheme::ECDSA_NISTP521_SHA512,
        SignatureAlgorithm::Ecdsa(Hash::Sha512),
        Some(Curve::P521),
    ),
];

/// Requests a client certificate, and accepts any of which the client has the key. An untrusted one is answered with 401, and
/// does not fail the handshake.
#[derive(Debug)]
pub(super) struct HandshakeVerifier {
    /// The names of the authorities, by which clients choose a certificate.
    authorities: Vec<DistinguishedName>,
}

/// A certificate that ends the handshake.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct BadCertificate(&'static str);

// === impl HandshakeVerifier ===

impl HandshakeVerifier {
    pub(super) fn new(roots: &Roots) -> Self {
        let authorities = roots.subjects().into_iter().map(DistinguishedName::from);
        Self {
            authorities: authorities.collect(),
        }
    }
}

impl ClientCertVerifier for HandshakeVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.authorities
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let mut all = intermediates.iter().chain([end_entity]);
        match all.find_map(|certificate| certificate_problem(certificate)) {
            None => Ok(ClientCertVerified::assertion()),
            Some(why) => Err(bad_certificate(why)),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify(message, cert, dss, false)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify(message, cert, dss, true)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        SCHEMES.map(|(scheme, ..)| scheme).into()
    }
}

/// Verifies the signature of a handshake. `names_curve` says whether the scheme names the curve of the key.
fn verify(
    message: &[u8],
    certificate: &CertificateDer<'_>,
    signed: &DigitallySignedStruct,
    names_curve: bool,
) -> Result<HandshakeSignatureValid, Error> {
    let (_, certificate) = X509Certificate::from_der(certificate)
        .map_err(|_| bad_certificate("x509: malformed certificate"))?;
    let key = certificate.public_key();
    let mut schemes = SCHEMES.into_iter();
    let scheme = schemes.find(|(scheme, ..)| *scheme == signed.scheme);
    let is_valid = scheme.is_some_and(|(_, algorithm, curve)| {
        let is_on_curve = !names_curve || curve == public_key::curve_of(key);
        is_on_curve && public_key::verify(key, algorithm, message, signed.signature()).is_ok()
    });
    if is_valid {
        Ok(HandshakeSignatureValid::assertion())
    } else {
        Err(Error::InvalidCertificate(CertificateError::BadSignature))
    }
}

fn bad_certificate(why: &'static str) -> Error {
    let why = OtherError(Arc::new(BadCertificate(why)));
    Error::InvalidCertificate(CertificateError::Other(why))
}
