//! Calls of webhooks: what the server asks others by a POST of JSON, and they answer.
//!
//! A [`ClientConfig`] says whom to ask, as objects of the API have it. [`Webhooks`] asks: over TLS, or in process where a
//! test has said so. Each call has a connection of its own and a limit of time, and needs no task.

mod client_config;
mod connection;
mod error;
mod routes;
mod validation;
#[cfg(test)]
mod tests;

pub(crate) use self::{
    client_config::ClientConfig, error::WebhookError, routes::Webhooks,
    validation::client_config_errors,
};
