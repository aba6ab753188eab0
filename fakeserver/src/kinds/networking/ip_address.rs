//! IP addresses.

use crate::{
    kinds::{
        Habits, Kind, MetadataRechecks, Validation, addresses::canonical_ip_problems,
        formats::check_subdomain,
    },
    value::{field::Field, findings::Findings, names::path_segment_problems},
};

/// IP addresses. Their names are the addresses.
pub(crate) static KIND: Kind = Kind::new("networking.k8s.io", "ipaddresses")
    .habits(Habits {
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .names(canonical_ip_problems)
    .validation(Validation::new(check, check_update));

// === Validation ===

fn check(address: &Field<'_>, found: &mut Findings) {
    let parent = address.at("spec").at("parentRef");
    if !parent.is_set() {
        return found.required(&parent, "");
    }
    if parent.at("group").has_text() {
        check_subdomain(&parent.at("group"), found);
    }
    for (name, is_required) in [("resource", true), ("name", true), ("namespace", false)] {
        let part = parent.at(name);
        if part.has_text() {
            found.problems(&part, path_segment_problems(part.text()));
        } else if is_required {
            found.required(&part, "");
        }
    }
}

fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let parent = |address: &Field<'_>| address.at("spec").value()["parentRef"].clone();
    if parent(old) != parent(new) {
        let parent = new.at("spec").at("parentRef");
        if parent.is_set() {
            let definition = "io.k8s.api.networking.v1.ParentReference";
            found.invalid_struct(&parent, definition, "field is immutable");
        } else {
            found.invalid(&parent, "field is immutable");
        }
    }
}
