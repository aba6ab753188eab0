//! Chains of client certificates, verified as Go's `crypto/x509` and the x509 authenticator of kube-apiserver do.
//!
//! Their rules differ from those of browsers: a certificate of version 1 and one with `CA:TRUE` are clients like others, a
//! certificate that is itself trusted needs no issuer, and key usages of clients do not matter, but extended ones do.

mod name_constraints;
#[cfg(test)]
mod tests;

use fakeserver_value::user::UserInfo;
use jiff::Timestamp;
use x509_parser::{
    certificate::X509Certificate,
    extensions::{GeneralName, ParsedExtension},
    prelude::FromDer,
    time::ASN1Time,
    utils::format_serial,
    x509::X509Version,
};

use super::{
    name::{common_name, text_of, user_of},
    public_key::{self, SignatureAlgorithm, SignatureError},
};

/// The number of signatures that are verified for one certificate.
const SIGNATURES_MAX: usize = 100;

/// Certificates by which those of clients are verified.
#[derive(Clone, Debug, Default)]
pub struct Roots(Vec<Vec<u8>>);

/// A certificate that is not accepted, in the words of Go's `crypto/x509`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ChainError {
    #[error("x509: unhandled critical extension")]
    UnhandledExtension,
    #[error("x509: {0}")]
    Malformed(&'static str),
    #[error(
        "x509: certificate has expired or is not yet valid: current time {now} is {side} {limit}"
    )]
    Expired {
        now: Timestamp,
        side: &'static str,
        limit: Timestamp,
    },
    #[error("x509: certificate is not authorized to sign other certificates")]
    NotAuthorizedToSign,
    #[error("x509: invalid signature: parent certificate cannot sign this kind of certificate")]
    CannotSign,
    #[error("x509: too many intermediates for path length constraint")]
    TooManyIntermediates,
    #[error("x509: certificate specifies an incompatible key usage")]
    IncompatibleUsage,
    #[error(
        "x509: a root or intermediate certificate is not authorized to sign for this name: {0}"
    )]
    Name(String),
    #[error("x509: signature check attempts limit reached while verifying certificate chain")]
    SignatureLimit,
    #[error("{0}")]
    Signature(#[from] SignatureError),
    #[error("x509: certificate signed by unknown authority")]
    UnknownAuthority,
    #[error(
        "x509: certificate signed by unknown authority (possibly because of {why:?} while trying to verify candidate \
         authority certificate {candidate:?})"
    )]
    RefusedAuthority { why: String, candidate: String },
}

/// The place of a certificate in a chain above its first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Root,
    Intermediate,
}

/// A certificate with those extensions that matter.
struct Certificate<'a> {
    parsed: X509Certificate<'a>,
    is_ca: Option<bool>,
    path_length: Option<u32>,
    may_sign: bool,
    /// True if clients may use it.
    is_for_clients: bool,
    subject_key: Option<&'a [u8]>,
    authority_key: Option<&'a [u8]>,
    has_unhandled: bool,
}

/// The search for chains from one certificate to a root.
struct Search<'a> {
    roots: &'a [Certificate<'a>],
    intermediates: &'a [Certificate<'a>],
    now: Timestamp,
    signatures: usize,
}

type Chain<'a> = Vec<&'a Certificate<'a>>;

/// Returns why a certificate cannot be read, if it cannot, or why a client cannot sign with its key.
pub fn certificate_problem(der: &[u8]) -> Option<&'static str> {
    match X509Certificate::from_der(der) {
        Ok((rest, _)) if !rest.is_empty() => Some("x509: trailing data"),
        Ok((_, parsed)) if !public_key::is_supported(parsed.public_key()) => {
            Some("tls: client certificate contains an unsupported public key")
        }
        Ok(_) => None,
        Err(_) => Some("x509: malformed certificate"),
    }
}

/// Returns why a certificate that was valid up to `not_after` is not accepted at `now`.
pub fn expired(now: Timestamp, not_after: Timestamp) -> String {
    let expired = ChainError::Expired {
        now: whole(now),
        side: "after",
        limit: not_after,
    };
    expired.to_string()
}

fn at(time: &ASN1Time) -> Timestamp {
    Timestamp::from_second(time.timestamp()).unwrap_or(Timestamp::MAX)
}

/// Returns a time without the part of its second.
fn whole(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}

// === impl Roots ===

impl Roots {
    /// Adds a certificate in DER.
    ///
    /// # Errors
    ///
    /// Go refuses to read it, for a reason in Go's words. Retrying does not help.
    pub fn add(&mut self, der: Vec<u8>) -> Result<(), String> {
        Certificate::read(&der).map_err(|error| error.to_string())?;
        self.0.push(der);
        Ok(())
    }

    /// Returns the subjects in DER, each with its outer sequence.
    pub fn subjects(&self) -> Vec<Vec<u8>> {
        let certificates = self.0.iter().filter_map(|der| {
            let (_, parsed) = X509Certificate::from_der(der).ok()?;
            Some(parsed.subject().as_raw().to_vec())
        });
        certificates.collect()
    }

