//! Keys with which tokens of service accounts are signed and verified: those of files, as kube-apiserver takes them.

use std::{error::Error, fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio_rustls::rustls::{
    SignatureScheme,
    crypto::ring,
    pki_types::{PrivateKeyDer, pem::PemObject},
    sign::SigningKey,
};
use x509_parser::{
    pem::Pem,
    prelude::{FromDer as _, X509Certificate},
    public_key::PublicKey as Parsed,
    x509::SubjectPublicKeyInfo,
};

use super::jws;

/// The keys of tokens of service accounts, their issuers, and the audiences of the API.
///
/// Without a signing key, tokens are signed with a key of the server's own, which only this server can verify. Clones
/// share the keys.
#[derive(Clone, Default)]
pub struct ServiceAccountKeys {
    private_key: Option<PrivateKey>,
    public_keys: Vec<Arc<PublicKey>>,
    issuers: Vec<String>,
    audiences: Vec<String>,
}

/// A key file that is not taken. Trying again does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceAccountKeyError {
    /// The file has no key in PEM.
    #[error("no {expected} in PEM")]
    NoKey {
        /// The kinds of PEM blocks that are taken.
        expected: &'static str,
    },
    /// The key is of a kind that tokens are not signed with here: RSA, and the curves P-256 and P-384, are taken.
    #[error("the key cannot be used")]
    Unsupported(#[source] Box<dyn Error + Send + Sync>),
}

/// The algorithm of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Rs256,
    Es256,
    Es384,
}

#[derive(Clone)]
struct PrivateKey {
    key: Arc<dyn SigningKey>,
    algorithm: Algorithm,
    id: String,
}

/// A public key.
struct PublicKey {
    algorithm: Algorithm,
    /// The key itself, as signatures are verified with it.
    bits: Vec<u8>,
    id: String,
    /// The key as the JSON Web Key that `/openid/v1/jwks` serves.
    web_key: Value,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
}

// === impl ServiceAccountKeys ===

impl ServiceAccountKeys {
    /// Signs tokens with the private key in `pem`: PKCS#8, PKCS#1 or SEC1. Tokens signed by this key are accepted, too.
    ///
    /// # Errors
    ///
    /// There is no such key, or it is of another kind.
    #[doc(alias = "service-account-signing-key-file")]
    pub fn with_signing_key_pem(mut self, pem: &[u8]) -> Result<Self, ServiceAccountKeyError> {
        let key = private_key(pem)?;
        let public = key
            .public_key()
            .ok_or_else(|| unsupported("it has no public part"))?;
        let public_key = PublicKey::parse(public.as_ref())?;
        self.private_key = Some(PrivateKey {
            algorithm: public_key.algorithm,
            id: public_key.id.clone(),
            key,
        });
        self.add(public_key);
        Ok(self)
    }

    /// Accepts tokens that were signed by a key in `pem`: public keys, certificates, or private keys; can be repeated.
    ///
    /// # Errors
    ///
    /// There is no key, or one of another kind.
    #[doc(alias = "service-account-key-file")]
    pub fn with_key_pem(mut self, pem: &[u8]) -> Result<Self, ServiceAccountKeyError> {
        let mut has_any = false;
        for block in Pem::iter_from_buffer(pem) {
            let block = block.map_err(unsupported)?;
            let public_key = match &*block.label {
                "PUBLIC KEY" => PublicKey::parse(&block.contents)?,
                "CERTIFICATE" => {
                    let parsed = X509Certificate::from_der(&block.contents);
                    let (_, certificate) = parsed.map_err(unsupported)?;
                    PublicKey::parse(certificate.public_key().raw)?
                }
                label if label.ends_with("PRIVATE KEY") => {
                    let key = private_key(pem)?;
                    let public = key.public_key();
                    let public = public.ok_or_else(|| unsupported("it has no public part"))?;
                    PublicKey::parse(public.as_ref())?
                }
                // Parameters of curves stand beside keys.
                _ => continue,
            };
            self.add(public_key);
            has_any = true;
        }
        if has_any {
            return Ok(self);
        }
        Err(ServiceAccountKeyError::NoKey {
            expected: "PUBLIC KEY, CERTIFICATE or PRIVATE KEY",
        })
    }

