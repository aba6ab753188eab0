//! Authentication of one request: finds the user who makes it.

use std::sync::Arc;

#[cfg(feature = "tls")]
use fakeserver_kinds::certificates::chain::expired;
use fakeserver_kinds::{Kind, core::secret};
use fakeserver_value::{schema::encode_base64, user::UserInfo};
use http::{HeaderMap, header};
use jiff::Timestamp;
use serde::Deserialize;

use super::{
    AuthenticationError, StaticTokens, TokenSigner,
    service_account::{DependedObject, SecretClaims, common_audiences},
    subprotocol,
};
use crate::store::{ObjectKey, Storage, StoredObject};

/// The label by which a controller marks the token of a secret as invalid, long after its last use.
const INVALID_SINCE: &str = "kubernetes.io/legacy-token-invalid-since";

/// Authenticates requests.
#[derive(Debug)]
pub struct Authenticator {
    tokens: StaticTokens,
    signer: Arc<TokenSigner>,
    /// The user of requests without credentials, if those are served.
    anonymous: Option<Arc<UserInfo>>,
}

/// The peer of a connection, as authenticated by TLS. Each request of the connection carries it in its extensions.
#[derive(Clone, Debug)]
pub enum Peer {
    /// The transport has made sure of it.
    User(Arc<UserInfo>),
    /// The client has presented a certificate that is accepted up to this time: connections can last longer.
    #[cfg(feature = "tls")]
    Certificate(Arc<UserInfo>, Timestamp),
    /// The client has presented a certificate that this server does not accept, for this reason.
    #[cfg(feature = "tls")]
    Stranger(Arc<str>),
}

/// The user of a token, and the audiences it is valid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenUser {
    pub(crate) user: Arc<UserInfo>,
    /// The requested audiences that the token is valid for.
    pub(crate) audiences: Vec<String>,
}

/// The part of an object's metadata that says whether it is being deleted.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeletionMetadata {
    deletion_timestamp: Option<Timestamp>,
}

// === impl Authenticator ===

impl Authenticator {
    pub(crate) fn new(tokens: StaticTokens, signer: TokenSigner, serves_anonymous: bool) -> Self {
        Self {
            tokens,
            signer: Arc::new(signer),
            anonymous: serves_anonymous.then(|| Arc::new(UserInfo::anonymous())),
        }
    }

    pub(crate) fn signer(&self) -> &TokenSigner {
        &self.signer
    }

    /// Returns the token signer, for token requests and controllers.
    pub(crate) fn shared_signer(&self) -> Arc<TokenSigner> {
        Arc::clone(&self.signer)
    }

    /// Authenticates a request with these headers, at `now`.
    pub(crate) fn authenticate(
        &self,
        headers: &HeaderMap,
        peer: Option<&Peer>,
        storage: &Storage,
        now: Timestamp,
    ) -> Result<Arc<UserInfo>, AuthenticationError> {
        // The certificate first, as in the union of authenticators upstream: a token beside it is not read.
        if let Some(Peer::User(user)) = peer {
            return Ok(Arc::clone(user));
        }
        #[cfg(feature = "tls")]
        if let Some(Peer::Certificate(user, not_after)) = peer
            && now <= *not_after
        {
            return Ok(Arc::clone(user));
        }
        let token = bearer_token(headers).map(str::to_owned);
        // An invalid token fails the request: falling back to anonymous would hide the mistake.
        if let Some(token) = token.or_else(|| subprotocol::token(headers)) {
            let token_user = self.token_user(&token, self.signer.audiences(), storage, now)?;
            return Ok(token_user.user);
        }
        // After the token: a client may present any certificate, if its token is valid.
        #[cfg(feature = "tls")]
        match peer {
            Some(Peer::Stranger(why)) => {
                return Err(AuthenticationError::RejectedCertificate(Arc::clone(why)));
            }
            Some(Peer::Certificate(_, not_after)) => {
                let why = expired(now, *not_after).into();
                return Err(AuthenticationError::RejectedCertificate(why));
            }
            Some(Peer::User(_)) | None => {}
        }
        let anonymous = self.anonymous.as_ref().map(Arc::clone);
        anonymous.ok_or(AuthenticationError::Missing)
    }

