//! The state that a read returns, by `resourceVersion`, `resourceVersionMatch`, `limit` and `continue` together.

use fakeserver_value::{revision::Revision, status::Status};
use thiserror::Error;

use crate::store::continue_token::ContinueToken;

/// The parameter `resourceVersionMatch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VersionMatch {
    Exact,
    NotOlderThan,
}

/// The parameter `resourceVersion`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// `""`: the latest state.
    Latest,
    /// `0`: any state.
    Any,
    /// `N`.
    At(Revision),
}

/// `resourceVersion` is no number. The text is the API's; the message around it differs by verb.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {problem}")]
pub(super) struct BadVersion {
    text: String,
    problem: &'static str,
}

/// The state of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListAt {
    /// The latest, once it is not older than this.
    NotOlderThan(Revision),
    /// Exactly this one.
    Exact(Revision),
    /// The one that a token names.
    Continue(ContinueToken),
}

/// The beginning of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchFrom {
    /// With the present state, once it is not older than this.
    State {
        not_older_than: Option<Revision>,
        /// True if a bookmark ends it, for clients that take bookmarks.
        marks_end: bool,
    },
    /// With what comes next.
    Now,
    /// With the first change after this.
    After(Revision),
}

// === impl Version ===

impl Version {
    /// Reads the parameter.
    pub(super) fn parse(text: &str) -> Result<Self, BadVersion> {
        match text {
            "" => return Ok(Self::Latest),
            "0" => return Ok(Self::Any),
            _ => {}
        }
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            // Leading zeros are ignored.
            Ok(0) if digits => Ok(Self::Any),
            Ok(revision) if digits => Ok(Self::At(Revision::new(revision))),
            _ => Err(BadVersion {
                text: text.to_owned(),
                problem: if digits {
                    "value out of range"
                } else {
                    "invalid syntax"
                },
            }),
        }
    }
}

// === impl ListAt ===

impl ListAt {
    /// Returns the state of a list, and its limit.
    ///
    /// Invalid combinations of parameters were rejected before.
    pub(super) fn new(
        version: Version,
        matching: Option<VersionMatch>,
        limit: Option<usize>,
        continue_token: &str,
    ) -> Result<(Self, Option<usize>), Status> {
        if !continue_token.is_empty() {
            if let Version::At(_) = version {
                return Err(Status::bad_request(
                    "specifying resource version is not allowed when using continue",
                ));
            }
            let token = ContinueToken::decode(continue_token)
                .map_err(|error| Status::bad_request(format!("invalid continue token: {error}")))?;
            return Ok((Self::Continue(token), limit));
        }
        Ok(match (version, matching) {
            (Version::Latest, _) => (Self::NotOlderThan(Revision::default()), limit),
            // Any state will do: it comes whole from memory.
            (Version::Any, _) => (Self::NotOlderThan(Revision::default()), None),
            (Version::At(revision), Some(VersionMatch::Exact)) => (Self::Exact(revision), limit),
            // Before there was a match, a page of a version was a page of exactly that version.
            (Version::At(revision), None) if limit.is_some() => (Self::Exact(revision), limit),
            (Version::At(revision), _) => (Self::NotOlderThan(revision), limit),
        })
    }
}

// === impl WatchFrom ===

impl WatchFrom {
    /// Returns the beginning of a watch. Without `sendInitialEvents`, a watch from no version gets them all the same.
    pub(super) fn new(version: Version, send_initial_events: Option<bool>) -> Self {
        match (version, send_initial_events) {
            (Version::Latest | Version::Any, None) => Self::State {
                not_older_than: None,
                marks_end: true,
            },
            (Version::Latest | Version::Any, Some(false)) => Self::Now,
            (Version::At(revision), None | Some(false)) => Self::After(revision),
            (version, Some(true)) => Self::State {
                not_older_than: match version {
                    Version::At(revision) => Some(revision),
                    _ => None,
                },
                marks_end: true,
            },
        }
    }

    /// Returns the beginning on a server without streaming lists.
    pub(super) fn without_watch_list(version: Version) -> Self {
        match Self::new(version, None) {
            Self::State { not_older_than, .. } => Self::State {
                not_older_than,
                marks_end: false,
            },
            other => other,
        }
    }
}
