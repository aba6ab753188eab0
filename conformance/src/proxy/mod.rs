//! A reverse proxy in front of a real API server, which does to its answers what faults order.
//!
//! It speaks HTTP/1.1 and HTTP/2 to its clients and HTTP/1.1 to its upstream. Rules are those of
//! [`fakeserver::faults`]: they see each request, and each frame of a watch in JSON; watches in other forms meet them as
//! requests only, and what becomes another protocol (`WebSockets`, exec) passes. What only a server can do to itself is
//! refused when it is to be installed.
//!
//! ```text
//!           request   ┌ rules ┐   upstream
//!  client ──────────►─┤       ├─►──────────  API server
//!         ◄─ bytes ───┤ shape ├─◄── lines ──
//!                     └ rules ┘
//! ```
//!
//! # Limits
//!
//! Bodies of requests have 4 MiB at most and come within a minute, answers begin within 75 s and go on within 75 s, watches
//! within 65 minutes, lines have 16 MiB at most.

mod error;
mod frames;
mod shape;
mod pieces;
mod request;
mod support;
mod stream;
mod upgrade;
mod upstream;
mod control;
mod driver;

pub use self::{driver::Proxy, error::ProxyError, support::can_make};

#[cfg(test)]
mod tests;
