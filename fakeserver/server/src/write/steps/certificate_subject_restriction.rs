//! `CertificateSubjectRestriction`: rejects requests for certificates of the group `system:masters`.

use fakeserver_kinds::certificates::{certificate_signing_request, subject::organizations};
use fakeserver_value::status::Status;

use crate::write::{AttemptError, Write, chain::Step};

pub(in crate::write) const STEP: Step =
    Step::validating("CertificateSubjectRestriction", |write, _| validate(write));

/// The signer of certificates for clients of the API server.
const SIGNER: &str = "kubernetes.io/kube-apiserver-client";
const MASTERS: &str = "system:masters";

fn validate(write: &Write<'_>) -> Result<(), AttemptError> {
    let spec = &write.new["spec"];
    if !write.creates(&certificate_signing_request::KIND) || spec["signerName"] != SIGNER {
        return Ok(());
    }
    let request = spec["request"].as_str().unwrap_or_default();
    if organizations(request).iter().any(|name| name == MASTERS) {
        let why = format!("use of {SIGNER} signer with {MASTERS} group is not allowed");
        return Err(Status::forbidden(write.named(), &why, Vec::new()).into());
    }
    Ok(())
}
