//! Subjects of client certificates: the common name is the user, the organizations are the groups.

use std::error::Error;

use rcgen::{CertifiedIssuer, KeyPair, SigningKey};
use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::{
    asn1_rs::{Any, BitString, FromDer, Oid, Sequence, Set, ToDer, Utf8String},
    oid_registry::{OID_X509_COMMON_NAME, OID_X509_ORGANIZATION_NAME},
    parse_x509_certificate,
    x509::AttributeTypeAndValue,
};

use crate::value::user::UserInfo;

type Failure = Box<dyn Error + Send + Sync>;

/// The user whom `certificate` names.
pub(super) fn user_of(certificate: &CertificateDer<'_>) -> Option<UserInfo> {
    fn text<'a>(part: &'a AttributeTypeAndValue<'_>) -> Option<&'a str> {
        part.as_str().ok()
    }
    let (_, certificate) = parse_x509_certificate(certificate).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next().and_then(text)?;
    let groups = subject.iter_organization().filter_map(text);
    Some(UserInfo::new(name).with_groups(groups))
}

/// Returns `certificate` with `user` for its subject, signed again.
///
/// The library that generates certificates supports one organization in a name, and a user has one for each group.
pub(super) fn rename(
    certificate: &CertificateDer<'_>,
    user: &UserInfo,
    authority: &CertifiedIssuer<'static, KeyPair>,
) -> Result<Vec<u8>, Failure> {
    let (_, parsed) = parse_x509_certificate(certificate)?;
    let (_, signed) = Sequence::from_der(parsed.tbs_certificate.as_ref())?;
    let subject = parsed.subject().as_raw();
    let at = (signed.content.windows(subject.len()))
        .position(|part| part == subject)
        .ok_or("the certificate has no subject")?;
    let mut content = signed.content[..at].to_vec();
    content.extend(name(user)?);
    content.extend(&signed.content[at + subject.len()..]);
    let mut renamed = Sequence::new(content.into()).to_der_vec()?;

    // A certificate is what is signed, how, and the signature.
    let (_, whole) = Sequence::from_der(certificate)?;
    let behind = &whole.content[parsed.tbs_certificate.as_ref().len()..];
    let (rest, _) = Any::from_der(behind)?;
    let signature = authority.key().sign(&renamed)?;
    renamed.extend(&behind[..behind.len() - rest.len()]);
    renamed.extend(BitString::new(0, &signature).to_der_vec()?);
    Ok(Sequence::new(renamed.into()).to_der_vec()?)
}

fn name(user: &UserInfo) -> Result<Vec<u8>, Failure> {
    let mut parts = Vec::new();
    for group in user.groups() {
        parts.extend(part(&OID_X509_ORGANIZATION_NAME, group)?);
    }
    parts.extend(part(&OID_X509_COMMON_NAME, user.name())?);
    Ok(Sequence::new(parts.into()).to_der_vec()?)
}

fn part(kind: &Oid<'_>, text: &str) -> Result<Vec<u8>, Failure> {
    let mut pair = kind.to_der_vec()?;
    pair.extend(Utf8String::from(text).to_der_vec()?);
    let pair = Sequence::new(pair.into()).to_der_vec()?;
    Ok(Set::new(pair.into()).to_der_vec()?)
}
