//! Tokens of service accounts: in the form of real ones, and valid for this server only unless it was given keys.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use fakeserver_kinds::core::secret::LEGACY_ISSUER;
use fakeserver_value::user::UserInfo;
use jiff::Timestamp;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::AuthenticationError;
#[cfg(feature = "tls")]
use super::ServiceAccountKeys;
use crate::write::ClaimsSigner;

/// The issuer of tokens, and their audience if they do not name one, unless others are configured.
pub(super) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Signs and verifies tokens with the server's own key, or with configured keys.
///
/// Tokens of the own key name an algorithm that is not the one used: no client has the key to verify them.
pub struct TokenSigner {
    key: [u8; 32],
    #[cfg(feature = "tls")]
    keys: ServiceAccountKeys,
    issuers: Vec<String>,
    audiences: Vec<String>,
}

/// The claims of a token.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    iss: String,
    aud: Vec<String>,
    exp: i64,
    nbf: i64,
    #[serde(default)]
    jti: String,
    #[serde(rename = "kubernetes.io")]
    private: PrivateClaims,
}

/// The claims of a token in a secret.
#[derive(Debug, Deserialize)]
pub(super) struct SecretClaims {
    iss: String,
    #[serde(rename = "kubernetes.io/serviceaccount/namespace")]
    pub(super) namespace: String,
    #[serde(rename = "kubernetes.io/serviceaccount/secret.name")]
    pub(super) secret: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.name")]
    pub(super) account: String,
    #[serde(rename = "kubernetes.io/serviceaccount/service-account.uid")]
    uid: String,
}

#[derive(Debug, Deserialize)]
struct PrivateClaims {
    namespace: String,
    serviceaccount: Account,
}

#[derive(Debug, Deserialize)]
struct Account {
    pub name: String,
    uid: String,
}

// === impl TokenSigner ===

impl TokenSigner {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self {
            key,
            #[cfg(feature = "tls")]
            keys: ServiceAccountKeys::default(),
            issuers: vec![ISSUER.to_owned()],
            audiences: vec![ISSUER.to_owned()],
        }
    }

    /// Signs and verifies with `keys` as well, and takes over their issuers and audiences.
    #[cfg(feature = "tls")]
    pub(crate) fn with_keys(mut self, keys: ServiceAccountKeys) -> Self {
        if let Some(first) = keys.issuers().first() {
            self.audiences = vec![first.clone()];
            self.issuers = keys.issuers().to_vec();
        }
        if !keys.audiences().is_empty() {
            self.audiences = keys.audiences().to_vec();
        }
        self.keys = keys;
        self
    }

    /// Returns the keys of files, if there are any.
    #[cfg(feature = "tls")]
    pub(crate) fn keys(&self) -> Option<&ServiceAccountKeys> {
        Some(&self.keys).filter(|keys| keys.is_set())
    }

    /// Returns the issuer of new tokens.
    pub(crate) fn issuer(&self) -> &str {
        self.issuers.first().map_or(ISSUER, String::as_str)
    }

    /// Returns the audiences of the API, which are those of tokens that do not name any.
    pub(crate) fn audiences(&self) -> &[String] {
        &self.audiences
    }

    /// Returns a signed token with `claims`.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        #[cfg(feature = "tls")]
        if let Some(token) = self.keys.sign(claims) {
            return token;
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": "RS256", "kid": "fake"});
        let signed = format!("{}.{}", part(&header), part(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.signature(&signed));
        format!("{signed}.{signature}")
    }

    /// Returns the claims of `token`, if it was signed here.
    pub(super) fn verify(&self, token: &str) -> Option<Claims> {
        let claims: Claims = self.claims(token)?;
        self.issuers.contains(&claims.iss).then_some(claims)
    }

    /// Returns the claims of `token`, if it is one of a secret and was signed here.
    pub(super) fn verify_of_secret(&self, token: &str) -> Option<SecretClaims> {
        let claims: SecretClaims = self.claims(token)?;
        (claims.iss == LEGACY_ISSUER).then_some(claims)
    }

    fn claims<C: DeserializeOwned>(&self, token: &str) -> Option<C> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        if !self.has_signed(token) && signature != self.signature(signed) {
            return None;
        }
        let (_, claims) = signed.split_once('.')?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
    }

    /// Returns true if a key of a file has signed the token.
    #[cfg(feature = "tls")]
    fn has_signed(&self, token: &str) -> bool {
        self.keys.has_signed(token)
    }

    #[cfg(not(feature = "tls"))]
    fn has_signed(&self, _token: &str) -> bool {
        false
    }

    fn signature(&self, signed: &str) -> [u8; 32] {
        let inner = Sha256::new().chain_update(self.key).chain_update(signed);
        let outer = Sha256::new().chain_update(self.key);
        outer.chain_update(inner.finalize()).finalize().into()
    }
}

impl std::fmt::Debug for TokenSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Leaves the key out.
        f.debug_struct("TokenSigner").finish_non_exhaustive()
    }
}

impl ClaimsSigner for TokenSigner {
    fn sign(&self, claims: &Value) -> String {
        Self::sign(self, claims)
    }
}

// === impl SecretClaims ===

impl SecretClaims {
    /// Returns the user of the token, if the account has the uid `uid` and the secret still has the token.
    pub(super) fn user(
        &self,
        uid: Option<&str>,
        is_in_secret: bool,
    ) -> Result<UserInfo, AuthenticationError> {
        if uid != Some(self.uid.as_str()) || !is_in_secret {
            return Err(AuthenticationError::Invalidated);
        }
        let user = UserInfo::service_account(&self.namespace, &self.account);
        Ok(user.with_uid(&self.uid).authenticated())
    }
}

// === impl Claims ===

impl Claims {
    /// Namespace and name of the service account.
    pub(super) fn account(&self) -> (&str, &str) {
        let private = &self.private;
        (&private.namespace, &private.serviceaccount.name)
    }

    /// Returns those of `audiences` that the token is valid for.
    pub(super) fn audiences(&self, audiences: &[String]) -> Vec<String> {
        let common = audiences.iter().filter(|wanted| self.aud.contains(wanted));
        common.cloned().collect()
    }

    /// Returns the user of the token at `now`, if the account has the uid `uid`.
    pub(super) fn user(
        &self,
        now: Timestamp,
        uid: Option<&str>,
    ) -> Result<UserInfo, AuthenticationError> {
        if now.as_second() >= self.exp || now.as_second() < self.nbf {
            return Err(AuthenticationError::TokenExpired);
        }
        let (namespace, name) = self.account();
        if uid != Some(self.private.serviceaccount.uid.as_str()) {
            return Err(AuthenticationError::Invalidated);
        }
        let user = UserInfo::service_account(namespace, name);
        let user = user.with_uid(&self.private.serviceaccount.uid);
        let id = format!("JTI={}", self.jti);
        Ok(user.authenticated().with_extra(CREDENTIAL_ID, id))
    }
}
