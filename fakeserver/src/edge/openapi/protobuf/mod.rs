//! Documents as protobuf, in the messages of gnostic: what Go clients ask for first.
//!
//! [`message`] writes JSON by tables that say which member is which field; [`v2`] and [`v3`] are those tables. They have
//! what the documents of this server have, and no more: a test checks that nothing is lost.

mod message;
mod v2;
mod v3;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::definitions::Dialect;

/// A document of one version of OpenAPI as protobuf.
pub(super) fn encode(dialect: Dialect, document: &Value) -> Vec<u8> {
    match dialect {
        Dialect::V2 => message::encode(&v2::DOCUMENT, document),
        Dialect::V3 => message::encode(&v3::DOCUMENT, document),
    }
}
