//! Errors of a watch that cannot continue, and of a wait that ended too early.

use std::{fmt, time::Duration};

use crate::{
    list_watch::ListWatchError,
    object::{DecodeError, ObjectKey, ResourceVersion},
};

/// An error after which a [`RetryWatcher`](super::RetryWatcher) cannot resume. Failures that may pass are retried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetryWatcherError {
    /// There is no state to resume from: from this version the server would begin with the present state, in no order
    /// of versions. List first, and watch from the list's version.
    #[error("a watch cannot be resumed from version {0:?}")]
    StartVersion(ResourceVersion),
    /// The server no longer has the changes after the last version (410). List again.
    #[error("the changes after version {version} have expired")]
    Expired {
        /// The last version that was seen.
        version: ResourceVersion,
        /// The server's answer.
        #[source]
        source: ListWatchError,
    },
    /// The server cannot report a change (`StoreReadError`, or an event at a version that cannot be resumed from, such as
    /// `0`). List again.
    #[error("the server cannot report a change after version {version}")]
    ChangeUnavailable {
        /// The last version that was seen.
        version: ResourceVersion,
        /// The server's answer.
        #[source]
        source: ListWatchError,
    },
    /// The server rejects the credentials or the request (400, 401, 403, 404, 422 and the like). Trying again is useless until
    /// permissions, resource or selection change.
    #[error("the watch is refused")]
    Refused(#[source] ListWatchError),
}

/// An error of a wait.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UntilError<E> {
    /// The condition did not hold within the limit. The same wait may be repeated, and continues where this one ended.
    #[error(transparent)]
    Timeout(Box<UntilTimeout>),
    /// The condition gave an error.
    #[error("the condition failed")]
    Condition(#[source] E),
    /// The object that is waited for cannot be decoded. Waiting again is useless until it changes.
    #[error(transparent)]
    Decode(DecodeError),
    /// The server rejects the credentials or the request. Waiting is useless until permissions, resource or selection change.
    #[error("the server refuses")]
    Refused(#[source] ListWatchError),
}

/// A condition that was not met within a limit.
#[derive(Debug, thiserror::Error)]
#[error("{} not as wanted within {limit:?}: {last_state}", subject(.resource, .key.as_ref()))]
#[non_exhaustive]
pub struct UntilTimeout {
    /// The resource, as in `pods`; empty if its `ListWatch` does not name it.
    pub resource: String,
    /// The object, if one was waited for.
    pub key: Option<ObjectKey>,
    /// The time limit of the wait.
    pub limit: Duration,
    /// The last state that was seen.
    pub last_state: LastState,
    /// The last failure, if nothing has succeeded since.
    #[source]
    pub source: Option<ListWatchError>,
}

/// The last state that was seen before a wait ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LastState {
    /// No state has come.
    Nothing,
    /// The object, at this version of it.
    Present(ResourceVersion),
    /// That the object does not exist, as of this version of the selection.
    Absent(ResourceVersion),
    /// A selection.
    Selection {
        /// The number of objects.
        object_count: usize,
        /// Its version.
        resource_version: ResourceVersion,
    },
}

// === impl RetryWatcherError ===

impl RetryWatcherError {
    /// Returns true if the server no longer has the changes after the last version (410).
    pub fn is_expired(&self) -> bool {
        matches!(self, Self::Expired { .. })
    }

    /// Returns true if a new list and a watch from its version are needed.
    pub fn needs_relist(&self) -> bool {
        match self {
            Self::StartVersion(_) | Self::Expired { .. } | Self::ChangeUnavailable { .. } => true,
            Self::Refused(_) => false,
        }
    }

    /// The server's answer, if there was one.
    pub fn into_answer(self) -> Option<ListWatchError> {
        match self {
            Self::StartVersion(_) => None,
            Self::Expired { source, .. }
            | Self::ChangeUnavailable { source, .. }
            | Self::Refused(source) => Some(source),
        }
    }
}

// === impl UntilError ===

impl<E> UntilError<E> {
    /// Returns true if the limit was reached.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout(_))
    }

    /// The error of the condition, if that is what it is.
    pub fn into_condition(self) -> Option<E> {
        match self {
            Self::Condition(error) => Some(error),
            _ => None,
        }
    }
}

fn subject(resource: &str, key: Option<&ObjectKey>) -> String {
    match (resource, key) {
        ("", Some(key)) => key.to_string(),
        (resource, Some(key)) => format!("{resource} {key}"),
        ("", None) => "the selection".to_owned(),
        (resource, None) => resource.to_owned(),
    }
}

// === impl LastState ===

impl fmt::Display for LastState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing was seen"),
            Self::Present(version) => write!(f, "last seen at version {version}"),
            Self::Absent(version) => write!(f, "absent at version {version}"),
            Self::Selection {
                object_count,
                resource_version,
            } => write!(f, "{object_count} objects at version {resource_version}"),
        }
    }
}
