//! Faults of versions and history.

pub(super) mod compact;
pub(super) mod expire;
pub(super) mod expired_event;
pub(super) mod expired_relist;
pub(super) mod expired_status;
pub(super) mod gone;
pub(super) mod late_cache;
pub(super) mod rollback;
pub(super) mod version_too_large;
