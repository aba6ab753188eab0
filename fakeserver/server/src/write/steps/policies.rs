//! `MutatingAdmissionPolicy` and `ValidatingAdmissionPolicy`: expressions that change and judge writes.

use crate::write::{chain::Step, policies};

pub(in crate::write) const MUTATING: Step =
    Step::mutating("MutatingAdmissionPolicy", policies::mutate);
pub(in crate::write) const VALIDATING: Step =
    Step::validating("ValidatingAdmissionPolicy", policies::validate);
