//! Tokens of service accounts: in the form of real ones, but valid for this server only.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::AuthenticationError;

use crate::value::user::UserInfo;

/// The issuer of tokens, and their audience if they do not name one.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Signs and verifies tokens with a key of this server.
///
/// The algorithm that tokens name is not the one that is used: no client has a key to verify them with.
pub(crate) struct TokenSigner {
    key: [u8; 32],
}

/// The claims of a token.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    aud: Vec<String>,
    exp: i64,
    nbf: i64,
    #[serde(default)]
    jti: String,
    #[serde(rename = "kubernetes.io")]
    private: PrivateClaims,
}

#[derive(Debug, Deserialize)]
struct PrivateClaims {
    namespace: String,
    serviceaccount: Account,
}

#[derive(Debug, Deserialize)]
struct Account {
    name: String,
    uid: String,
}

// === impl TokenSigner ===

impl TokenSigner {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// A token that says `claims`.
    pub(crate) fn sign(&self, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": "RS256", "kid": "fake"});
        let signed = format!("{}.{}", part(&header), part(claims));
        let signature = URL_SAFE_NO_PAD.encode(self.signature(&signed));
        format!("{signed}.{signature}")
    }

    /// Returns the claims of `token`, if it was signed here.
    pub(super) fn verify(&self, token: &str) -> Option<Claims> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        if signature != self.signature(signed) {
            return None;
        }
        let (_, claims) = signed.split_once('.')?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
    }

    fn signature(&self, signed: &str) -> [u8; 32] {
        let inner = Sha256::new().chain_update(self.key).chain_update(signed);
        let outer = Sha256::new().chain_update(self.key);
        outer.chain_update(inner.finalize()).finalize().into()
    }
}

impl std::fmt::Debug for TokenSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the key.
        f.debug_struct("TokenSigner").finish_non_exhaustive()
    }
}

// === impl Claims ===

impl Claims {
    /// Namespace and name of the service account.
    pub(super) fn account(&self) -> (&str, &str) {
        let private = &self.private;
        (&private.namespace, &private.serviceaccount.name)
    }

    /// Those of `audiences` that the token is for.
    pub(super) fn audiences(&self, audiences: &[String]) -> Vec<String> {
        let common = audiences.iter().filter(|wanted| self.aud.contains(wanted));
        common.cloned().collect()
    }

    /// Whom the token is of at `now`, if the account has the uid `uid`.
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
