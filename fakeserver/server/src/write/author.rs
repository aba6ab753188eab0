//! The user and the client that write.

use fakeserver_kinds::rbac::policy::Access;
use fakeserver_value::{
    audit_annotations::AuditAnnotations,
    edit::{remove, set_or_remove},
    go_text::is_print,
    managed_fields::{self, KindDescription, Manager, described_in},
    resource::GroupVersionKind,
    user::UserInfo,
};
use serde_json::Value;

use super::{Target, WriteOptions};

/// The length up to which a name may be that of a manager.
const MANAGER_MAX_BYTES: usize = 128;
/// The manager of requests without a field manager and a user agent.
const UNKNOWN_MANAGER: &str = "unknown";

/// The user who writes, with the rules that restrict the user, and the manager of the written fields.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    pub user: &'a UserInfo,
    pub access: &'a Access,
    pub manager: &'a str,
    /// Collects the audit annotations of admission.
    pub audit: &'a AuditAnnotations,
}

/// Returns the manager of the fields that a request writes. `client` is the user agent up to the first `/`: its beginning
/// is the name, if it is longer than a name may be.
pub fn manager<'a>(options: &'a WriteOptions, client: &'a str) -> &'a str {
    let is_name = |name: &&str| {
        !name.is_empty() && name.len() <= MANAGER_MAX_BYTES && name.chars().all(is_print)
    };
    let client = &client[..client.floor_char_boundary(MANAGER_MAX_BYTES)];
    [options.field_manager.as_str(), client]
        .into_iter()
        .find(is_name)
        .unwrap_or(UNKNOWN_MANAGER)
}

// === impl Author ===

impl Author<'_> {
    /// Records which fields of `new` the author owns, now that it replaces `old`.
    ///
    /// `described` is the kind of the target, and may have further versions.
    pub fn record(
        &self,
        target: &Target,
        described: KindDescription<'_>,
        old: Option<&Value>,
        new: &mut Value,
        now: &str,
    ) {
        let api_version = target.resource.api_version();
        let manager = Manager {
            name: self.manager,
            api_version: &api_version,
            subresource: target.subresource(),
        };
        if target.rules().habits.owns_spec {
            managed_fields::record_update(old, new, described, &manager, now);
            return;
        }
        let old = old.map(|old| {
            let mut old = old.clone();
            remove(&mut old, "spec");
            old
        });
        let spec = new.get("spec").cloned();
        remove(new, "spec");
        managed_fields::record_update(old.as_ref(), new, described, &manager, now);
        set_or_remove(new, "spec", spec);
    }

    /// Records which fields of `new`, an object of another kind than that of the target, the author owns.
    pub(super) fn record_kind(
        &self,
        target: &Target,
        kind: &GroupVersionKind,
        old: Option<&Value>,
        new: &mut Value,
        now: &str,
    ) {
        let api_version = kind.api_version();
        let manager = Manager {
            name: self.manager,
            api_version: &api_version,
            subresource: target.subresource(),
        };
        let kind = described_in(target.resource.kubernetes, &api_version, &kind.kind);
        managed_fields::record_update(old, new, kind, &manager, now);
    }
}
