//! Owners that an object names twice.

use serde_json::Value;

use super::write::Received;

/// When owners that are named twice are told of: of a patch, only when admission has seen it.
pub(super) const AFTER_ADMISSION: &str = " after mutating admission happens";

// === impl Received ===

impl Received {
    /// Leaves one of several owners that are the same, and tells the client.
    pub(super) fn drop_duplicate_owners(&mut self) {
        let told = drop_duplicate_owners(&mut self.object, "");
        self.warnings.extend(told);
    }
}

/// Leaves one of several owners that are the same, and tells of it.
pub(super) fn drop_duplicate_owners(object: &mut Value, when: &str) -> Option<String> {
    let owners = object.get_mut("metadata")?.get_mut("ownerReferences")?;
    let owners = owners.as_array_mut()?;
    let mut kept: Vec<Value> = Vec::with_capacity(owners.len());
    let mut twice: Vec<String> = Vec::new();
    for owner in owners.drain(..) {
        if kept.contains(&owner) {
            twice.push(owner["uid"].as_str().unwrap_or_default().to_owned());
        } else {
            kept.push(owner);
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
