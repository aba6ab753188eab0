//! Why a handler is told something.

/// Why a handler is told something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// It was there when the informer started, or when the handler joined.
    Initial,
    /// The server told of a change.
    Live,
    /// A relist found that something had changed meanwhile.
    Relist,
    /// Nothing changed: the handler's resync period has passed.
    Resync,
}

// === impl Cause ===

impl Cause {
    /// Whether it belongs to the state that the handler found: `in_initial_list` of
    /// [`on_add`](super::EventHandler::on_add).
    pub fn is_initial(self) -> bool {
        self == Self::Initial
    }

    /// Whether nothing changed: the cache is told again.
    pub fn is_resync(self) -> bool {
        self == Self::Resync
    }
}
