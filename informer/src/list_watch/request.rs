//! What is asked of a server.

use std::time::Duration;

use crate::object::ResourceVersion;

/// How a list's version is to be read by the server.
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
    /// Unknown: the most recent state, consistently. `0`: whatever the server has at hand. Else as `version_match` says.
    pub resource_version: ResourceVersion,
    /// How to read `resource_version`; leave out for the server's defaults.
    pub version_match: Option<VersionMatch>,
    /// The most items wanted in this page; `None` for all.
    pub limit: Option<u32>,
    /// Where to go on; a request with a token has neither version nor match.
    pub continue_token: Option<String>,
}

/// A watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchRequest {
    /// The version after which to begin.
    pub resource_version: ResourceVersion,
    /// Whether bookmarks are wanted.
    pub allow_bookmarks: bool,
    /// Whether the present state is to be streamed first, ended by a bookmark.
    pub send_initial_events: bool,
    /// When the server shall end the watch; it has a limit of its own if this is `None`.
    pub timeout: Option<Duration>,
}
