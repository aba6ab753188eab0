//! The rights to approve and to sign certificates, by signer.

use fakeserver_kinds::{
    certificates::certificate_signing_request,
    rbac::policy::{Attributes, ResourceAttributes},
};
use fakeserver_value::status::Status;

use crate::write::{Write, admission::Operation};

/// Returns whether a write updates a subresource of a request to sign a certificate.
pub(super) fn updates(write: &Write<'_>, subresource: &str) -> bool {
    write.operation() == Operation::Update
        && write.target.subresource() == subresource
        && write.target.rules().is(&certificate_signing_request::KIND)
}

/// Rejects a writer without the permission `verb` for the signer of the request or for all signers of its domain.
pub(super) fn check_right(write: &Write<'_>, verb: &str) -> Result<(), Status> {
    let author = write.author;
    // The signer of the stored request counts: a client could change that of the new one.
    let signer = write.old["spec"]["signerName"].as_str().unwrap_or_default();
    let domain = signer.split_once('/').map_or(signer, |(domain, _)| domain);
    let may = |name: String| {
        let resource = ResourceAttributes {
            group: "certificates.k8s.io".to_owned(),
            version: "*".to_owned(),
            resource: "signers".to_owned(),
            name,
            ..ResourceAttributes::default()
        };
        let attributes = Attributes::resource(verb, resource);
        author.access.decide(author.user, &attributes).is_allowed
    };
    if may(signer.to_owned()) || may(format!("{domain}/*")) {
        return Ok(());
    }
    let why = format!("user not permitted to {verb} requests with signerName {signer:?}");
    Err(Status::forbidden(write.named(), &why, Vec::new()))
}
