//! Proves that a Kubernetes client's cache converges to the server's state under faults.
//!
//! [`golden`] plays recorded answers of a real API server, which the fake one has to match.

mod call;
// The fake server against a real one.
pub mod golden;
