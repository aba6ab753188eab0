//! The status of a definition: its accepted names, and its conditions from establishment to termination.
//!
//! Each function is one step of a controller of a real server: it changes the status in place.

use std::collections::BTreeMap;

use fakeserver_value::read::text;
use serde_json::{Value, json};

/// The names that definitions have been given: by group and name, the definition that has it.
#[derive(Debug, Default)]
pub struct TakenNames {
    resources: BTreeMap<(String, String), String>,
    kinds: BTreeMap<(String, String), String>,
}

// === impl TakenNames ===

impl TakenNames {
    /// Adds the names that `crd` has been given.
    pub fn add(&mut self, crd: &Value) {
        let names = &crd["status"]["acceptedNames"];
        let short = names["shortNames"].as_array().into_iter().flatten();
        let resources = [&names["plural"], &names["singular"]];
        for name in resources.into_iter().chain(short) {
            add(&mut self.resources, crd, name);
        }
        for name in [&names["kind"], &names["listKind"]] {
            add(&mut self.kinds, crd, name);
        }
    }
}

fn add(taken: &mut BTreeMap<(String, String), String>, crd: &Value, name: &Value) {
    let name = text(name);
    if !name.is_empty() {
        let owner = text(&crd["metadata"]["name"]).to_owned();
        taken.entry(place(crd, name)).or_insert(owner);
    }
}

/// Returns whether another definition of the group of `crd` has `name`.
fn is_taken(taken: &BTreeMap<(String, String), String>, crd: &Value, name: &Value) -> bool {
    let owner = taken.get(&place(crd, text(name)));
    owner.is_some_and(|owner| crd["metadata"]["name"] != owner.as_str())
}

fn place(crd: &Value, name: &str) -> (String, String) {
    (text(&crd["spec"]["group"]).to_owned(), name.to_owned())
}

/// Returns whether the condition `kind` holds.
pub fn is_true(crd: &Value, kind: &str) -> bool {
    find(crd, kind).is_some_and(|condition| condition["status"] == "True")
}

/// Accepts those names of `crd` that no other resource of its group has.
pub fn accept_names(crd: &mut Value, taken: &TakenNames, now: &str) -> bool {
    let wanted = crd["spec"]["names"].clone();
    let mut accepted = crd["status"]["acceptedNames"].clone();
    let mut conflict = None;
    for (field, reason, taken) in [
        ("plural", "PluralConflict", &taken.resources),
        ("singular", "SingularConflict", &taken.resources),
        ("shortNames", "ShortNamesConflict", &taken.resources),
        ("kind", "KindConflict", &taken.kinds),
        ("listKind", "ListKindConflict", &taken.kinds),
    ] {
        let names = match &wanted[field] {
            Value::Array(names) => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        match names.iter().find(|name| is_taken(taken, crd, name)) {
            Some(name) => conflict = Some((reason, format!("{name} is already in use"))),
            // A name without a conflict is accepted even if another one has one; a refused name keeps the accepted
            // one.
            None => accepted[field] = wanted[field].clone(),
        }
    }
    accepted["categories"] = wanted["categories"].clone();
    if let Some(names) = accepted.as_object_mut() {
        names.retain(|_, value| !value.is_null());
    }
    let is_new = crd["status"]["acceptedNames"] != accepted;
    crd["status"]["acceptedNames"] = accepted;

    let changed = match &conflict {
        None => set(
            crd,
            now,
            "NamesAccepted",
            "True",
            "NoConflicts",
            "no conflicts found",
        ),
        Some((reason, message)) => set(crd, now, "NamesAccepted", "False", reason, message),
    };
    let changed = changed | is_new;
    // Once established a definition stays so: its objects are served by the names that were accepted.
    if is_true(crd, "Established") {
        return changed;
    }
    let established = if conflict.is_none() {
        ("Installing", "the initial names have been accepted")
    } else {
        ("NotAccepted", "not all names are accepted")
    };
    set(
        crd,
        now,
        "Established",
        "False",
        established.0,
        established.1,
    ) | changed
}

/// Serves `crd` from now on, if its names are accepted.
pub fn establish(crd: &mut Value, now: &str) -> bool {
    is_true(crd, "NamesAccepted")
        && !is_true(crd, "Established")
        && set(
            crd,
            now,
            "Established",
            "True",
            "InitialNamesAccepted",
            "the initial names have been accepted",
        )
}

/// Says that the objects of a deleted `crd` will go.
pub fn mark_terminating(crd: &mut Value, now: &str) {
    set(
        crd,
        now,
        "Terminating",
        "True",
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    );
}

/// Says that the objects of a deleted `crd` are going.
pub fn mark_in_progress(crd: &mut Value, now: &str) -> bool {
    set(
        crd,
        now,
        "Terminating",
        "True",
        "InstanceDeletionInProgress",
        "CustomResource deletion is in progress",
    )
}

/// Returns whether the deletion of the objects of a deleted `crd` has begun.
pub fn is_in_progress(crd: &Value) -> bool {
    find(crd, "Terminating")
        .is_some_and(|condition| condition["reason"] == "InstanceDeletionInProgress")
}

/// Adds the version in which objects are stored from now on to those in which some may be.
pub fn record_stored_version(crd: &mut Value) {
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let stored = versions
        .into_iter()
        .find(|version| version["storage"] == true);
    let Some(name) = stored.map(|version| version["name"].clone()) else {
        return;
    };
    let recorded = &mut crd["status"]["storedVersions"];
    let mut names = recorded.as_array().cloned().unwrap_or_default();
    if !names.contains(&name) {
        names.push(name);
    }
    *recorded = names.into();
}

fn find<'c>(crd: &'c Value, kind: &str) -> Option<&'c Value> {
    let conditions = crd["status"]["conditions"].as_array()?;
    conditions
        .iter()
        .find(|condition| condition["type"] == kind)
}

/// Sets a condition; the time changes with its status only.
fn set(crd: &mut Value, now: &str, kind: &str, status: &str, reason: &str, message: &str) -> bool {
    let since = match find(crd, kind) {
        Some(old) if old["status"] == status => {
            if old["reason"] == reason && old["message"] == message {
                return false;
            }
            old["lastTransitionTime"].clone()
        }
        _ => json!(now),
    };
    let condition = json!({
        "type": kind,
        "status": status,
        "lastTransitionTime": since,
        "reason": reason,
        "message": message,
    });
    let conditions = &mut crd["status"]["conditions"];
    let mut all = conditions.as_array().cloned().unwrap_or_default();
    match all.iter_mut().find(|condition| condition["type"] == kind) {
        Some(old) => *old = condition,
        None => all.push(condition),
    }
    *conditions = all.into();
    true
}
