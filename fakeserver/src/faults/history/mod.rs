//! What happens to the past that clients ask about.

mod compact;
mod expire;
mod expired_event;
mod expired_relist;
mod expired_status;
mod gone;
mod rollback;
mod version_too_large;

pub use self::{
    compact::{Compact, compact},
    expire::{Expire, expire},
    expired_event::{ExpiredEvent, expired_event},
    expired_relist::{ExpiredRelist, expired_relist},
    expired_status::{ExpiredStatus, expired_status},
    gone::{Gone, GoneForm, gone},
    rollback::{Rollback, rollback},
    version_too_large::{VersionTooLarge, version_too_large},
};
