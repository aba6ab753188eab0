//! Calls of webhooks: what the server asks others by a POST of JSON, and they answer.
//!
//! A [`ClientConfig`](crate::kinds::client_config::ClientConfig) says whom to ask, as objects of the API have it. [`Webhooks`] asks: over TLS, or in process where a
//! test has said so. Each call has a connection of its own and a limit of time, and needs no task.

mod connection;
mod error;
#[cfg_attr(not(feature = "tls"), path = "tls_off.rs")]
mod tls;
mod routes;
#[cfg(all(test, feature = "tls"))]
mod tests;

pub(crate) use self::{error::WebhookError, routes::Webhooks};
