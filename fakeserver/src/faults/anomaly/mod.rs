//! What no correct server does: negative controls, which a checker must find.

mod bookmark_ahead;
mod drop_event;
mod duplicate_event;
mod reorder_events;

pub use self::{
    bookmark_ahead::{BookmarkAhead, bookmark_ahead},
    drop_event::{DropEvent, drop_event},
    duplicate_event::{DuplicateEvent, duplicate_event},
    reorder_events::{ReorderEvents, reorder_events},
};
