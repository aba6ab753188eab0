//! Certificates: an authority for this server alone, and the certificates that it signs.

use std::{error::Error, fmt, sync::Arc};

use fakeserver_kinds::certificates::{authority::Authority, chain::Roots};
use fakeserver_value::user::UserInfo;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject},
    },
};

use super::client_certificates::HandshakeVerifier;
use crate::{clock::Clock, edge::authentication::Peer};

/// The names under which clients may address the server, at any address.
const NAMES: [&str; 7] = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];
/// The text of authorities in errors.
const CLIENT_AUTHORITIES: &str = "the authorities of clients";
/// HTTP/2 is preferred, as a real server prefers it.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The TLS identity of a server: its own authority, and the certificate that the authority signed for it.
///
/// Keys come from the operating system's randomness, and never from a seed. Clones share them.
///
/// # Examples
///
/// ```
/// # use fakeserver_server as fakeserver;
/// use fakeserver::{Certificates, UserInfo};
///
/// let certificates = Certificates::new(["api.example"])?;
/// assert!(certificates.authority_pem().starts_with("-----BEGIN CERTIFICATE-----"));
/// let jane = certificates.client(&UserInfo::new("jane").with_groups(["developers"]))?;
/// assert!(jane.key_pem().starts_with("-----BEGIN PRIVATE KEY-----"));
/// # Ok::<(), fakeserver::CertificateError>(())
/// ```
#[derive(Clone)]
pub struct Certificates {
    authority: Authority,
    trusted_pem: Arc<str>,
    acceptor: TlsAcceptor,
    /// The certificates by which those of clients are verified.
    client_roots: Arc<Roots>,
    /// The time by which certificates of clients are valid.
    clock: Clock,
}

/// A client certificate and its key.
#[derive(Clone)]
pub struct ClientCertificate {
    certificate_pem: String,
    key_pem: String,
}

