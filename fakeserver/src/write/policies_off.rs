//! Admission policies, compiled out: those that have expressions are refused when they are written.

use super::{Attempt, AttemptError, Write};
use crate::store::Transaction;

/// No policies.
#[derive(Debug, Default)]
pub(in crate::write) struct PolicyCache;

/// No policies.
#[derive(Debug, Default)]
pub(in crate::write) struct Policies;

/// No policies, of which none is invoked again.
#[derive(Debug, Default)]
pub(in crate::write) struct Reinvocation;

// === impl PolicyCache ===

impl PolicyCache {
    /// Returns nothing.
    pub(in crate::write) fn current(&self, _tx: &Transaction<'_>) -> std::sync::Arc<Policies> {
        std::sync::Arc::default()
    }
}

/// Changes nothing.
#[expect(
    clippy::unnecessary_wraps,
    reason = "policies may fail where they are compiled in"
)]
pub(in crate::write) fn mutate(
    _write: &mut Write<'_>,
    _attempt: &mut Attempt<'_, '_>,
) -> Result<(), AttemptError> {
    Ok(())
}

/// Allows everything.
#[expect(
    clippy::unnecessary_wraps,
    reason = "policies may fail where they are compiled in"
)]
pub(in crate::write) fn validate(
    _write: &Write<'_>,
    _attempt: &mut Attempt<'_, '_>,
) -> Result<(), AttemptError> {
    Ok(())
}
