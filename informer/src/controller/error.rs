//! Errors of reconciles.

use std::{error::Error, fmt, sync::Arc};

use super::GateError;

/// Any error of a reconcile.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// An error that no retry mends: the key is reconciled again when something changes, and not before.
///
/// # Examples
///
/// ```
/// use informer::controller::Terminal;
///
/// fn check(replicas: i32) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///     if replicas < 0 {
///         return Err(Terminal::new("replicas: it is negative").into());
///     }
///     Ok(())
/// }
/// # check(1).unwrap();
/// ```
#[doc(alias = "TerminalError")]
#[derive(Debug)]
pub struct Terminal(BoxError);

/// The reason why a reconcile is tried again.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReconcileError {
    /// The function failed.
    #[error("{0}")]
    Function(BoxError),
    /// The caches do not show what the reconcile before wrote.
    #[error("{0}")]
    Gate(#[from] GateError),
    /// The lease of the shard was not renewed in time, as far as is known: an answer may be on its way that says otherwise.
    #[error("the shard is not owned")]
    NotOwned,
    /// The finalizer was not put on or taken off.
    #[error("finalizer {name}: {source}")]
    Finalizer { name: Arc<str>, source: kube::Error },
}

// === impl Terminal ===

impl Terminal {
    /// Marks an error as terminal.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for Terminal {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
