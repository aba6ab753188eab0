//! Errors of a proxy.

/// Nothing was served; trying again helps only after what is named was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// Its URL, certificates or credentials are of no use: correct them.
    #[error("the upstream cannot be used")]
    Upstream(#[source] Box<kube::Error>),
    /// It works inside of a server, where a proxy does not come: use the fake server for it.
    #[error("the fault {fault:?} cannot be made by a proxy: {why}")]
    Unsupported {
        /// Which.
        fault: &'static str,
        /// The missing ability of a proxy.
        why: &'static str,
    },
}

// === impl ProxyError ===

impl ProxyError {
    /// Returns whether a requested fault is one that only a server can make.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported { .. })
    }
}
