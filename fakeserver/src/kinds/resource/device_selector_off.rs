//! Compiled expressions that select devices, without a compiler of CEL: there are none.

use serde_json::Value;

/// A compiled expression that selects devices, of which there is none.
#[derive(Debug)]
pub(crate) enum DeviceSelector {}

// === impl DeviceSelector ===

impl DeviceSelector {
    /// Refuses an expression.
    pub(crate) fn compile(_expression: &str) -> Result<Self, String> {
        Err("expressions need the feature `cel`".to_owned())
    }

    /// Returns nothing, since there are no selectors.
    pub(crate) fn selects(&self, _driver: &str, _device: &Value) -> Result<bool, String> {
        match *self {}
    }
}
