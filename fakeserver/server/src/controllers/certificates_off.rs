//! The controller of certificate signing requests, compiled out.

use super::{Controllers, controller::Controller};

/// Returns no controller.
pub(super) fn controller(_: &Controllers) -> Option<Box<dyn Controller>> {
    None
}
