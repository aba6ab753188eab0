//! Why a run against a real server says nothing.

/// Why a run against a real server says nothing about what is under test.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The server cannot be asked as the kubeconfig says. Mend that.
    #[error("the proxy cannot be made")]
    Proxy(#[from] crate::proxy::ProxyError),
    /// The server answered otherwise than was wanted; its message says why. Whether to try again depends on that.
    #[error("{what}: the server answered {status}: {message}")]
    Refused {
        /// What was asked for.
        what: String,
        /// The HTTP status.
        status: u16,
        /// The message of its answer.
        message: String,
    },
    /// There are objects by others of names that runs use. Take a server that may be thrown away.
    #[error(
        "the server has {what} that no run has made; a server is wanted that may be thrown away"
    )]
    NotOurs {
        /// What.
        what: String,
    },
    /// What an earlier run has left does not go away. Something holds it; trying again may help.
    #[error("{what} of an earlier run does not go away")]
    Left {
        /// What.
        what: String,
    },
    /// The server did not tell what happened to it. Trying again may help.
    #[error("the chronicle of {resource} ends: {why}")]
    Chronicle {
        /// Of which resource.
        resource: &'static str,
        /// Why.
        why: String,
    },
}
