//! Faults of servers, and of intermediaries, that are overloaded, fail, or refuse a client.

pub(super) mod connection_refused;
pub(super) mod forbidden;
pub(super) mod hang;
pub(super) mod latency;
pub(super) mod server_error;
pub(super) mod slow_headers;
pub(super) mod throttle;
pub(super) mod unauthorized;
