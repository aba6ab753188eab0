//! A certificate authority, and the certificates that it signs.

use std::{fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_value::user::UserInfo;
use jiff::Timestamp;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use x509_parser::{pem::parse_x509_pem, prelude::ASN1Time};

use super::{
    name::{self, Failure},
    request::CertificateRequest,
};

/// A certificate authority. Its key comes from the operating system's randomness, and never from a seed.
///
/// Clones share the key.
#[derive(Clone)]
pub struct Authority(Arc<CertifiedIssuer<'static, KeyPair>>);

/// The contents of a certificate that do not follow from its request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The usages in the words of the API.
    pub usages: Vec<String>,
    pub not_before: Timestamp,
    pub not_after: Timestamp,
}

// === impl Authority ===

impl Authority {
    /// Creates an authority that signs certificates of servers and clients, but not of other authorities.
    pub fn new() -> Result<Self, rcgen::Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name = named("fakeserver-ca");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        Ok(Self(Arc::new(issuer)))
    }

    /// Returns the certificate of the authority.
    pub fn der(&self) -> &[u8] {
        self.0.der()
    }

    /// Returns the certificate of the authority, which clients have to trust.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Creates the certificate of a server that is called `names`, and its key.
    pub fn server(
        &self,
        names: Vec<String>,
        common_name: &str,
    ) -> Result<(Certificate, KeyPair), rcgen::Error> {
        let mut params = CertificateParams::new(names)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.end_entity(params, common_name)
    }

    /// Creates a certificate that names `user`, in PEM, and its key.
    pub fn client(&self, user: &UserInfo) -> Result<(String, KeyPair), Failure> {
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let (certificate, key) = self.end_entity(params, "client")?;
        let certificate = name::rename(certificate.der(), &name::of_user(user)?, &self.0)?;
        Ok((pem(&certificate), key))
    }

    /// Signs a request, and returns the certificate in PEM. `serial` distinguishes it from others.
    ///
    /// The certificate has the subject, the alternative names and the key of the request, and no other extensions.
    pub fn sign(
        &self,
        request: &CertificateRequest,
        terms: &Terms,
        serial: u128,
    ) -> Result<String, Failure> {
        let key = request.checked_key()?;
        let mut params = CertificateParams::default();
        // A placeholder, in whose place the subject of the request is written below.
        params.distinguished_name = if request.subject.is_empty() {
            DistinguishedName::new()
        } else {
            named("client")
        };
        params.serial_number = Some(serial.to_be_bytes().to_vec().into());
        params.subject_alt_names = request.alternative_names()?;
        params.is_ca = IsCa::ExplicitNoCa;
        params.use_authority_key_identifier_extension = true;
        params.not_before = ASN1Time::from_timestamp(terms.not_before.as_second())?.to_datetime();
        params.not_after = ASN1Time::from_timestamp(terms.not_after.as_second())?.to_datetime();
        for usage in &terms.usages {
            match key_usage(usage) {
                Some(usage) if params.key_usages.contains(&usage) => {}
                Some(usage) => params.key_usages.push(usage),
                None => {
                    let usage = extended_usage(usage)
                        .ok_or_else(|| format!("unrecognized usage value: {usage:?}"))?;
                    params.insert_extended_key_usage(usage);
                }
            }
        }
        let certificate = params.signed_by(&key, &self.0)?;
        if request.subject.is_empty() {
            return Ok(certificate.pem());
        }
        let subject = request.subject.to_der()?;
        Ok(pem(&name::rename(certificate.der(), &subject, &self.0)?))
    }

    fn end_entity(
        &self,
        mut params: CertificateParams,
        common_name: &str,
    ) -> Result<(Certificate, KeyPair), rcgen::Error> {
        params.distinguished_name = named(common_name);
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        Ok((params.signed_by(&key, &self.0)?, key))
    }
}

impl PartialEq for Authority {
    fn eq(&self, other: &Self) -> bool {
        self.der() == other.der()
    }
}

impl Eq for Authority {}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The private key must not reach a log.
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

/// Returns the time after which the first certificate in a PEM is not valid any more.
pub fn expiry(pem: &[u8]) -> Option<Timestamp> {
    let (_, block) = parse_x509_pem(pem).ok()?;
    let certificate = block.parse_x509().ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}

fn named(common_name: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    name
}

fn key_usage(usage: &str) -> Option<KeyUsagePurpose> {
    Some(match usage {
        "signing" | "digital signature" => KeyUsagePurpose::DigitalSignature,
        "content commitment" => KeyUsagePurpose::ContentCommitment,
        "key encipherment" => KeyUsagePurpose::KeyEncipherment,
        "key agreement" => KeyUsagePurpose::KeyAgreement,
        "data encipherment" => KeyUsagePurpose::DataEncipherment,
        "cert sign" => KeyUsagePurpose::KeyCertSign,
        "crl sign" => KeyUsagePurpose::CrlSign,
        "encipher only" => KeyUsagePurpose::EncipherOnly,
        "decipher only" => KeyUsagePurpose::DecipherOnly,
        _ => return None,
    })
}

fn extended_usage(usage: &str) -> Option<ExtendedKeyUsagePurpose> {
    let internet = |last| ExtendedKeyUsagePurpose::Other(vec![1, 3, 6, 1, 5, 5, 7, 3, last]);
    Some(match usage {
        "any" => ExtendedKeyUsagePurpose::Any,
        "server auth" => ExtendedKeyUsagePurpose::ServerAuth,
        "client auth" => ExtendedKeyUsagePurpose::ClientAuth,
        "code signing" => ExtendedKeyUsagePurpose::CodeSigning,
        "email protection" | "s/mime" => ExtendedKeyUsagePurpose::EmailProtection,
        "ipsec end system" => internet(5),
        "ipsec tunnel" => internet(6),
        "ipsec user" => internet(7),
        "timestamping" => ExtendedKeyUsagePurpose::TimeStamping,
        "ocsp signing" => ExtendedKeyUsagePurpose::OcspSigning,
        "microsoft sgc" => ExtendedKeyUsagePurpose::Other(vec![1, 3, 6, 1, 4, 1, 311, 10, 3, 3]),
        "netscape sgc" => ExtendedKeyUsagePurpose::Other(vec![2, 16, 840, 1, 113_730, 4, 1]),
        _ => return None,
    })
}

/// Returns a certificate as text, in lines of 64 characters.
fn pem(certificate: &[u8]) -> String {
    let encoded = STANDARD.encode(certificate);
    let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
    for (index, character) in encoded.chars().enumerate() {
        if index > 0 && index % 64 == 0 {
            text.push('\n');
        }
        text.push(character);
    }
    text.push_str("\n-----END CERTIFICATE-----\n");
    text
}
