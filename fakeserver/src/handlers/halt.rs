//! Why a write comes to nothing, for now or for good.

use super::question::Question;
use crate::status::Status;

/// Why an attempt came to nothing.
#[derive(Debug)]
pub(super) enum Halt {
    /// The write cannot be done.
    Refused(Status),
    /// Webhooks have to be asked first.
    Asks(Box<Question>),
}

// === impl Halt ===

impl From<Status> for Halt {
    fn from(status: Status) -> Self {
        Self::Refused(status)
    }
}
