//! Rules of roles.

use fakeserver_value::{field::Field, findings::Findings};

pub(super) fn check_rule(rule: &Field<'_>, is_namespaced: bool, found: &mut Findings) {
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
