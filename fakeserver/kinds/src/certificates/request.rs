//! Requests to sign certificates, as a signer reads them: PKCS#10 in PEM.

use std::net::IpAddr;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{SanType, SubjectPublicKeyInfo};
use x509_parser::{
    certification_request::X509CertificationRequest,
    extensions::{GeneralName, ParsedExtension},
    pem::parse_x509_pem,
    prelude::FromDer as _,
};

use super::name::{Failure, Subject};

/// A request to sign a certificate. Its signature is not checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificateRequest {
    pub subject: Subject,
    pub dns_names: Vec<String>,
    pub emails: Vec<String>,
    pub addresses: Vec<IpAddr>,
    pub uris: Vec<String>,
    der: Vec<u8>,
}

// === impl CertificateRequest ===

impl CertificateRequest {
    /// Reads `spec.request`: PEM, in base64.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text).ok()?;
        let (_, block) = parse_x509_pem(&bytes).ok()?;
        let is_request = block.label == "CERTIFICATE REQUEST";
        Self::from_der(block.contents).filter(|_| is_request)
    }

    fn from_der(der: Vec<u8>) -> Option<Self> {
        let (rest, parsed) = X509CertificationRequest::from_der(&der).ok()?;
        if !rest.is_empty() {
            return None;
        }
        let mut request = Self {
            subject: Subject::read(&parsed.certification_request_info.subject),
            ..Self::default()
        };
        for extension in parsed.requested_extensions().into_iter().flatten() {
            if let ParsedExtension::SubjectAlternativeName(names) = extension {
                for name in &names.general_names {
                    request.add_name(name)?;
                }
            }
        }
        request.der = der;
        Some(request)
    }

    /// Returns the key, if the request was signed with it.
    pub(super) fn checked_key(&self) -> Result<SubjectPublicKeyInfo, Failure> {
        let (_, parsed) = X509CertificationRequest::from_der(&self.der)?;
        parsed.verify_signature()?;
        let key = parsed.certification_request_info.subject_pki.raw;
        Ok(SubjectPublicKeyInfo::from_der(key)?)
    }

    /// Returns the alternative names, in the order in which a certificate has them.
    pub(super) fn alternative_names(&self) -> Result<Vec<SanType>, Failure> {
        let mut names = Vec::new();
        for name in &self.dns_names {
            names.push(SanType::DnsName(name.as_str().try_into()?));
        }
        for email in &self.emails {
            names.push(SanType::Rfc822Name(email.as_str().try_into()?));
        }
        names.extend(self.addresses.iter().copied().map(SanType::IpAddress));
        for uri in &self.uris {
            names.push(SanType::URI(uri.as_str().try_into()?));
        }
        Ok(names)
    }

    /// Adds an alternative name, if it is of a type that certificates get. Returns `None` for one that cannot be read.
    fn add_name(&mut self, name: &GeneralName<'_>) -> Option<()> {
        match name {
            GeneralName::DNSName(name) => self.dns_names.push((*name).to_owned()),
            GeneralName::RFC822Name(email) => self.emails.push((*email).to_owned()),
            GeneralName::URI(uri) => self.uris.push((*uri).to_owned()),
            GeneralName::IPAddress(bytes) => self.addresses.push(address(bytes)?),
            GeneralName::Invalid(..) => return None,
            _ => {}
        }
        Some(())
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .ok()
}
