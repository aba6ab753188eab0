//! Authentication of one request: finds the user who makes it.

use std::sync::Arc;

use http::{HeaderMap, header};
use jiff::Timestamp;

use super::{AuthenticationError, StaticTokens, TokenSigner, subprotocol};
use crate::{
    kinds::core::service_account,
    store::{ObjectKey, Storage, StoredObject},
    value::user::UserInfo,
};

/// Finds out who makes a request.
#[derive(Debug)]
pub(crate) struct Authenticator {
    tokens: StaticTokens,
    signer: TokenSigner,
    /// The user of requests without credentials, if those are served.
    anonymous: Option<Arc<UserInfo>>,
}

/// The peer of a connection, as far as the transport knows it. It travels with each request of the connection.
#[derive(Clone, Debug)]
pub(crate) enum Peer {
    /// The transport has made sure of it.
    User(Arc<UserInfo>),
    /// The client has shown a certificate that this server does not trust.
    #[cfg(feature = "tls")]
    Stranger,
}

/// Whom a token is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenUser {
    pub(crate) user: Arc<UserInfo>,
    /// Those of the audiences in question that the token is for.
    pub(crate) audiences: Vec<String>,
}

// === impl Authenticator ===

impl Authenticator {
    pub(crate) fn new(tokens: StaticTokens, signer: TokenSigner, serves_anonymous: bool) -> Self {
        Self {
            tokens,
            signer,
            anonymous: serves_anonymous.then(|| Arc::new(UserInfo::anonymous())),
        }
    }

    pub(crate) fn signer(&self) -> &TokenSigner {
        &self.signer
    }

    /// Authenticates a request with these headers, at `now`.
    pub(crate) fn authenticate(
        &self,
        headers: &HeaderMap,
        peer: Option<&Peer>,
        storage: &Storage,
        now: Timestamp,
    ) -> Result<Arc<UserInfo>, AuthenticationError> {
        if let Some(Peer::User(user)) = peer {
            return Ok(Arc::clone(user));
        }
        let token = bearer_token(headers).map(str::to_owned);
        if let Some(token) = token.or_else(|| subprotocol::token(headers)) {
            let known = self.token_user(&token, self.signer.audiences(), storage, now)?;
            return Ok(known.user);
        }
        if peer.is_some() {
            return Err(AuthenticationError::UnknownCertificate);
        }
        let anonymous = self.anonymous.as_ref().map(Arc::clone);
        anonymous.ok_or(AuthenticationError::Missing)
    }

    /// Whom `token` is of, if it is for one of `audiences`.
    pub(crate) fn token_user(
        &self,
        token: &str,
        audiences: &[String],
        storage: &Storage,
        now: Timestamp,
    ) -> Result<TokenUser, AuthenticationError> {
        if let Some(user) = self.tokens.user(token) {
            // Tokens that say no audience are for the API.
            let own = self.signer.audiences().iter();
            let own: Vec<String> = own.filter(|own| audiences.contains(own)).cloned().collect();
            if own.is_empty() {
                return Err(AuthenticationError::InvalidToken);
            }
            return Ok(TokenUser {
                user: Arc::clone(user),
                audiences: own,
            });
        }
        let claims = self.signer.verify(token);
        let claims = claims.ok_or(AuthenticationError::InvalidToken)?;
        let (namespace, name) = claims.account();
        let accounts = service_account::KIND.storage().clone();
        let key = ObjectKey::namespaced(accounts, namespace, name);
        let account = storage.view(|view| view.get(&key).map(Arc::clone));
        let user = claims.user(now, account.as_deref().map(StoredObject::uid))?;
        let audiences = claims.audiences(audiences);
        if audiences.is_empty() {
            return Err(AuthenticationError::WrongAudience);
        }
        Ok(TokenUser {
            user: Arc::new(user),
            audiences,
        })
    }
}

/// The token that a request brings. What is no bearer token is not looked at.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let mut words = value.trim().split(' ');
    let is_bearer = words.next()?.eq_ignore_ascii_case("bearer");
    words.next().filter(|token| is_bearer && !token.is_empty())
}
