//! Bindings of both kinds.

use fakeserver_value::{
    edit::{each, set, within},
    field::Field,
    findings::Findings,
    names::path_segment_problems,
    read::{items, text},
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    formats::check_subdomain,
    table::cell::{Cells, age, name},
};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn check_same_role(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let role = new.at("roleRef");
    if old.get("roleRef") != role.value() {
        found.invalid_struct(&role, "io.k8s.api.rbac.v1.RoleRef", "cannot change roleRef");
    }
}

pub(super) fn check_bound(binding: &Field<'_>, kinds: &[&str], found: &mut Findings) {
    let role = binding.at("roleRef");
    let (group, kind, name) = (role.at("apiGroup"), role.at("kind"), role.at("name"));
    if group.text() != GROUP {
        found.not_supported(&group, &[GROUP]);
    }
    if !kinds.contains(&kind.text()) {
        found.not_supported(&kind, kinds);
    }
    if name.has_text() {
        found.problems(&name, path_segment_problems(name.text()));
    } else {
        found.required(&name, "");
    }
}

pub(super) fn check_subject(subject: &Field<'_>, is_namespaced: bool, found: &mut Findings) {
    let (kind, name) = (subject.at("kind"), subject.at("name"));
    let (group, namespace) = (subject.at("apiGroup"), subject.at("namespace"));
    if !name.has_text() {
        found.required(&name, "");
    }
    match kind.text() {
        "ServiceAccount" => {
            if name.has_text() {
                check_subdomain(&name, found);
            }
            if group.has_text() {
                found.not_supported(&group, &[""]);
            }
            if !is_namespaced && !namespace.has_text() {
                found.required(&namespace, "");
            }
        }
        "User" | "Group" => {
            if group.text() != GROUP {
                found.not_supported(&group, &[GROUP]);
            }
        }
        _ => found.not_supported(&kind, &["ServiceAccount", "User", "Group"]),
    }
}

pub(super) fn set_defaults(binding: &mut Value) {
    if let Some(role) = within(binding, "roleRef") {
        set(role, "apiGroup", json!(GROUP));
    }
    for subject in each(binding, "subjects") {
        if matches!(subject["kind"].as_str(), Some("User" | "Group")) {
            set(subject, "apiGroup", json!(GROUP));
        }
    }
}

/// A binding of a role, in a namespace or in the cluster.
pub(super) fn cells(object: &Value, now: Timestamp) -> Cells {
    let role = &object["roleRef"];
    let subjects = |kind: &str| {
        let subjects = items(&object["subjects"]).iter();
        let named = subjects
            .filter(|subject| subject["kind"] == kind)
            .map(|subject| match (kind, text(&subject["namespace"])) {
                ("ServiceAccount", namespace) if !namespace.is_empty() => {
                    format!("{namespace}/{}", text(&subject["name"]))
                }
                _ => text(&subject["name"]).to_owned(),
            });
        named.collect::<Vec<_>>().join(", ")
    };
    vec![
        json!(name(object)),
        json!(format!("{}/{}", text(&role["kind"]), text(&role["name"]))),
        json!(age(object, now)),
        json!(subjects("User")),
        json!(subjects("Group")),
        json!(subjects("ServiceAccount")),
    ]
}
