//! Why a proxy cannot be, or cannot do what it is asked for.

use std::io;

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
        /// What it needs that a proxy does not have.
        why: &'static str,
    },
    /// A kubeconfig cannot be written there.
    #[error("cannot write {file}")]
    Kubeconfig {
        /// Where.
        file: String,
        /// Why.
        source: io::Error,
    },
}

// === impl ProxyError ===

impl ProxyError {
    /// Whether a fault was asked for that only a server can make.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported { .. })
    }
}
