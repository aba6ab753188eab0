//! Admission policies, compiled out: those that have expressions are refused when they are written.

use super::{Attempt, AttemptError, Write};

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
