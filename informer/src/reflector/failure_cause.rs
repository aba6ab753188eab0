//! Classes of failure: all that the machine needs to know of an error.

use std::fmt;

use crate::list_watch::ListWatchError;

/// The cause of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FailureCause {
    /// The version or the continue token is no longer in the server's history (410, in either form).
    Expired,
    /// The server has not seen the version yet (a server that lags behind, or was restored).
    TooLargeVersion,
    /// The server asks for fewer requests (429).
    Throttled,
    /// No process listens at the server's address.
    Refused,
    /// The connection failed or broke off.
    Transport,
    /// Nothing came within the time limit.
    TimedOut,
    /// The server, or a proxy before it, cannot serve at the moment (502, 503, 504).
    Unavailable,
    /// The server cannot read an object in its storage (reason `StoreReadError`). A watch with this error leaves that
    /// object's deletion out, so that only a new state can show it.
    Unreadable,
    /// The server failed (any other 5xx).
    ServerError,
    /// The server does not accept the credentials (401).
    Unauthorized,
    /// The user may not do that, or not any more (403).
    Forbidden,
    /// The server has no such resource, or not any more: its CRD was removed (404).
    NotFound,
    /// The server denies the request for another reason (any other 4xx).
    Denied,
    /// The server does not know or accept a parameter, or the form that was asked for (400, 406, 415, 422).
    Invalid,
    /// The answer is not what the API promises.
    Protocol,
    /// The request cannot be made.
    Request,
    /// The watch ended at once and brought nothing.
    EndedEarly,
    /// An object cannot be decoded. It is left out and the others are delivered, unless the error policy says
    /// otherwise.
    Undecodable,
}

// === impl FailureCause ===

impl FailureCause {
    /// The class of an error.
    pub fn of(error: &ListWatchError) -> Self {
        if error.is_expired() {
            return Self::Expired;
        }
        if error.is_too_large_resource_version() {
            return Self::TooLargeVersion;
        }
        match error {
            ListWatchError::Status(status) if status.reason == "StoreReadError" => Self::Unreadable,
            ListWatchError::Status(status) => Self::of_code(status.code),
            ListWatchError::Transport(_) => Self::Transport,
            ListWatchError::Refused(_) => Self::Refused,
            ListWatchError::Timeout { .. } => Self::TimedOut,
            ListWatchError::Protocol { .. } | ListWatchError::FrameTooLarge { .. } => {
                Self::Protocol
            }
            ListWatchError::Decode(_) => Self::Undecodable,
            ListWatchError::Request(_) => Self::Request,
        }
    }

    fn of_code(code: u16) -> Self {
        match code {
            429 => Self::Throttled,
            400 | 406 | 415 | 422 => Self::Invalid,
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            402..=499 => Self::Denied,
            502..=504 => Self::Unavailable,
            500..=599 => Self::ServerError,
            _ => Self::Protocol,
        }
    }

    /// Returns true if the server understood and rejected the request.
    #[must_use]
    pub fn is_denied(self) -> bool {
        matches!(
            self,
            Self::Unauthorized | Self::Forbidden | Self::NotFound | Self::Denied
        )
    }

    /// Returns true if the server does not accept the requester or the request, so that trying again is useless until one of
    /// them changes.
    pub(crate) fn is_rejected(self) -> bool {
        self.is_denied() || matches!(self, Self::Invalid | Self::Request)
    }

    /// Returns true if the resource or the permission for it is gone: an administrator has to restore it.
    #[must_use]
    pub fn is_withdrawn(self) -> bool {
        matches!(self, Self::Forbidden | Self::NotFound)
    }

    /// Returns true if the same request may well succeed a little later.
    pub(super) fn is_transient(self) -> bool {
        matches!(
            self,
            Self::Throttled
                | Self::Refused
                | Self::Transport
                | Self::TimedOut
                | Self::Unavailable
                | Self::ServerError
        )
    }
}

impl fmt::Display for FailureCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "the version has expired",
            Self::TooLargeVersion => "the server has not seen the version yet",
            Self::Throttled => "the server asks for fewer requests",
            Self::Refused => "the server refuses connections",
            Self::Transport => "the connection failed",
            Self::TimedOut => "nothing came within the time limit",
            Self::Unavailable => "the server is unavailable",
            Self::Unreadable => "the server cannot read its storage",
            Self::ServerError => "the server failed",
            Self::Unauthorized => "the server does not know who asks",
            Self::Forbidden => "the server forbids the request",
            Self::NotFound => "the server has no such resource",
            Self::Denied => "the server denied the request",
            Self::Invalid => "the server does not accept the request",
            Self::Protocol => "the answer is not what the API promises",
            Self::Request => "the request cannot be made",
            Self::EndedEarly => "the watch ended at once",
            Self::Undecodable => "an object cannot be decoded",
        })
    }
}
