//! Whom a server knows, and what it asks of them.

use crate::edge::{authentication::StaticTokens, authorization::Authorization};

/// The security of a server: tokens, anonymous access, and authorization.
#[derive(Clone, Debug)]
pub(crate) struct Security {
    pub(crate) tokens: StaticTokens,
    /// True if requests without credentials are served, as far as the rules allow.
    pub(crate) serves_anonymous: bool,
    pub(crate) authorization: Authorization,
    /// The key that signs tokens of service accounts, if it is not to follow from the seed.
    pub(crate) token_key: Option<[u8; 32]>,
}

// === impl Security ===

impl Default for Security {
    fn default() -> Self {
        Self {
            tokens: StaticTokens::default(),
            serves_anonymous: true,
            authorization: Authorization::default(),
            token_key: None,
        }
    }
}
