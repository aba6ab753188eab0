//! The content of certificates and of requests for them.

use x509_parser::{
    asn1_rs::FromDer, certificate::X509Certificate,
    certification_request::X509CertificationRequest, error::X509Error, nom,
};

use super::public_key::{self, SignatureAlgorithm, SignatureError};

/// Returns the problem of a request in DER, whose signature has to be by its own key.
pub(super) fn request_problem(der: &[u8]) -> Option<String> {
    let (rest, request) = match X509CertificationRequest::from_der(der) {
        Ok(read) => read,
        Err(error) => return Some(asn1_problem(&error)),
    };
    if !rest.is_empty() {
        return Some("asn1: syntax error: trailing data".to_owned());
    }
    let info = &request.certification_request_info;
    let verified = SignatureAlgorithm::read(&request.signature_algorithm).and_then(|algorithm| {
        let signature = &request.signature_value.data;
        public_key::verify(&info.subject_pki, algorithm, info.raw, signature)
    });
    match verified {
        // SHA-1 is accepted in requests, and not computed here.
        Ok(()) | Err(SignatureError::Insecure("SHA1-RSA" | "ECDSA-SHA1")) => None,
        Err(error) => Some(error.to_string()),
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

/// Returns why a certificate in DER is not one of an authority, if it is not.
pub(super) fn authority_problem(der: &[u8]) -> Option<&'static str> {
    match X509Certificate::from_der(der) {
        Ok(([], certificate)) => (!certificate.is_ca()).then_some("does not have the CA bit set"),
        _ => Some("does not parse as X.509"),
    }
}

/// Returns the seconds since the epoch between which a certificate in DER is valid; `None` if it cannot be read.
pub(super) fn validity(der: &[u8]) -> Option<(i64, i64)> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let validity = certificate.validity();
    Some((
        validity.not_before.timestamp(),
        validity.not_after.timestamp(),
    ))
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
