//! CEL expressions that select devices, without a compiler of CEL: all are accepted, and none can be evaluated.

use serde_json::Value;

/// An expression that selects devices, of which nothing is known.
#[derive(Debug)]
pub(crate) struct DeviceSelector;

// === impl DeviceSelector ===

impl DeviceSelector {
    /// Refuses an expression.
    pub(crate) fn compile(_expression: &str) -> Result<Self, String> {
        Err("expressions need the feature `cel`".to_owned())
    }

    /// Selects nothing.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "it has the face of the one that is compiled in"
    )]
    pub(crate) fn selects(&self, _driver: &str, _device: &Value) -> Result<bool, String> {
        Ok(false)
    }
}

/// Finds nothing.
pub(super) fn expression_problem(_expression: &str) -> Option<String> {
    None
}
