//! The content of certificates and of requests for them.

use x509_parser::{
    asn1_rs::FromDer,
    certificate::X509Certificate,
    certification_request::X509CertificationRequest,
    error::X509Error,
    nom,
    oid_registry::{OID_KEY_TYPE_EC_PUBLIC_KEY, OID_PKCS1_RSAENCRYPTION, OID_SIG_ED25519},
    public_key::PublicKey,
};

/// The shortest key whose signatures the library verifies.
const RSA_BITS_MIN: usize = 2048;

/// Returns the problem of a request in DER, whose signature has to be by its own key. The algorithms that the library does
/// not implement are accepted unread.
pub(super) fn request_problem(der: &[u8]) -> Option<String> {
    let (rest, request) = match X509CertificationRequest::from_der(der) {
        Ok(read) => read,
        Err(error) => return Some(asn1_problem(&error)),
    };
    if !rest.is_empty() {
        return Some("asn1: syntax error: trailing data".to_owned());
    }
    let key = &request.certification_request_info.subject_pki;
    if let Ok(PublicKey::RSA(key)) = key.parsed()
        && key.key_size() < RSA_BITS_MIN
    {
        return None;
    }
    match request.verify_signature() {
        Err(X509Error::SignatureVerificationError) => {
            let kind = &key.algorithm.algorithm;
            let why = if *kind == OID_PKCS1_RSAENCRYPTION {
                "crypto/rsa: verification error"
            } else if *kind == OID_KEY_TYPE_EC_PUBLIC_KEY {
                "x509: ECDSA verification failure"
            } else if *kind == OID_SIG_ED25519 {
                "x509: Ed25519 verification failure"
            } else {
                return None;
            };
            Some(why.to_owned())
        }
        Ok(()) | Err(_) => None,
    }
}

/// Returns the problem of certificates in DER, one after the other.
pub(super) fn certificates_problem(mut der: &[u8]) -> Option<&'static str> {
    if der.is_empty() {
        return Some("found CERTIFICATE PEM block containing 0 certificates");
    }
    while !der.is_empty() {
        match X509Certificate::from_der(der) {
            Ok((rest, _)) => der = rest,
            Err(_) => return Some("x509: malformed certificate"),
        }
    }
    None
}

fn asn1_problem(error: &nom::Err<X509Error>) -> String {
    match error {
        nom::Err::Incomplete(_)
        | nom::Err::Error(X509Error::NomError(nom::error::ErrorKind::Eof)) => {
            "asn1: syntax error: data truncated".to_owned()
        }
        nom::Err::Error(error) | nom::Err::Failure(error) => {
            format!("asn1: structure error: {error}")
        }
    }
}