/// A certificate cannot be made. Trying again does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A name is invalid in a certificate, or no key could be generated. A retry with another name may succeed.
    #[error("the certificate cannot be created")]
    Certificate(#[source] Box<dyn Error + Send + Sync>),
    /// A text is not what it should be: PEM of certificates, or of a key.
    #[error("{of}: {why}")]
    Pem {
        /// The text.
        of: &'static str,
        /// The problem.
        why: String,
    },
    /// TLS does not take a certificate, or a key that is not its own. Of certificates that were made here: a defect.
    #[error("TLS not set up")]
    Tls(#[source] Box<dyn Error + Send + Sync>),
}

// === impl Certificates ===

impl Certificates {
    /// Generates certificates for a server named `names`, besides `localhost`, the loopback addresses and all forms of
    /// `kubernetes`. A name may be an IP address.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Certificate`]: one of the names is none.
    pub fn new(
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, CertificateError> {
        let mut all: Vec<String> = NAMES.map(str::to_owned).into();
        for name in names.into_iter().map(Into::into) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        let authority = Authority::new().map_err(CertificateError::certificate)?;
        let own = authority.server(all, "kube-apiserver");
        let (certificate, key) = own.map_err(CertificateError::certificate)?;
        let chain = vec![certificate.der().clone()];
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let trusted_pem = authority.pem();
        Self::assemble(authority, trusted_pem, chain, key, Vec::new())
    }

    /// Uses the certificate chain in `chain_pem`, whose first certificate has the key in `key_pem`. Clients
    /// authenticate with certificates of the authorities in `client_authorities_pem`, which may be empty.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Pem`]: a text has no certificate, or no key. [`CertificateError::Tls`]: the key is not that of the
    /// certificate.
    pub fn from_pem(
        chain_pem: &[u8],
        key_pem: &[u8],
        client_authorities_pem: &[u8],
    ) -> Result<Self, CertificateError> {
        let chain = certificates_in(chain_pem, "the serving certificate")?;
        let key =
            PrivateKeyDer::from_pem_slice(key_pem).map_err(|error| CertificateError::Pem {
                of: "the serving key",
                why: error.to_string(),
            })?;
        let clients = if client_authorities_pem.is_empty() {
            Vec::new()
        } else {
            certificates_in(client_authorities_pem, CLIENT_AUTHORITIES)?
        };
        let authority = Authority::new().map_err(CertificateError::certificate)?;
        let trusted_pem = String::from_utf8_lossy(chain_pem).into_owned();
        Self::assemble(authority, trusted_pem, chain, key, clients)
    }

    /// Creates a self-signed certificate in PEM and its key, for a server named `names` besides the names of
    /// [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// [`CertificateError::Certificate`]: one of the names is none.
    pub fn self_signed(
        names: impl IntoIterator<Item = String>,
    ) -> Result<(String, String), CertificateError> {
        let names = NAMES.map(str::to_owned).into_iter().chain(names);
        let made = rcgen::generate_simple_self_signed(names.collect::<Vec<_>>());
        let made = made.map_err(CertificateError::certificate)?;
        Ok((made.cert.pem(), made.signing_key.serialize_pem()))
    }

    /// Takes clients of `authority` and of `client_authorities`.
    fn assemble(
        authority: Authority,
        trusted_pem: String,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
        client_authorities: Vec<CertificateDer<'static>>,
    ) -> Result<Self, CertificateError> {
        let mut roots = Roots::default();
        let own = CertificateDer::from(authority.der().to_vec());
        for trusted in client_authorities.into_iter().chain([own]) {
            let added = roots.add(trusted.to_vec());
            added.map_err(|why| CertificateError::Pem {
                of: CLIENT_AUTHORITIES,
                why,
            })?;
        }
        let verifier = HandshakeVerifier::new(&roots);
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(CertificateError::tls)?
            .with_client_cert_verifier(Arc::new(verifier))
            .with_single_cert(chain, key)
            .map_err(CertificateError::tls)?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        Ok(Self {
            authority,
            trusted_pem: trusted_pem.into(),
            acceptor: TlsAcceptor::from(Arc::new(config)),
            client_roots: Arc::new(roots),
            clock: Clock::wall(),
        })
    }

    /// The certificate that clients have to trust: the authority's, or the server's own where it was given one.
    pub fn authority_pem(&self) -> String {
        self.trusted_pem.to_string()
    }

    /// Creates a client certificate with the name and the groups of `user`.
    ///
    /// # Errors
    ///
    /// [`CertificateError::Certificate`]: the system gives no key.
    pub fn client(&self, user: &UserInfo) -> Result<ClientCertificate, CertificateError> {
        let own = self.authority.client(user);
        let (certificate_pem, key) = own.map_err(CertificateError::Certificate)?;
        Ok(ClientCertificate {
            certificate_pem,
            key_pem: key.serialize_pem(),
        })
    }

    pub(super) fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }

    /// Returns the authority that signs certificates.
    pub(super) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Returns the same certificates for a server with this clock.
    pub(super) fn at(&self, clock: Clock) -> Self {
        Self {
            clock,
            ..self.clone()
        }
    }

    /// Returns the user of the certificates that a client has presented. `None` if there are none, and if the certificate is
    /// accepted but names nobody.
    pub(super) fn peer(&self, certificates: Option<&[CertificateDer<'_>]>) -> Option<Peer> {
        let presented: Vec<&[u8]> = certificates?.iter().map(|one| &**one).collect();
        match self.client_roots.user(&presented, self.clock.now()) {
            Ok(Some((user, not_after))) => {
                let user = Arc::new(user.authenticated());
                Some(Peer::Certificate(user, not_after))
            }
            Ok(None) => None,
            Err(why) => Some(Peer::Stranger(why.into())),
        }
    }
}

/// Reads all certificates in PEM, at least one. `of` names the text.
fn certificates_in(
    pem: &[u8],
    of: &'static str,
) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let wrong = |why: String| CertificateError::Pem { of, why };
    let read = read.map_err(|error| wrong(error.to_string()))?;
    if read.is_empty() {
        return Err(wrong("there is no certificate in PEM".to_owned()));
    }
    Ok(read)
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Leaves the keys out.
        f.debug_struct("Certificates").finish_non_exhaustive()
    }
}

// === impl ClientCertificate ===

impl ClientCertificate {
    /// The certificate.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// Its private key, as PKCS#8.
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }
}

impl fmt::Debug for ClientCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Leaves the key out.
        f.debug_struct("ClientCertificate").finish_non_exhaustive()
    }
}

// === impl CertificateError ===

impl CertificateError {
    fn certificate(error: rcgen::Error) -> Self {
        Self::Certificate(Box::new(error))
    }

    fn tls(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Tls(Box::new(error))
    }
}
