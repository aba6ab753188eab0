//! Phases, requests and their ends.

use std::fmt::{self, Display, Formatter};

use super::in_file::asked;
use crate::tracefile::{self, EventKind};

/// The phases of a run, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Phase {
    /// The cluster is prepared.
    Setup,
    /// Operations and faults.
    Safety,
    /// Faults have ended; caches have to converge.
    Recovery,
    /// All caches equal the server.
    Converged,
    /// The time for convergence is over.
    GivenUp,
    /// Informers and server shut down.
    Shutdown,
}

/// The request of an informer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestKind {
    /// A list, or a page of one.
    List {
        /// The version in the request, as text.
        revision: String,
        /// True for a page that continues another one.
        is_continued: bool,
    },
    /// A watch.
    Watch {
        /// The version to begin after, as text.
        revision: String,
        /// True if the initial state is to be streamed first.
        is_streaming_list: bool,
    },
}

/// The end of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Ending {
    /// Complete.
    Clean,
    /// Broken off.
    Broken,
    /// Dropped by the client.
    Dropped,
}

/// The failure of a process under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Failure {
    /// It ended.
    Ended,
    /// It broke the protocol.
    Misspoke,
    /// It does not answer.
    Unresponsive,
}

// === impl RequestKind ===

impl RequestKind {
    /// Returns the event of a trace file.
    pub(super) fn in_file(&self, request: usize) -> EventKind {
        let (verb, say) = match self {
            Self::List {
                is_continued: true, ..
            } => ("list", "next page".to_owned()),
            Self::List { revision, .. } => ("list", format!("list from \"{revision}\"")),
            Self::Watch {
                revision,
                is_streaming_list,
            } => {
                let what = watch(*is_streaming_list);
                ("watch", format!("{what} from \"{revision}\""))
            }
        };
        asked(request, verb, say)
    }
}

impl Display for RequestKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::List {
                revision,
                is_continued,
            } => {
                let what = if *is_continued { "next page" } else { "list" };
                write!(f, "{what} at \"{revision}\"")
            }
            Self::Watch {
                revision,
                is_streaming_list,
            } => write!(f, "{} from \"{revision}\"", watch(*is_streaming_list)),
        }
    }
}

fn watch(is_streaming_list: bool) -> &'static str {
    if is_streaming_list {
        "streaming list"
    } else {
        "watch"
    }
}

// === impl Ending ===

impl Ending {
    /// Returns the end in the words of trace files.
    pub(crate) const fn in_file(self) -> tracefile::Ending {
        match self {
            Self::Clean => tracefile::Ending::Clean,
            Self::Broken => tracefile::Ending::Broken,
            Self::Dropped => tracefile::Ending::Dropped,
        }
    }
}

impl Display for Ending {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clean => "in good order",
            Self::Broken => "broken off",
            Self::Dropped => "given up",
        })
    }
}
