//! What happens to writes.

mod already_exists;
mod conflict;
mod denied;
mod entity_too_large;
mod lost_answer;
mod slow_webhook;

pub use self::{
    already_exists::{AlreadyExists, already_exists},
    conflict::{Conflict, conflict},
    denied::{Denied, denied},
    entity_too_large::{EntityTooLarge, entity_too_large},
    lost_answer::{LostAnswer, LostAs, lost_answer},
    slow_webhook::{SlowWebhook, slow_webhook},
};
