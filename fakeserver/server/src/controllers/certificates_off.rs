//! The controller of certificate signing requests, compiled out.

use super::{EnabledControllers, controller::Controller};

/// Returns no controller.
pub(super) fn controller(_: &EnabledControllers) -> Option<Box<dyn Controller>> {
    None
}
