//! Servers, and what stands before them, that have too much to do, fail, or let nobody in.

mod connection_refused;
mod forbidden;
mod hang;
mod latency;
mod server_error;
mod throttle;
mod unauthorized;

pub use self::{
    connection_refused::{ConnectionRefused, connection_refused},
    forbidden::{Forbidden, forbidden},
    hang::{Hang, hang},
    latency::{Latency, latency},
    server_error::{ErrorBody, ServerError, server_error},
    throttle::{Throttle, ThrottleForm, throttle},
    unauthorized::{Unauthorized, unauthorized},
};
