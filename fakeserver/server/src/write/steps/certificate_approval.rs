//! `CertificateApproval`: requests to sign certificates are approved by those who may approve for their signer.

use super::certificates;
use crate::write::{Attempt, AttemptError, Write, chain::Step};

pub(in crate::write) const STEP: Step = Step::validating("CertificateApproval", validate);

fn validate(write: &Write<'_>, _: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if certificates::updates(write, "approval") {
        certificates::check_right(write, "approve")?;
    }
    Ok(())
}
