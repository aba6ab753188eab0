//! `Priority`: a pod has the priority and the preemption policy of its class.

use fakeserver_kinds::{core::pod, scheduling::priority_class};
use fakeserver_value::status::{NamedObject, Status};
use memchr::memmem;
use serde_json::{Value, json};

use super::find;
use crate::{
    store::Transaction,
    write::{Attempt, AttemptError, Write, chain::Step},
};

pub(in crate::write) const STEP: Step =
    Step::both("Priority", admit, |write, attempt| validate(write, attempt));

/// The classes that every cluster has, with their values.
const SYSTEM_CLASSES: [(&str, i64); 2] = [
    ("system-node-critical", 2_000_001_000),
    ("system-cluster-critical", 2_000_000_000),
];
/// The text of a class that is the default of pods without one.
const IS_DEFAULT: &[u8] = br#""globalDefault":true"#;
const DEFAULT_POLICY: &str = "PreemptLowerPriority";
const PRIORITY_GIVEN: &str = "the integer value of priority";
const POLICY_GIVEN: &str = "the string value of PreemptionPolicy";

fn admit(write: &mut Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    if write.updates(&pod::KIND) {
        keep_priority(&write.old["spec"], &mut write.new["spec"]);
    } else if write.creates(&pod::KIND) {
        if !write.is_import() {
            let mut spec = write.new["spec"].take();
            set_from_class(attempt, write.named(), &mut spec)?;
            write.new["spec"] = spec;
        }
        set_default(&mut write.new["spec"]);
    }
    Ok(())
}

/// Refuses a second class for pods without one.
fn validate(write: &Write<'_>, attempt: &Attempt<'_, '_>) -> Result<(), AttemptError> {
    let is_created = write.creates(&priority_class::KIND);
    if !(is_created || write.updates(&priority_class::KIND))
        || write.is_import()
        || write.new["globalDefault"] != true
    {
        return Ok(());
    }
    match default_class(attempt) {
        Some(class) if is_created || class["metadata"]["name"] != write.new_name() => {
            let name = class["metadata"]["name"].as_str().unwrap_or_default();
            let why = format!(
                "PriorityClass {name} is already marked as default. Only one default can exist"
            );
            Err(Status::forbidden(write.named(), &why, Vec::new()).into())
        }
        _ => Ok(()),
    }
}

/// Keeps the priority of a pod, if an update leaves it out.
fn keep_priority(old: &Value, new: &mut Value) {
    for field in ["priority", "preemptionPolicy"] {
        if new.is_object() && !old[field].is_null() && is_unset(&new[field]) {
            new[field] = old[field].clone();
        }
    }
}

/// Sets the priority of a pod whose class is not an object of the cluster.
pub(super) fn set_default(spec: &mut Value) {
    let class = spec["priorityClassName"].as_str().unwrap_or_default();
    let system_class = SYSTEM_CLASSES.iter().find(|(name, _)| *name == class);
    let priority = system_class.map_or(0, |(_, priority)| *priority);
    for (field, default) in [
        ("priority", json!(priority)),
        ("preemptionPolicy", json!(DEFAULT_POLICY)),
    ] {
        if is_unset(&spec[field]) {
            spec[field] = default;
        }
    }
}

/// Sets the priority of the pod's class, or of the class for pods without one.
pub(super) fn set_from_class(
    tx: &Transaction<'_>,
    pod: NamedObject<'_>,
    spec: &mut Value,
) -> Result<(), Status> {
    let name = spec["priorityClassName"].as_str().unwrap_or_default();
    let found = match name {
        "" => default_class(tx),
        name => find(tx, &priority_class::KIND, name),
    };
    if found.is_none()
        && SYSTEM_CLASSES
            .iter()
            .any(|(system_class, _)| *system_class == name)
    {
        return Ok(());
    }
    let Some(class) = found else {
        if name.is_empty() {
            set_computed(pod, spec, "priority", &json!(0), PRIORITY_GIVEN)?;
            let policy = json!(DEFAULT_POLICY);
            return set_computed(pod, spec, "preemptionPolicy", &policy, POLICY_GIVEN);
        }
        let why = format!("no PriorityClass with name {name} was found");
        return Err(Status::forbidden(pod, &why, Vec::new()));
    };
    spec["priorityClassName"] = class["metadata"]["name"].clone();
    set_computed(pod, spec, "priority", &class["value"], PRIORITY_GIVEN)?;
    let policy = &class["preemptionPolicy"];
    if !policy.is_null() {
        set_computed(pod, spec, "preemptionPolicy", policy, POLICY_GIVEN)?;
    }
    Ok(())
}

/// Sets a field that only this plugin sets. A client may give no other value.
fn set_computed(
    pod: NamedObject<'_>,
    spec: &mut Value,
    field: &str,
    computed: &Value,
    what: &str,
) -> Result<(), Status> {
    let print = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let given = &spec[field];
    if !given.is_null() && given != computed {
        let why = format!(
            "{what} ({}) must not be provided in pod spec; priority admission controller computed {} from the given \
             PriorityClass name",
            print(given),
            print(computed),
        );
        return Err(Status::forbidden(pod, &why, Vec::new()));
    }
    spec[field] = computed.clone();
    Ok(())
}

/// Returns the class of pods without one: of several, the one with the lowest value.
fn default_class(tx: &Transaction<'_>) -> Option<Value> {
    let stored = tx.list(priority_class::KIND.storage(), None);
    // Every pod checks this, and most clusters have no default: a class is only parsed if its JSON contains the field.
    let named = stored
        .iter()
        .filter(|stored| memmem::find(&stored.json(), IS_DEFAULT).is_some());
    let classes = named.map(|stored| stored.to_value());
    classes
        .filter(|class| class["globalDefault"] == true)
        .min_by_key(|class| class["value"].as_i64())
}

fn is_unset(value: &Value) -> bool {
    value.is_null() || value == ""
}
