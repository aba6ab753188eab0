//! HTTP/1.1 beside its library: what Go's server accepts that the library refuses, and the other way round.
//!
//! ```text
//! socket ──► stream: finds the heads of requests ──► hyper ──► check: takes the rest of the head, refuses ──► router
//!               └─ Heads: what does not fit into a head of the library ──────┘
//! ```
//!
//! The library takes 65,534 bytes of target and 100 headers; Go takes 1 MiB of head in all. The library ends a request when
//! the client closes its half of the connection; Go answers it.

mod body_length;
mod head;
mod heads;
mod stream;
mod check;

pub(super) use self::{check::check, head::HEAD_MAX_BYTES, heads::Heads, stream::RequestStream};
