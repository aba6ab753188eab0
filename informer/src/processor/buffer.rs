//! The buffer of a handler that falls behind.

/// The default number of live changes that wait in order.
const LIMIT: usize = 10_000;

/// The policy for live changes that a handler is too slow for.
///
/// A limit is the number of live changes, those of relists included, that wait in order. What belongs to the initial state, and
/// what a resync repeats, is not counted: it is there once, and is read from the cache's snapshot where that is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Buffer {
    /// Changes beyond the limit are merged with those of the same key that wait beyond it.
    ///
    /// The handler receives fewer states, and ends with the same as if it had received all:
    ///
    /// | pending | arriving | delivered |
    /// |---|---|---|
    /// | update from a to b | update from b to c | update from a to c |
    /// | add of a | update from a to b | add of b |
    /// | add of a | delete | nothing |
    /// | update from a to b | delete | delete |
    /// | delete | add | both: it may be another object |
    ///
    /// For one key the order stays; a merged notification takes the place of the first. Nothing is merged over the end
    /// of the initial state, or over a resync.
    ///
    /// # Memory
    ///
    /// The limit, and two notifications a key.
    Coalescing {
        /// The number of changes that wait in order.
        limit: usize,
    },
    /// Everything waits in order.
    ///
    /// # Memory
    ///
    /// Grows for as long as the handler is slower than changes come.
    Unbounded,
    /// The handler is removed as soon as more than the limit wait. Its registration reports it
    /// ([`HandlerEnd::Overflowed`](super::HandlerEnd::Overflowed)).
    ///
    /// A relist can bring as many changes at once as there are objects.
    Disconnecting {
        /// The number of changes that may wait.
        limit: usize,
    },
}

// === impl Buffer ===

impl Default for Buffer {
    /// Coalescing beyond 10,000.
    fn default() -> Self {
        Self::Coalescing { limit: LIMIT }
    }
}
