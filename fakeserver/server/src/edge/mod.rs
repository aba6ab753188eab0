//! The edge: HTTP requests and responses, users and permissions, and the documents that describe the API.

pub mod request;
pub mod authentication;
pub(crate) mod authorization;
pub(crate) mod flow_control;
pub(crate) mod response;
pub mod forwarding;
pub(crate) mod discovery;
pub(crate) mod openapi;
