//! Statuses of components. The server has none.

use crate::Kind;

/// The deprecated `ComponentStatus`, of which this server has no objects.
pub static KIND: Kind =
    Kind::new("", "componentstatuses").deprecated("v1 ComponentStatus is deprecated in v1.19+");
