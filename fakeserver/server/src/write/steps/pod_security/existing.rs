//! The pods of a namespace whose policy becomes stricter.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver_kinds::core::pod;
use serde_json::Value;

use super::{
    super::items,
    evaluation::evaluate,
    policy::LevelVersion,
    shape::{PodShape, name},
};
use crate::store::{StoredObject, Transaction};

/// The maximum number of pods that are checked.
const CHECKED_MAX: usize = 3_000;

/// Returns warnings about the pods in `namespace` that violate `enforce`: one for each set of reasons.
pub(super) fn warnings(
    tx: &Transaction<'_>,
    namespace: &str,
    enforce: LevelVersion,
) -> Vec<String> {
    let stored = tx.list(pod::KIND.storage(), Some(namespace));
    let count = stored.len();
    let pods = stored.iter().map(|stored| StoredObject::to_value(stored));
    let mut violating: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pod in prioritized(pods.collect()).iter().take(CHECKED_MAX) {
        if let Some(violations) = evaluate(enforce, &PodShape::new(pod)) {
            let names = violating.entry(violations.reasons()).or_default();
            names.push(name(&pod["metadata"]).to_owned());
        }
    }
    let mut warnings = Vec::new();
    if count > CHECKED_MAX {
        warnings.push(format!(
            "new PodSecurity enforce level only checked against the first {CHECKED_MAX} of {count} existing pods"
        ));
    }
    if !violating.is_empty() {
        warnings.push(format!(
            "existing pods in namespace {namespace:?} violate the new PodSecurity enforce level \"{enforce}\""
        ));
    }
    let mut of_pods: Vec<String> = violating
        .iter()
        .map(|(reasons, names)| format!("{}: {reasons}", first_of(names)))
        .collect();
    of_pods.sort();
    warnings.extend(of_pods);
    warnings
}

/// Returns the pods with one of each controller before the others.
fn prioritized(pods: Vec<Value>) -> Vec<Value> {
    let mut controllers = BTreeSet::new();
    let (mut first, others): (Vec<Value>, Vec<Value>) = pods.into_iter().partition(|pod| {
        let mut owners = items(&pod["metadata"]["ownerReferences"]);
        let controller = owners.find(|owner| owner["controller"] == true);
        let uid = controller.and_then(|owner| owner["uid"].as_str());
        uid.is_none_or(|uid| controllers.insert(uid.to_owned()))
    });
    first.extend(others);
    first
}

/// Formats pods by the first name and the number of the others.
fn first_of(names: &[String]) -> String {
    let first = names.iter().min().map_or("", String::as_str);
    match names.len() {
        0 | 1 => first.to_owned(),
        2 => format!("{first} (and 1 other pod)"),
        count => format!("{first} (and {} other pods)", count - 1),
    }
}
