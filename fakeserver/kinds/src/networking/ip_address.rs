//! IP addresses.

use fakeserver_value::{
    field::Field, findings::Findings, names::path_segment_problems, read::text,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    addresses::canonical_ip_problems,
    formats::check_subdomain,
    table::cell::{Cells, NONE, name},
};

/// The label of the addresses that the server allocates.
pub const MANAGED_BY: &str = "ipaddress.kubernetes.io/managed-by";
pub const ALLOCATOR: &str = "ipallocator.k8s.io";

/// IP addresses. Their names are the addresses.
pub static KIND: Kind = Kind::new("networking.k8s.io", "ipaddresses")
    .habits(Habits {
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .names(canonical_ip_problems)
    .validation(Validation::new(check, check_update))
    .cells(cells);

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

// === Cells ===

fn cells(address: &Value, _now: Timestamp) -> Cells {
    vec![json!(name(address)), json!(parent(address))]
}

/// Returns the parent of an address: its resource with its group, its namespace if it has one, and its name.
fn parent(address: &Value) -> String {
    let parent = &address["spec"]["parentRef"];
    if parent.is_null() {
        return NONE.to_owned();
    }
    let resource = match (text(&parent["resource"]), text(&parent["group"])) {
        (resource, "") => resource.to_owned(),
        (resource, group) => format!("{resource}.{group}"),
    };
    let place = [&parent["namespace"], &parent["name"]].map(text);
    let place = place.into_iter().filter(|part| !part.is_empty());
    let parts: Vec<String> = std::iter::once(resource.to_lowercase())
        .chain(place.map(str::to_owned))
        .collect();
    parts.join("/")
}
