//! Faults of writes.

pub(super) mod already_exists;
pub(super) mod conflict;
pub(super) mod denied;
pub(super) mod entity_too_large;
pub(super) mod lost_answer;
pub(super) mod slow_webhook;
