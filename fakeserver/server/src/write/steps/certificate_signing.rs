//! `CertificateSigning`: certificates and conditions of requests are written by those who may sign for their signer.

use super::certificates;
use crate::write::{Attempt, AttemptError, Write, chain::Step};

pub(in crate::write) const STEP: Step = Step::validating("CertificateSigning", validate);

fn validate(write: &Write<'_>, _: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    let is_changed = |field: &str| write.new["status"][field] != write.old["status"][field];
    if certificates::updates(write, "status")
        && (is_changed("certificate") || is_changed("conditions"))
    {
        certificates::check_right(write, "sign")?;
    }
    Ok(())
}