    /// Returns the user whom the first of `presented` names, if it leads to a root at `now`, and the time up to which it does;
    /// `None` if it names nobody.
    ///
    /// # Errors
    ///
    /// The certificate is not accepted, for a reason in Go's words. Retrying does not help.
    pub fn user(
        &self,
        presented: &[&[u8]],
        now: Timestamp,
    ) -> Result<Option<(UserInfo, Timestamp)>, String> {
        let Some((own, intermediates)) = presented.split_first() else {
            return Ok(None);
        };
        let read = |der| Certificate::read(der).map_err(|error| error.to_string());
        let own = read(own)?;
        let roots: Result<Vec<_>, _> = self.0.iter().map(|der| read(der)).collect();
        let intermediates: Result<Vec<_>, _> = intermediates.iter().map(|der| read(der)).collect();
        let (roots, intermediates) = (roots?, intermediates?);
        let mut search = Search {
            roots: &roots,
            intermediates: &intermediates,
            now,
            signatures: 0,
        };
        let verified = search.verify(&own);
        let not_after = verified
            .map_err(|error| format!("verifying certificate {} failed: {error}", own.id()))?;
        Ok(user_of(&own.parsed)?.map(|user| (user, not_after)))
    }
}

// === impl Search ===

impl<'a> Search<'a> {
    /// Returns the time up to which the certificate is valid by one of its chains.
    fn verify(&mut self, own: &'a Certificate<'a>) -> Result<Timestamp, ChainError> {
        own.check(self.now)?;
        let is_root = |root: &Certificate<'_>| root.parsed.as_raw() == own.parsed.as_raw();
        let chains = if self.roots.iter().any(is_root) {
            vec![vec![own]]
        } else {
            self.chains(&[own])?
        };
        let is_for_clients = |chain: &Chain<'_>| chain.iter().all(|one| one.is_for_clients);
        let not_after = |chain: &Chain<'_>| chain.iter().map(|one| one.not_after()).min();
        let chains = chains.iter().filter(|chain| is_for_clients(chain));
        chains
            .filter_map(not_after)
            .max()
            .ok_or(ChainError::IncompatibleUsage)
    }

    /// Returns the chains that begin with `chain` and end with a root.
    fn chains(&mut self, chain: &[&'a Certificate<'a>]) -> Result<Vec<Chain<'a>>, ChainError> {
        let mut found = Vec::new();
        let mut refusal = None;
        let roots = parents(chain, self.roots, Role::Root);
        let parents = roots.chain(parents(chain, self.intermediates, Role::Intermediate));
        let parents: Vec<_> = parents.collect();
        for (parent, role) in parents {
            self.signatures += 1;
            if self.signatures > SIGNATURES_MAX {
                refusal = Some(ChainError::SignatureLimit);
                break;
            }
            if let Err(why) = parent.check_as_parent(chain, role, self.now) {
                refusal.get_or_insert_with(|| ChainError::RefusedAuthority {
                    why: why.to_string(),
                    candidate: parent.label(),
                });
                continue;
            }
            let longer = [chain, &[parent]].concat();
            if role == Role::Root {
                found.push(longer);
                continue;
            }
            match self.chains(&longer) {
                Ok(chains) => found.extend(chains),
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        if found.is_empty() {
            return Err(refusal.unwrap_or(ChainError::UnknownAuthority));
        }
        Ok(found)
    }
}

/// Returns those of `pool` that may have signed the last of a chain and are not in it. Those with its key come first.
fn parents<'a>(
    chain: &[&'a Certificate<'a>],
    pool: &'a [Certificate<'a>],
    role: Role,
) -> impl Iterator<Item = (&'a Certificate<'a>, Role)> {
    let last = chain.last().copied();
    let mut parents: Vec<_> = pool
        .iter()
        .filter(|one| {
            let is_issuer = last
                .is_some_and(|last| last.parsed.issuer().as_raw() == one.parsed.subject().as_raw());
            is_issuer && chain.iter().all(|other| !other.is_same_holder(one))
        })
        .collect();
    parents.sort_by_key(
        |one| match (last.and_then(|last| last.authority_key), one.subject_key) {
            (Some(wanted), Some(key)) if wanted == key => 0,
            (Some(_), Some(_)) => 2,
            _ => 1,
        },
    );
    parents.into_iter().map(move |one| (one, role))
}

// === impl Certificate ===

impl<'a> Certificate<'a> {
    fn read(der: &'a [u8]) -> Result<Self, ChainError> {
        let (_, parsed) = X509Certificate::from_der(der)
            .map_err(|_| ChainError::Malformed("malformed certificate"))?;
        if parsed.extensions_map().is_err() {
            let why = "certificate contains duplicate extensions";
            return Err(ChainError::Malformed(why));
        }
        let mut certificate = Self {
            is_ca: None,
            path_length: None,
            may_sign: true,
            is_for_clients: true,
            subject_key: None,
            authority_key: None,
            has_unhandled: false,
            parsed: parsed.clone(),
        };
        for extension in parsed.extensions() {
            let is_handled = certificate.take(extension.parsed_extension())?;
            certificate.has_unhandled |= extension.critical && !is_handled;
        }
        Ok(certificate)
    }

