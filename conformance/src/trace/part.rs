//! The kinds of parts of an informer.

/// The kinds of parts that subjects compare by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// An index.
    Index,
    /// A reader: a lister, or a store by name or by page.
    Reader,
    /// A filter before a handler.
    Filter,
    /// A handler that is removed.
    Handler,
    /// A report of an informer about itself.
    Report,
}

// === impl Part ===

impl Part {
    /// Returns its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Index => "index",
            Self::Reader => "reader",
            Self::Filter => "filter",
            Self::Handler => "handler",
            Self::Report => "report",
        }
    }
}
