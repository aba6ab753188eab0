//! Authentication: a client certificate, a bearer token or the absence of both becomes a user.
//!
//! The transport says first whom it knows ([`Peer`]), then a token speaks, then the request is anonymous if that is
//! allowed. A token or a certificate that is wrong is an error, also where anonymous requests are served.

mod error;
mod tokens;
mod service_account;
mod subprotocol;
mod authenticator;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    authenticator::{Authenticator, Peer},
    error::AuthenticationError,
    service_account::{ISSUER, TokenSigner},
    subprotocol::spoken as spoken_protocols,
    tokens::StaticTokens,
};
