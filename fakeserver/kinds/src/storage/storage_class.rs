//! Storage classes.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver_value::{edit::set_absent, field::Field, findings::Findings, read::text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    formats::check_qualified,
    storage::class::{check_parameters, check_provisioner},
    table::cell::{Cells, age, name, text_or},
};

const BINDING_MODES: [&str; 2] = ["Immediate", "WaitForFirstConsumer"];

/// The number of duplicate terms that are reported.
const DUPLICATES_MAX: usize = 10_000;

const IS_DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

/// Storage classes.
pub static KIND: Kind = Kind::new("storage.k8s.io", "storageclasses")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Defaults ===

pub fn set_defaults(class: &mut Value) {
    set_absent(class, "reclaimPolicy", json!("Delete"));
    set_absent(class, "volumeBindingMode", json!("Immediate"));
}

// === Validation ===

pub fn check(class: &Field<'_>, found: &mut Findings) {
    check_provisioner(&class.at("provisioner"), found);
    check_parameters(&class.at("parameters"), found);
    let policy = class.at("reclaimPolicy");
    if policy.has_text() {
        found.one_of(&policy, &["Delete", "Retain"]);
    }
    let mode = class.at("volumeBindingMode");
    if !mode.is_set() {
        found.required(&mode, "");
    } else if !BINDING_MODES.contains(&mode.text()) {
        found.not_supported(&mode, &BINDING_MODES);
    }
    check_topologies(&class.at("allowedTopologies"), found);
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    if !found.is_on("StorageClassFieldsImmutable") {
        return check_forbidden_changes(old, new, found);
    }
    let (was, is) = (old.at("parameters"), new.at("parameters"));
    if was.value() != is.value() && was.len() + is.len() > 0 {
        found.invalid(&is, "field is immutable");
    }
    found.immutable_text(&new.at("provisioner"), &old.at("provisioner"));
    for name in ["reclaimPolicy", "volumeBindingMode"] {
        found.immutable(&new.at(name), &old.at(name));
    }
}

/// Checks what an update may not change, in the words of older versions.
fn check_forbidden_changes(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    for name in ["parameters", "provisioner", "reclaimPolicy"] {
        let (was, is) = (old.at(name), new.at(name));
        let is_empty = was.len() + is.len() == 0 && name == "parameters";
        if was.value() != is.value() && !is_empty {
            found.forbidden(&is, &format!("updates to {name} are forbidden."));
        }
    }
    let name = "volumeBindingMode";
    found.immutable(&new.at(name), &old.at(name));
}

/// The values of each label of a term of topologies.
type Labels<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Checks that terms, labels and values come once.
fn check_topologies(topologies: &Field<'_>, found: &mut Findings) {
    // A real server compares each term with as many empty ones as there are terms, too.
    let mut seen: BTreeMap<Labels<'_>, usize> = BTreeMap::from([(Labels::new(), topologies.len())]);
    let mut left = DUPLICATES_MAX;
    for topology in topologies.items() {
        let requirements = topology.at("matchLabelExpressions");
        let labels = check_requirements(&requirements, found);
        let same = seen.entry(labels).or_default();
        let reported = left.min(*same);
        for _ in 0..reported {
            found.duplicate_as(&requirements, &json!(""));
        }
        left -= reported;
        *same += 1;
    }
}

fn check_requirements<'a>(requirements: &Field<'a>, found: &mut Findings) -> Labels<'a> {
    let mut labels = Labels::new();
    for requirement in requirements.items() {
        let (key, values) = (requirement.at("key"), requirement.at("values"));
        if values.is_empty() {
            found.required(&values, "");
        }
        let mut seen = BTreeSet::new();
        for value in values.items() {
            if !seen.insert(value.text()) {
                found.duplicate(&value);
            }
        }
        check_qualified(&key, found);
        if labels.insert(key.text(), seen).is_some() {
            found.duplicate_as(&key, &json!(key.text()));
        }
    }
    labels
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let is_default = object["metadata"]["annotations"][IS_DEFAULT] == "true";
    let suffix = if is_default { " (default)" } else { "" };
    vec![
        json!(format!("{}{suffix}", name(object))),
        json!(text(&object["provisioner"])),
        json!(text_or(&object["reclaimPolicy"], "Delete")),
        json!(text_or(&object["volumeBindingMode"], "Immediate")),
        json!(object["allowVolumeExpansion"] == true),
        json!(age(object, now)),
    ]
}
