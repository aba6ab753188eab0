//! Authentication: finds the user of a request by its client certificate, its bearer token, or the absence of both.
//!
//! A user that the transport knows ([`Peer`]) comes first, then that of a token. A request without credentials is
//! anonymous if that is allowed. An invalid token or certificate is an error, even if anonymous requests are served.

#[cfg(feature = "tls")]
mod account_keys;
mod error;
#[cfg(feature = "tls")]
mod jws;
mod tokens;
mod service_account;
mod subprotocol;
mod authenticator;
#[cfg(test)]
mod tests;

#[cfg(feature = "tls")]
pub use self::account_keys::{ServiceAccountKeyError, ServiceAccountKeys};
pub use self::{
    authenticator::{Authenticator, Peer},
    error::AuthenticationError,
    service_account::TokenSigner,
    subprotocol::spoken as spoken_protocols,
    tokens::StaticTokens,
};