    /// Takes in an extension, and returns whether its meaning is respected.
    fn take(&mut self, extension: &ParsedExtension<'a>) -> Result<bool, ChainError> {
        match extension {
            ParsedExtension::ParseError { .. } => {
                return Err(ChainError::Malformed("malformed extension"));
            }
            ParsedExtension::BasicConstraints(constraints) => {
                self.is_ca = Some(constraints.ca);
                self.path_length = constraints.path_len_constraint;
            }
            ParsedExtension::KeyUsage(usage) => {
                self.may_sign = usage.flags == 0 || usage.key_cert_sign();
            }
            ParsedExtension::ExtendedKeyUsage(usage) => {
                let has_others = usage.server_auth
                    || usage.code_signing
                    || usage.email_protection
                    || usage.time_stamping
                    || usage.ocsp_signing
                    || !usage.other.is_empty();
                self.is_for_clients = usage.any || usage.client_auth || !has_others;
            }
            ParsedExtension::SubjectKeyIdentifier(key) => self.subject_key = Some(key.0),
            ParsedExtension::AuthorityKeyIdentifier(authority) => {
                self.authority_key = authority.key_identifier.as_ref().map(|key| key.0);
            }
            ParsedExtension::NameConstraints(constraints) => {
                return Ok(name_constraints::are_handled(constraints));
            }
            ParsedExtension::SubjectAlternativeName(names) => {
                return Ok(names.general_names.iter().any(is_handled_name));
            }
            ParsedExtension::CertificatePolicies(_)
            | ParsedExtension::CRLDistributionPoints(_)
            | ParsedExtension::AuthorityInfoAccess(_) => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Checks what holds for every certificate of a chain.
    fn check(&self, now: Timestamp) -> Result<(), ChainError> {
        if self.has_unhandled {
            return Err(ChainError::UnhandledExtension);
        }
        let (start, end) = (at(&self.parsed.validity().not_before), self.not_after());
        let (side, limit) = if now < start {
            ("before", start)
        } else if now > end {
            ("after", end)
        } else {
            return Ok(());
        };
        Err(ChainError::Expired {
            now: whole(now),
            side,
            limit,
        })
    }

    fn not_after(&self) -> Timestamp {
        at(&self.parsed.validity().not_after)
    }

    /// Checks whether this certificate has signed the last one of `chain`, and may have.
    fn check_as_parent(
        &self,
        chain: &[&Certificate<'_>],
        role: Role,
        now: Timestamp,
    ) -> Result<(), ChainError> {
        let needs_constraints = self.parsed.version() == X509Version::V3;
        if !self.is_ca.unwrap_or(!needs_constraints) || !self.may_sign {
            return Err(ChainError::CannotSign);
        }
        let child = chain.last().ok_or(ChainError::UnknownAuthority)?;
        let algorithm = SignatureAlgorithm::read(&child.parsed.signature_algorithm)?;
        public_key::verify(
            self.parsed.public_key(),
            algorithm,
            child.parsed.tbs_certificate.as_ref(),
            &child.parsed.signature_value.data,
        )?;
        self.check(now)?;
        name_constraints::check(&self.parsed, chain.iter().map(|one| &one.parsed))
            .map_err(ChainError::Name)?;
        if role == Role::Intermediate && self.is_ca != Some(true) {
            return Err(ChainError::NotAuthorizedToSign);
        }
        let length = u32::try_from(chain.len() - 1).unwrap_or(u32::MAX);
        if self.path_length.is_some_and(|max| length > max) {
            return Err(ChainError::TooManyIntermediates);
        }
        Ok(())
    }

    /// Returns true if the other one has the same name and key.
    fn is_same_holder(&self, other: &Self) -> bool {
        self.parsed.subject().as_raw() == other.parsed.subject().as_raw()
            && self.parsed.public_key().raw == other.parsed.public_key().raw
    }

    /// Returns the name of an authority in messages.
    fn label(&self) -> String {
        let subject = self.parsed.subject();
        let organization = subject.iter_organization().next().and_then(text_of);
        let name = common_name(subject)
            .filter(|name| !name.is_empty())
            .or(organization);
        name.unwrap_or_else(|| format!("serial:{}", self.parsed.serial))
    }

    /// Returns what identifies the certificate in messages.
    fn id(&self) -> String {
        let hex = |key: Option<&[u8]>| format_serial(key.unwrap_or_default()).to_uppercase();
        format!(
            "SN={}, SKID={}, AKID={}",
            self.parsed.serial,
            hex(self.subject_key),
            hex(self.authority_key)
        )
    }
}

fn is_handled_name(name: &GeneralName<'_>) -> bool {
    matches!(
        name,
        GeneralName::DNSName(_)
            | GeneralName::RFC822Name(_)
            | GeneralName::URI(_)
            | GeneralName::IPAddress(_)
    )
}
