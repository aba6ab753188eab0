//! Certificates: an authority for this server alone, and the certificates that it signs.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme,
        client::danger::HandshakeSignatureValid,
        crypto::ring,
        pki_types::{CertificateDer, PrivatePkcs8KeyDer, UnixTime},
        server::{
            WebPkiClientVerifier,
            danger::{ClientCertVerified, ClientCertVerifier},
        },
    },
};

use crate::{
    clock::Clock,
    edge::authentication::Peer,
    kinds::certificates::{authority::Authority, name::user_of},
    value::user::UserInfo,
};

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
/// HTTP/2 is preferred, as a real server prefers it.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The TLS identity of a server: its own authority, and the certificate that the authority signed for it.
///
/// Keys come from the operating system's randomness, and never from a seed. Clones share them.
///
/// # Examples
///
/// ```
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
    acceptor: TlsAcceptor,
    clients: Arc<dyn ClientCertVerifier>,
    /// The time by which certificates of clients are valid.
    clock: Clock,
}

/// A certificate that says who a client is, and its key.
#[derive(Clone)]
pub struct ClientCertificate {
    certificate_pem: String,
    key_pem: String,
}

/// A certificate cannot be made. Trying again does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A name cannot stand in a certificate, or there is no key: another name may do.
    #[error("certificate not made")]
    Certificate(#[source] Box<dyn Error + Send + Sync>),
    /// TLS does not take what was made: a defect of this crate.
    #[error("TLS not set up")]
    Tls(#[source] Box<dyn Error + Send + Sync>),
}

/// Asks clients for a certificate, and takes what they show: what does not count is answered with 401, not with a
/// connection that breaks.
#[derive(Debug)]
struct AnyCertificate(Arc<dyn ClientCertVerifier>);

// === impl Certificates ===

impl Certificates {
    /// For a server that clients call `names`, besides `localhost`, the loopback addresses and `kubernetes` in all its
    /// forms. A name that is an address is one.
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

        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        let trusted = roots.add(CertificateDer::from(authority.der().to_vec()));
        trusted.map_err(CertificateError::tls)?;
        let clients =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let clients = clients.build().map_err(CertificateError::tls)?;
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(CertificateError::tls)?
            .with_client_cert_verifier(Arc::new(AnyCertificate(Arc::clone(&clients))))
            .with_single_cert(vec![certificate.der().clone()], key)
            .map_err(CertificateError::tls)?;
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        Ok(Self {
            authority,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            clients,
            clock: Clock::wall(),
        })
    }

    /// The authority's certificate: what clients have to trust.
    pub fn authority_pem(&self) -> String {
        self.authority.pem()
    }

    /// A certificate for a client whose requests are to be `user`'s: name and groups stand in it.
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

    /// Returns the user whom the certificates name that a client has shown. Returns `None` if it has shown none.
    pub(super) fn peer(&self, shown: Option<&[CertificateDer<'_>]>) -> Option<Peer> {
        let (own, rest) = shown?.split_first()?;
        let seconds = u64::try_from(self.clock.now().as_second()).unwrap_or_default();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let is_ours = self.clients.verify_client_cert(own, rest, now).is_ok();
        let user = user_of(own).filter(|_| is_ours);
        Some(user.map_or(Peer::Stranger, |user| {
            Peer::User(Arc::new(user.authenticated()))
        }))
    }
}

impl fmt::Debug for Certificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the keys.
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
        // Not the key.
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

// === impl AnyCertificate ===

impl ClientCertVerifier for AnyCertificate {
    fn root_hint_subjects(&self) -> &[rustls::DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
