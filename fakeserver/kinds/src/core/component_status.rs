//! Statuses of components. The server has none.

use crate::Kind;

/// Statuses of components, of which there are none.
pub static KIND: Kind =
    Kind::new("", "componentstatuses").deprecated("v1 ComponentStatus is deprecated in v1.19+");
