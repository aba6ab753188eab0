//! Requests to a server.

use std::time::Duration;

use crate::object::ResourceVersion;

/// The way in which the server reads a list's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: the API has these two"
)]
pub enum VersionMatch {
    /// Any state that is at least this new.
    NotOlderThan,
    /// Exactly this version.
    Exact,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRequest {
    /// Unknown: the most recent state, consistently. `0`: any state that the server has cached. Else as `version_match`
    /// says.
    pub resource_version: ResourceVersion,
    /// The way to read `resource_version`; `None` for the server's default.
    pub version_match: Option<VersionMatch>,
    /// The most items wanted in this page; `None` for all.
    pub limit: Option<u32>,
    /// The start of the page; a request with a token has neither version nor match.
    pub continue_token: Option<String>,
}

/// A watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchRequest {
    /// The version after which to begin.
    pub resource_version: ResourceVersion,
    /// True to request bookmarks.
    pub allow_bookmarks: bool,
    /// True to stream the present state first, ended by a bookmark.
    pub send_initial_events: bool,
    /// The time after which the server shall end the watch; it has a limit of its own if this is `None`.
    pub timeout: Option<Duration>,
}

// === impl ListRequest ===

impl ListRequest {
    /// Returns the request for the page that begins at `continue_token`. The token names the version, so that the request has
    /// none.
    #[must_use]
    pub fn next_page(&self, continue_token: impl Into<String>) -> Self {
        Self {
            limit: self.limit,
            continue_token: Some(continue_token.into()),
            ..Self::default()
        }
    }
}
