//! Reports of informers about themselves.

use std::{
    fmt::{self, Display, Formatter},
    time::Duration,
};

use informer::reflector::FailureCause;

use super::member::Key;
use crate::tracefile::seconds;

/// A report of an informer to its observer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Report {
    /// It follows changes now: the cache holds a whole state.
    Follows,
    /// It waits: before it tries again, or for a probe.
    Waits {
        /// The cause; `None` if its owner asked for it.
        cause: Option<FailureCause>,
        /// The time; `None` if it waits for its owner.
        delay: Option<Duration>,
    },
    /// A list is whole.
    Listed {
        /// Its version.
        revision: u64,
        /// The number of its objects.
        item_count: u64,
        /// The time from the first page to the last.
        took: Duration,
    },
    /// A watch has ended.
    Watched {
        /// The number of its events and bookmarks.
        item_count: u64,
        /// Its lifetime.
        took: Duration,
    },
    /// A request or a stream failed.
    Failed {
        /// The cause.
        cause: FailureCause,
        /// The number of delays in a row.
        attempt: u32,
        /// The delay before the next attempt.
        delay: Duration,
    },
    /// A version of an object cannot be decoded.
    Undecodable {
        /// The key.
        key: Key,
        /// The version.
        revision: u64,
    },
}

/// The numbers that an informer tells of itself, at some moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct Counts {
    /// The number of changes that wait to be applied.
    pub queued: u64,
    /// The number of objects that are held.
    pub objects: u64,
    /// The number of objects that cannot be decoded.
    pub undecodable: u64,
    /// The number of requests for pages.
    pub lists: u64,
    /// The number of requests for streaming lists.
    pub streaming_lists: u64,
    /// The number of requests for watches.
    pub watches: u64,
    /// The number of failures.
    pub failures: u64,
    /// The number of whole states.
    pub replacements: u64,
    /// The number of failures since it was last whole.
    pub failed_attempts: u64,
    /// The cause of the last of them.
    pub last_cause: Option<FailureCause>,
    /// The numbers of its handlers.
    pub handlers: Vec<HandlerCounts>,
}

/// The numbers of one handler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct HandlerCounts {
    /// Its number at its informer.
    pub handler: usize,
    /// The number of notifications that wait for it.
    pub pending: u64,
    /// The number of notifications that it has received.
    pub delivered: u64,
    /// The number of notifications that were merged with others.
    pub coalesced: u64,
    /// The number of notifications on which it panicked.
    pub panics: u64,
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Follows => f.write_str("follows changes"),
            Self::Waits { cause, delay } => {
                f.write_str("waits")?;
                if let Some(delay) = delay {
                    write!(f, " for {} s", seconds(*delay))?;
                }
                cause.map_or(Ok(()), |cause| write!(f, " ({cause})"))
            }
            Self::Listed {
                revision,
                item_count,
                took,
            } => write!(
                f,
                "has listed {item_count} objects at {revision} in {} s",
                seconds(*took)
            ),
            Self::Watched { item_count, took } => {
                write!(f, "has watched {item_count} events in {} s", seconds(*took))
            }
            Self::Failed {
                cause,
                attempt,
                delay,
            } => write!(
                f,
                "failed ({cause}), delay {attempt} in a row, {} s",
                seconds(*delay)
            ),
            Self::Undecodable { key, revision } => write!(f, "cannot decode {key}@{revision}"),
        }
    }
}

impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            queued,
            objects,
            undecodable,
            lists,
            streaming_lists,
            watches,
            failures,
            replacements,
            failed_attempts,
            last_cause,
            handlers,
        } = self;
        write!(
            f,
            "queued {queued}, objects {objects}, undecodable {undecodable}, lists {lists}, streaming lists \
             {streaming_lists}, watches {watches}, failures {failures}, states {replacements}, failed since \
             {failed_attempts}"
        )?;
        if let Some(cause) = last_cause {
            write!(f, " ({cause})")?;
        }
        handlers.iter().try_for_each(|counts| {
            let HandlerCounts {
                handler,
                pending,
                delivered,
                coalesced,
                panics,
            } = counts;
            write!(
                f,
                "; handler {handler}: pending {pending}, delivered {delivered}, merged {coalesced}, panics {panics}"
            )
        })
    }
}
