//! Documents as protobuf, in the messages of gnostic, which Go clients prefer.
//!
//! [`message`] encodes JSON by tables that map members to fields; [`v2`] and [`v3`] are those tables. They cover only
//! the members that this server's documents have; a test checks that no member is lost.

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
