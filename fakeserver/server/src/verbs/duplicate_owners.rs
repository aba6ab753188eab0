//! Owners that an object names twice.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::write::ReceivedObject;

/// The words of the warning about an object that a patch made: it is looked at after mutating admission.
pub(super) const AFTER_ADMISSION: &str = " after mutating admission happens";

/// Removes duplicate owners of an object that was sent, and warns of them.
pub(super) fn remove_duplicates(received: &mut ReceivedObject) {
    let warning = drop_duplicate_owners(&mut received.object, "");
    received.warnings.extend(warning);
}

/// Removes duplicate owners of an object, and returns the warning about them.
pub(super) fn drop_duplicate_owners(object: &mut Value, when: &str) -> Option<String> {
    let owners = object.get_mut("metadata")?.get_mut("ownerReferences")?;
    let owners = owners.as_array_mut()?;
    let mut kept: Vec<Value> = Vec::with_capacity(owners.len());
    let mut seen = BTreeSet::new();
    let mut twice: Vec<String> = Vec::new();
    for owner in owners.drain(..) {
        if seen.insert(owner.to_string()) {
            kept.push(owner);
        } else {
            twice.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        }
    }
    *owners = kept;
    if twice.is_empty() {
        return None;
    }
    Some(format!(
        ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may \
         reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
        twice.join(", ")
    ))
}
