//! Failures of runs against a real server.

/// The failure of a run against a real server. It says nothing about the subjects.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The kubeconfig does not lead to a server. Correct it.
    #[error("the proxy cannot be made")]
    Proxy(#[from] crate::proxy::ProxyError),
    /// The server answered unexpectedly. Whether to retry depends on its message.
    #[error("{what}: the server answered {status}: {message}")]
    Refused {
        /// The request.
        what: String,
        /// The HTTP status.
        status: u16,
        /// The message of its answer.
        message: String,
    },
    /// The server has objects with the names that runs use, and no run made them. Use a disposable server.
    #[error("the server has {what} that no run has made; use a disposable server")]
    NotOurs {
        /// The object.
        what: String,
    },
    /// An object of an earlier run is not deleted. Something holds it; a retry may help.
    #[error("{what} of an earlier run is not deleted")]
    Left {
        /// The object.
        what: String,
    },
    /// The server did not report its changes. A retry may help.
    #[error("the chronicle of {resource} ends: {why}")]
    Chronicle {
        /// The resource.
        resource: &'static str,
        /// The reason.
        why: String,
    },
    /// The plan has an incident, which needs servers of our own. Run it in process.
    #[error("the plan has an incident ({name}), which a real server cannot have")]
    Incident {
        /// The name of the incident.
        name: &'static str,
    },
}
