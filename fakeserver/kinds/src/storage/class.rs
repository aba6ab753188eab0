//! Checks that classes of storage and of volume attributes share.

use fakeserver_value::{field::Field, findings::Findings, names::qualified_name_problems};
use serde_json::json;

const PARAMETERS_MAX: usize = 512;

const PARAMETERS_MAX_BYTES: usize = 256 << 10;

/// Checks the name of the driver that makes volumes of a class.
pub(super) fn check_provisioner(provisioner: &Field<'_>, found: &mut Findings) {
    if !provisioner.has_text() {
        found.required(provisioner, "");
        return;
    }
    let name = provisioner.text().to_lowercase();
    for problem in qualified_name_problems(&name) {
        found.invalid_as(provisioner, &json!(name), &problem);
    }
}

/// Checks the keys and the size of a driver's parameters.
pub(super) fn check_parameters(parameters: &Field<'_>, found: &mut Findings) {
    if parameters.len() > PARAMETERS_MAX {
        found.too_long(parameters, PARAMETERS_MAX);
        return;
    }
    let mut bytes = 0;
    for (key, value) in parameters.entries() {
        if key.is_empty() {
            found.invalid_as(parameters, &json!(key), "field can not be empty.");
        }
        bytes += key.len() + value.text().len();
    }
    if bytes > PARAMETERS_MAX_BYTES {
        found.too_long(parameters, PARAMETERS_MAX_BYTES);
    }
}