    /// Authenticates `token` for one of `audiences`.
    pub(crate) fn token_user(
        &self,
        token: &str,
        audiences: &[String],
        storage: &Storage,
        now: Timestamp,
    ) -> Result<TokenUser, AuthenticationError> {
        if let Some(user) = self.tokens.user(token) {
            let audiences = common_audiences(self.signer.audiences(), audiences)
                .map_err(|_| AuthenticationError::InvalidToken)?;
            let user = Arc::clone(user);
            return Ok(TokenUser { user, audiences });
        }
        // Before bound tokens: both are JWTs of this signer, and differ by the issuer.
        if let Some(claims) = self.signer.verify_of_secret(token) {
            let user = user_of_secret(&claims, token, storage)?;
            return Ok(TokenUser {
                user: Arc::new(user),
                audiences: common_audiences(self.signer.audiences(), audiences)?,
            });
        }
        let claims = self.signer.verify(token);
        let claims = claims.ok_or(AuthenticationError::InvalidToken)?;
        let user = claims.user(now, &|kind, namespace, name| {
            depended_object(storage, kind, namespace, name)
        })?;
        Ok(TokenUser {
            user: Arc::new(user),
            audiences: claims.audiences(audiences, self.signer.audiences())?,
        })
    }
}

/// Returns the user of a token that a secret has.
fn user_of_secret(
    claims: &SecretClaims,
    token: &str,
    storage: &Storage,
) -> Result<UserInfo, AuthenticationError> {
    let secret = stored(
        storage,
        &secret::KIND,
        Some(&claims.namespace),
        &claims.secret,
    );
    let secret = secret.map(|secret| secret.to_value());
    let secret = secret.filter(|secret| secret["metadata"]["deletionTimestamp"].is_null());
    let stored_token = secret.as_ref().map(|secret| {
        let token = secret["data"]["token"].as_str();
        token.unwrap_or_default()
    });
    let token = encode_base64(token.as_bytes());
    let user = claims.user(&token, stored_token, &|kind, namespace, name| {
        depended_object(storage, kind, namespace, name)
    })?;
    let labels = secret.as_ref().map(|secret| &secret["metadata"]["labels"]);
    let since = labels.and_then(|labels| labels[INVALID_SINCE].as_str());
    if since.is_none_or(str::is_empty) {
        return Ok(user);
    }
    let SecretClaims {
        namespace,
        secret,
        account,
        ..
    } = claims;
    Err(AuthenticationError::RejectedToken(format!(
        "the token in secret {namespace}/{secret} for service account {namespace}/{account} has been marked invalid. Use \
         tokens from the TokenRequest API or manually created secret-based tokens, or remove the '{INVALID_SINCE}' label from \
         the secret to temporarily allow use of this token"
    )))
}

/// Returns an object that a token depends on.
fn depended_object(
    storage: &Storage,
    kind: &Kind,
    namespace: Option<&str>,
    name: &str,
) -> Option<DependedObject> {
    let object = stored(storage, kind, namespace, name)?;
    let metadata: DeletionMetadata =
        serde_json::from_slice(&object.metadata_json()).unwrap_or_default();
    Some(DependedObject {
        uid: object.uid().to_owned(),
        deletion_timestamp: metadata.deletion_timestamp,
    })
}

fn stored(
    storage: &Storage,
    kind: &Kind,
    namespace: Option<&str>,
    name: &str,
) -> Option<Arc<StoredObject>> {
    let key = ObjectKey::new(kind.storage().clone(), namespace, name);
    storage.view(|view| view.get(&key).map(Arc::clone))
}

/// Returns the bearer token of a request. Other schemes are ignored.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let mut words = value.trim().split(' ');
    let is_bearer = words.next()?.eq_ignore_ascii_case("bearer");
    words.next().filter(|token| is_bearer && !token.is_empty())
}
