//! Calls of webhooks: POST requests with JSON, and their answers.
//!
//! A [`ClientConfig`](fakeserver_kinds::client_config::ClientConfig) has the address of a webhook, as objects of the API
//! name it. [`Webhooks`] calls it: over TLS, or in process if a test has configured that. Each call has a connection of
//! its own and a timeout, and needs no task. The routes that are configured here, and TLS, also serve requests that are
//! forwarded to other API servers.

mod trust;
#[cfg(feature = "tls")]
mod bundle;
mod call;
mod connection;
mod error;
#[cfg_attr(not(feature = "tls"), path = "tls_off.rs")]
mod tls;
mod routes;
#[cfg(all(test, feature = "tls"))]
mod tests;

pub use self::{
    error::{WebhookError, dial_problem},
    routes::{Route, Webhooks},
    tls::connect as connect_tls,
    trust::Trust,
};
