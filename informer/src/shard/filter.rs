//! The filter of one informer: what of the server's answers is in its shard, and whether the server knows shards.

use std::sync::atomic::{AtomicU8, Ordering};

use super::Shard;
use crate::{counter::Counter, object::Metadata};

/// Selects the objects of a shard from what a server sends, and notes whether the server had selected them.
///
/// A [`ListWatch`](crate::list_watch::ListWatch) of a shard has one, which its informer reports.
#[derive(Debug)]
pub struct ShardFilter {
    shard: Shard,
    selector: String,
    who_selects: AtomicU8,
    dropped: Counter,
}

/// The shard of an informer, and the work that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardStatus {
    /// The shard.
    pub shard: Shard,
    /// The side that selects.
    pub who_selects: WhoSelects,
    /// The number of objects and events that the server sent although they are not in the shard.
    pub dropped: u64,
}

/// The side that selects the objects of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: there are two sides"
)]
pub enum WhoSelects {
    /// The answer is not known: no list has said so, and nothing was sent that is outside of the shard.
    #[default]
    Unknown,
    /// The server, according to its last list.
    Server,
    /// The informer: the server sends other objects, too.
    Client,
}

// === impl ShardFilter ===

impl ShardFilter {
    /// Creates the filter of `shard`.
    pub fn new(shard: Shard) -> Self {
        Self {
            selector: shard.selector(),
            shard,
            who_selects: AtomicU8::default(),
            dropped: Counter::default(),
        }
    }

    /// Returns the selector that is sent to the server.
    pub fn selector(&self) -> &str {
        &self.selector
    }

    /// Returns true if an object that was sent is in the shard; counts it if it is not.
    pub fn admits(&self, metadata: &Metadata) -> bool {
        let is_in = self.shard.contains(metadata);
        if !is_in {
            self.dropped.increment();
            let before = self.note(WhoSelects::Client);
            if before != WhoSelects::Client {
                tracing::warn!(
                    shard = %self.shard,
                    "the server does not select shards: all objects are transferred, and those of other shards dropped"
                );
            }
        }
        is_in
    }

    /// Notes the selector that a list says it was selected by; returns false if that is another one.
    pub fn note_echo(&self, echo: &str) -> bool {
        let is_own = echo == self.selector;
        if is_own && self.note(WhoSelects::Server) != WhoSelects::Server {
            tracing::debug!(shard = %self.shard, "the server selects the shard");
        }
        is_own
    }

    /// Returns the state of the filter.
    pub fn status(&self) -> ShardStatus {
        ShardStatus {
            shard: self.shard,
            who_selects: WhoSelects::of(self.who_selects.load(Ordering::Relaxed)),
            dropped: self.dropped.get(),
        }
    }

    fn note(&self, who: WhoSelects) -> WhoSelects {
        WhoSelects::of(self.who_selects.swap(who as u8, Ordering::Relaxed))
    }
}

// === impl WhoSelects ===

impl WhoSelects {
    fn of(number: u8) -> Self {
        match number {
            1 => Self::Server,
            2 => Self::Client,
            _ => Self::Unknown,
        }
    }
}