    /// Takes tokens of `issuer`; can be repeated. Tokens are issued by the first one.
    #[doc(alias = "service-account-issuer")]
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuers.push(issuer.into());
        self
    }

    /// Sets the audiences of the API. By default it is the first issuer.
    #[doc(alias = "api-audiences")]
    #[must_use]
    pub fn with_audiences(
        mut self,
        audiences: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.audiences = audiences.into_iter().map(Into::into).collect();
        self
    }

    pub(super) fn issuers(&self) -> &[String] {
        &self.issuers
    }

    pub(super) fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Returns true if there are keys of files.
    pub(super) fn is_set(&self) -> bool {
        !self.public_keys.is_empty()
    }

    /// Returns a signed token with `claims`, if there is a signing key.
    pub(super) fn sign(&self, claims: &Value) -> Option<String> {
        let PrivateKey { key, algorithm, id } = self.private_key.as_ref()?;
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": algorithm.name(), "kid": id});
        let signed = format!("{}.{}", part(&header), part(claims));
        let scheme = key.choose_scheme(&[algorithm.scheme()])?;
        let signature = scheme.sign(signed.as_bytes()).ok()?;
        let signature = match algorithm.width() {
            Some(width) => jws::signature_of_der(&signature, width)?,
            None => signature,
        };
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Returns true if one of the keys has signed `token`.
    pub(super) fn has_signed(&self, token: &str) -> bool {
        let checked = || {
            let (signed, signature) = token.rsplit_once('.')?;
            let (header, _) = signed.split_once('.')?;
            let header: Header =
                serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
            let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
            let mut keys = self.public_keys.iter();
            Some(keys.any(|key| {
                key.algorithm.name() == header.alg && key.has_signed(signed.as_bytes(), &signature)
            }))
        };
        checked().unwrap_or_default()
    }

    /// Returns the answer of `/openid/v1/jwks`.
    pub(crate) fn web_keys(&self) -> Value {
        let keys: Vec<&Value> = self.public_keys.iter().map(|key| &key.web_key).collect();
        json!({"keys": keys})
    }

    /// Returns the names of the algorithms, each once.
    pub(crate) fn algorithms(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self
            .public_keys
            .iter()
            .map(|key| key.algorithm.name())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn add(&mut self, key: PublicKey) {
        if self.public_keys.iter().all(|other| other.id != key.id) {
            self.public_keys.push(Arc::new(key));
        }
    }
}

impl fmt::Debug for ServiceAccountKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Leaves the keys out.
        let ids: Vec<&str> = self.public_keys.iter().map(|key| &*key.id).collect();
        f.debug_struct("ServiceAccountKeys")
            .field("ids", &ids)
            .field("issuers", &self.issuers)
            .field("audiences", &self.audiences)
            .finish_non_exhaustive()
    }
}

fn private_key(pem: &[u8]) -> Result<Arc<dyn SigningKey>, ServiceAccountKeyError> {
    let key = PrivateKeyDer::from_pem_slice(pem);
    let key = key.map_err(|_| ServiceAccountKeyError::NoKey {
        expected: "PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY",
    })?;
    ring::sign::any_supported_type(&key).map_err(unsupported)
}

fn unsupported(error: impl Into<Box<dyn Error + Send + Sync>>) -> ServiceAccountKeyError {
    ServiceAccountKeyError::Unsupported(error.into())
}

// === impl Algorithm ===

impl Algorithm {
    fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
        }
    }

    fn scheme(self) -> SignatureScheme {
        match self {
            Self::Rs256 => SignatureScheme::RSA_PKCS1_SHA256,
            Self::Es256 => SignatureScheme::ECDSA_NISTP256_SHA256,
            Self::Es384 => SignatureScheme::ECDSA_NISTP384_SHA384,
        }
    }

    /// Returns the number of bytes of each half of a signature on a curve.
    fn width(self) -> Option<usize> {
        match self {
            Self::Rs256 => None,
            Self::Es256 => Some(32),
            Self::Es384 => Some(48),
        }
    }
}

// === impl PublicKey ===

impl PublicKey {
    /// Reads a public key as X.509 has it. Its id is the digest of that form, as in kube-apiserver.
    fn parse(der: &[u8]) -> Result<Self, ServiceAccountKeyError> {
        let (_, info) = SubjectPublicKeyInfo::from_der(der).map_err(unsupported)?;
        let bits = info.subject_public_key.data.to_vec();
        let id = URL_SAFE_NO_PAD.encode(Sha256::digest(der));
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let (algorithm, mut web_key) = match info.parsed().map_err(unsupported)? {
            Parsed::RSA(key) => {
                let trimmed = |bytes: &[u8]| {
                    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
                    encode(&bytes[zeros..])
                };
                let web_key =
                    json!({"kty": "RSA", "n": trimmed(key.modulus), "e": trimmed(key.exponent)});
                (Algorithm::Rs256, web_key)
            }
            Parsed::EC(point) => {
                let (algorithm, curve, width) = match point.data().len() {
                    65 => (Algorithm::Es256, "P-256", 32),
                    97 => (Algorithm::Es384, "P-384", 48),
                    _ => return Err(unsupported("its curve is neither P-256 nor P-384")),
                };
                let halves = point.data()[1..].split_at(width);
                let web_key = json!({"kty": "EC", "crv": curve, "x": encode(halves.0), "y": encode(halves.1)});
                (algorithm, web_key)
            }
            _ => return Err(unsupported("it is neither RSA nor on a curve")),
        };
        web_key["use"] = json!("sig");
        web_key["kid"] = json!(id);
        web_key["alg"] = json!(algorithm.name());
        Ok(Self {
            algorithm,
            bits,
            id,
            web_key,
        })
    }

    fn has_signed(&self, signed: &[u8], signature: &[u8]) -> bool {
        let signature = match self.algorithm.width() {
            Some(width) if signature.len() == 2 * width => jws::der_of_signature(signature),
            Some(_) => return false,
            None => signature.to_vec(),
        };
        let algorithms = ring::default_provider().signature_verification_algorithms;
        let scheme = self.algorithm.scheme();
        let found = algorithms.mapping.iter().find(|(of, _)| *of == scheme);
        found.is_some_and(|(_, algorithms)| {
            algorithms.iter().any(|algorithm| {
                algorithm
                    .verify_signature(&self.bits, signed, &signature)
                    .is_ok()
            })
        })
    }
}
