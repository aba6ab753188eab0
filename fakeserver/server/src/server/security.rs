//! Tokens, anonymous access and authorization.

#[cfg(feature = "tls")]
use crate::ServiceAccountKeys;
use crate::{
    edge::{
        authentication::{Authenticator, StaticTokens, TokenSigner},
        authorization::Authorization,
    },
    write::Backend,
};

/// The security of a server: tokens, anonymous access, and authorization.
#[derive(Clone, Debug)]
pub(super) struct Security {
    pub(super) tokens: StaticTokens,
    /// True if requests without credentials are served, as far as the rules allow.
    pub(super) serves_anonymous: bool,
    pub(super) authorization: Authorization,
    /// The key that signs tokens of service accounts, if it is not to follow from the seed.
    pub(super) token_key: Option<[u8; 32]>,
    #[cfg(feature = "tls")]
    pub(super) account_keys: ServiceAccountKeys,
}

// === impl Security ===

impl Security {
    /// Returns the authenticator of a server, which draws its key from the entropy of `backend` unless one was given.
    /// Controllers sign as it does.
    pub(super) fn authenticator(self, backend: &Backend) -> Authenticator {
        let entropy = &backend.entropy;
        let token_key = self.token_key.unwrap_or_else(|| entropy.token_key());
        let signer = TokenSigner::new(token_key);
        #[cfg(feature = "tls")]
        let signer = signer.with_keys(self.account_keys);
        let authenticator = Authenticator::new(self.tokens, signer, self.serves_anonymous);
        backend.set_signer(authenticator.shared_signer());
        authenticator
    }
}

impl Default for Security {
    fn default() -> Self {
        Self {
            tokens: StaticTokens::default(),
            serves_anonymous: true,
            authorization: Authorization::default(),
            token_key: None,
            #[cfg(feature = "tls")]
            account_keys: ServiceAccountKeys::default(),
        }
    }
}
