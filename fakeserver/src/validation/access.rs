//! Roles and who has them.

use serde_json::json;

use super::{
    field::Field, findings::Findings, formats::check_subdomain, names::path_segment_problems,
};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn check_role(role: &Field<'_>, found: &mut Findings) {
    for rule in role.at("rules").items() {
        check_rule(&rule, true, found);
    }
}

pub(super) fn update_role(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_role(new, found);
}

pub(super) fn check_cluster_role(role: &Field<'_>, found: &mut Findings) {
    for rule in role.at("rules").items() {
        check_rule(&rule, false, found);
    }
    let selectors = role.at("aggregationRule").at("clusterRoleSelectors");
    if role.at("aggregationRule").is_set() && selectors.is_empty() {
        found.required(
            &selectors,
            "at least one clusterRoleSelector required if aggregationRule is non-nil",
        );
    }
    for selector in selectors.items() {
        super::formats::check_label_selector(&selector, found);
    }
}

pub(super) fn update_cluster_role(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_cluster_role(new, found);
}

fn check_rule(rule: &Field<'_>, is_namespaced: bool, found: &mut Findings) {
    if rule.at("verbs").is_empty() {
        found.required(&rule.at("verbs"), "verbs must contain at least one value");
    }
    let urls = rule.at("nonResourceURLs");
    let (groups, resources) = (rule.at("apiGroups"), rule.at("resources"));
    let names = rule.at("resourceNames");
    if !urls.is_empty() {
        if is_namespaced {
            found.invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
        }
        if !(groups.is_empty() && resources.is_empty() && names.is_empty()) {
            found.invalid(
                &urls,
                "rules cannot apply to both regular resources and non-resource URLs",
            );
        }
        return;
    }
    if groups.is_empty() {
        found.required(&groups, "resource rules must supply at least one api group");
    }
    if resources.is_empty() {
        found.required(
            &resources,
            "resource rules must supply at least one resource",
        );
    }
}

pub(super) fn check_binding(binding: &Field<'_>, found: &mut Findings) {
    check_bound(binding, &["Role", "ClusterRole"], found);
    for subject in binding.at("subjects").items() {
        check_subject(&subject, true, found);
    }
}

pub(super) fn check_cluster_binding(binding: &Field<'_>, found: &mut Findings) {
    check_bound(binding, &["ClusterRole"], found);
    for subject in binding.at("subjects").items() {
        check_subject(&subject, false, found);
    }
}

pub(super) fn update_binding(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_binding(new, found);
    check_same_role(old, new, found);
}

pub(super) fn update_cluster_binding(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_cluster_binding(new, found);
    check_same_role(old, new, found);
}

fn check_same_role(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let role = new.at("roleRef");
    if old.get("roleRef") != role.value() {
        found.invalid_struct(&role, "io.k8s.api.rbac.v1.RoleRef", "cannot change roleRef");
    }
}

fn check_bound(binding: &Field<'_>, kinds: &[&str], found: &mut Findings) {
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

fn check_subject(subject: &Field<'_>, is_namespaced: bool, found: &mut Findings) {
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
            if !name.has_text() {
                let why = format!("{} name cannot be empty", kind.text().to_lowercase());
                found.invalid_as(&name, &json!(""), &why);
            }
            if group.text() != GROUP {
                found.not_supported(&group, &[GROUP]);
            }
        }
        _ => found.not_supported(&kind, &["ServiceAccount", "User", "Group"]),
    }
}
