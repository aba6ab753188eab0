//! Errors of discovery.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use crate::list_watch::Status;

/// A failed request for discovery, or a group version that the server itself knows nothing current about.
///
/// It can be cloned, since all callers that waited for the request receive one failure.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The server answered with an error.
    #[error("the server answered {}: {}", .0.code, .0.message)]
    Status(Arc<Status>),
    /// No answer, or not to its end. Try again.
    #[error("the connection failed")]
    Transport(#[source] Arc<dyn Error + Send + Sync>),
    /// No whole answer within the time limit. Try again.
    #[error("no answer within {limit:?}")]
    Timeout {
        /// [`DiscoveryOptions::request_timeout`](super::DiscoveryOptions::request_timeout).
        limit: Duration,
    },
    /// The answer is not what the API promises. Something else may answer at this address; trying again is useless.
    #[error("the answer is not {expected}")]
    Protocol {
        /// The expected kind of answer.
        expected: &'static str,
        /// The decoder's error.
        #[source]
        source: Arc<serde_json::Error>,
    },
    /// The answer is larger than [`DiscoveryOptions::body_size_bytes_max`](super::DiscoveryOptions::body_size_bytes_max).
    #[error("the answer is larger than {limit_bytes} bytes")]
    BodyTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// The server lists this group version, but could not reach what serves it for some time. Try again later.
    #[doc(alias = "StaleGroupVersionError")]
    #[error("the server's own knowledge of it is stale")]
    Stale,
    /// Too many requests failed or found nothing new, so that this one was not sent.
    #[error("discovery is asked for too often; try again in {retry_after:?}")]
    Throttled {
        /// The time until the next request.
        retry_after: Duration,
        /// The error of the last request, if it failed.
        #[source]
        last: Option<Arc<DiscoveryError>>,
    },
}

/// A part of what the server serves that could not be discovered, and why.
#[doc(alias = "ErrGroupDiscoveryFailed")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiscoveryFailure {
    /// The group; `None` if nothing at all could be discovered.
    pub group: Option<String>,
    /// The version; `None` if the whole group could not be discovered.
    pub version: Option<String>,
    /// The error.
    pub error: DiscoveryError,
}

// === impl DiscoveryError ===

impl DiscoveryError {
    /// Returns whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Status(status) => status.code == 429 || status.code >= 500,
            Self::Transport(_) | Self::Timeout { .. } | Self::Stale | Self::Throttled { .. } => {
                true
            }
            Self::Protocol { .. } | Self::BodyTooLarge { .. } => false,
        }
    }

    /// Returns whether the server does not serve the requested group or version.
    pub fn is_not_found(&self) -> bool {
        self.status().is_some_and(|status| status.code == 404)
    }

    /// Returns whether the user may not read discovery (401, 403).
    pub fn is_forbidden(&self) -> bool {
        self.status()
            .is_some_and(|status| matches!(status.code, 401 | 403))
    }

    /// The least time to wait before trying again, if it is known.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status(status) => status.retry_after,
            Self::Throttled { retry_after, .. } => Some(*retry_after),
            _ => None,
        }
    }

    /// The server's answer, if there was one.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Status(status) => Some(status),
            _ => None,
        }
    }
}

impl From<Status> for DiscoveryError {
    fn from(status: Status) -> Self {
        Self::Status(Arc::new(status))
    }
}

// === impl DiscoveryFailure ===

impl DiscoveryFailure {
    /// A failure to discover anything.
    pub(crate) fn of_everything(error: DiscoveryError) -> Self {
        Self {
            group: None,
            version: None,
            error,
        }
    }

    /// A failure to discover a group.
    pub(crate) fn of_group(group: &str, error: DiscoveryError) -> Self {
        Self {
            group: Some(group.to_owned()),
            version: None,
            error,
        }
    }

    /// A failure to discover one version of a group.
    pub(crate) fn of_version(group: &str, version: &str, error: DiscoveryError) -> Self {
        Self {
            group: Some(group.to_owned()),
            version: Some(version.to_owned()),
            error,
        }
    }
}

/// Prints what failed and the whole chain of reasons, because a failure is shown in lists of its own.
impl fmt::Display for DiscoveryFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.group.as_deref(), self.version.as_deref()) {
            (None, _) => f.write_str("all groups")?,
            (Some(""), None) => f.write_str("the core group")?,
            (Some(group), None) => f.write_str(group)?,
            (Some(""), Some(version)) => f.write_str(version)?,
            (Some(group), Some(version)) => write!(f, "{group}/{version}")?,
        }
        let mut reason: Option<&(dyn Error + 'static)> = Some(&self.error);
        while let Some(error) = reason {
            write!(f, ": {error}")?;
            reason = error.source();
        }
        Ok(())
    }
}

const _: () = assert!(size_of::<DiscoveryError>() <= 64);
