//! Administrative access to devices, which only the claims in some namespaces may have.

use fakeserver_kinds::{
    core::namespace,
    resource::{resource_claim, resource_claim_template},
};
use fakeserver_value::status::FieldError;
use serde_json::Value;

use super::{Attempt, Write};
use crate::store::ObjectKey;

/// The label of the namespaces in which claims may have administrative access.
const LABEL: &str = "resource.kubernetes.io/admin-access";

/// Returns the error of a claim with administrative access, if its namespace does not allow that. `old` is the claim
/// whose status is written, if any; the spec of a claim is immutable.
#[doc(alias("AuthorizedForAdmin", "AuthorizedForAdminStatus"))]
pub(super) fn error(
    attempt: &mut Attempt<'_, '_>,
    write: &Write<'_>,
    old: Option<&Value>,
) -> Option<FieldError> {
    let rules = write.target.rules();
    if write.is_import() {
        return None;
    }
    let results = |claim: &Value| claim["status"]["allocation"]["devices"]["results"].clone();
    let (place, items) = match old {
        None if rules.is(&resource_claim::KIND) => {
            ("spec.devices.requests", requests(&write.new["spec"]))
        }
        None if rules.is(&resource_claim_template::KIND) => (
            "spec.devices.requests",
            requests(&write.new["spec"]["spec"]),
        ),
        Some(old) if rules.is(&resource_claim::KIND) && write.target.subresource() == "status" => {
            if has_access(&results(old)).is_some() {
                return None;
            }
            ("status.allocation.devices.results", results(&write.new))
        }
        _ => return None,
    };
    let index = has_access(&items)?;
    let namespace = write.target.path.namespace.as_deref()?;
    let key = ObjectKey::cluster(namespace::KIND.storage().clone(), namespace);
    let is_allowed = attempt.get(&key).is_some_and(|namespace| {
        let labels = namespace.labels();
        labels.get(LABEL) == Some("true")
    });
    (!is_allowed).then(|| {
        let why = format!(
            "admin access to devices requires the `{LABEL}: true` label on the containing namespace"
        );
        FieldError::forbidden(format!("{place}[{index}].adminAccess"), &why)
    })
}

/// Returns the requests of a claim's spec that name a device class.
fn requests(spec: &Value) -> Value {
    let requests = spec["devices"]["requests"].as_array();
    let requests = requests.into_iter().flatten();
    requests.map(|request| request["exactly"].clone()).collect()
}

/// Returns the place of the first item that has administrative access.
fn has_access(items: &Value) -> Option<usize> {
    let mut items = items.as_array()?.iter();
    items.position(|item| item["adminAccess"] == true)
}
