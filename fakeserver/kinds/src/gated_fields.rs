//! The fields that a server drops from objects while their feature gates are off.

use std::collections::BTreeMap;

use fakeserver_versions::{GATED_FIELDS, KubernetesVersion, PerVersion};
use serde_json::Value;

/// The fields of a resource whose gates are off in a version.
#[derive(Debug, Default)]
pub(crate) struct GatedFields {
    /// By gate: if an object has one of them already, its next version may have any.
    gates: BTreeMap<&'static str, Vec<FieldPath>>,
}

/// A path to fields: `spec.ports[].name` leads to a field of each item, `spec.limits{}.a` to one of each value of a map.
#[derive(Debug)]
struct FieldPath(Vec<Step>);

#[derive(Debug)]
enum Step {
    Member(&'static str),
    Each,
}

/// Returns the fields of a resource, as in `pods` or `deployments.apps`, whose gates are off; `None` if there are none.
pub(crate) fn disabled_fields(
    kubernetes: KubernetesVersion,
    resource: &str,
) -> Option<&'static GatedFields> {
    static TABLE: PerVersion<BTreeMap<&'static str, GatedFields>> = PerVersion::new();
    TABLE
        .get_or_init(kubernetes, || disabled_in(kubernetes))
        .get(resource)
}

fn disabled_in(version: KubernetesVersion) -> BTreeMap<&'static str, GatedFields> {
    let gates = version.gates();
    let mut table = BTreeMap::<_, GatedFields>::new();
    for line in GATED_FIELDS.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (gate, resource, path, change) = match *words.as_slice() {
            [gate, resource, path] => (gate, resource, path, None),
            [gate, resource, path, change] => (gate, resource, path, Some(change)),
            _ => panic!("{line:?} is no gated field"),
        };
        if !gates.is_on(gate) && change.is_none_or(|change| gates.is_on(change)) {
            let fields = table.entry(resource).or_default();
            let paths = fields.gates.entry(gate).or_default();
            paths.push(FieldPath::parse(path));
        }
    }
    table
}

// === impl GatedFields ===

impl GatedFields {
    /// Removes the fields from `new`, except for those of gates of which `old` has fields.
    pub(crate) fn drop_from(&self, old: &Value, new: &mut Value) {
        for paths in self.gates.values() {
            if !paths.iter().any(|path| path.is_in(old)) {
                for path in paths {
                    path.remove_from(new);
                }
            }
        }
    }
}

// === impl FieldPath ===

impl FieldPath {
    fn parse(text: &'static str) -> Self {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let name = part.trim_end_matches(['[', ']', '{', '}']);
            steps.push(Step::Member(name));
            if name.len() < part.len() {
                steps.push(Step::Each);
            }
        }
        Self(steps)
    }

    /// Returns true if an object has such a field, and it is not null.
    fn is_in(&self, object: &Value) -> bool {
        has(object, &self.0)
    }

    /// Removes such fields from an object.
    fn remove_from(&self, object: &mut Value) {
        remove(object, &self.0);
    }
}

fn has(value: &Value, steps: &[Step]) -> bool {
    match (steps, value) {
        ([], value) => !value.is_null(),
        ([Step::Member(name), rest @ ..], value) => {
            value.get(name).is_some_and(|value| has(value, rest))
        }
        ([Step::Each, rest @ ..], Value::Array(items)) => items.iter().any(|item| has(item, rest)),
        ([Step::Each, rest @ ..], Value::Object(entries)) => {
            entries.values().any(|value| has(value, rest))
        }
        ([Step::Each, ..], _) => false,
    }
}

fn remove(value: &mut Value, steps: &[Step]) {
    match (steps, value) {
        ([Step::Member(name)], Value::Object(members)) => {
            members.remove(*name);
        }
        ([Step::Member(name), rest @ ..], value) => {
            if let Some(value) = value.get_mut(name) {
                remove(value, rest);
            }
        }
        ([Step::Each, rest @ ..], Value::Array(items)) => {
            for item in items {
                remove(item, rest);
            }
        }
        ([Step::Each, rest @ ..], Value::Object(entries)) => {
            for value in entries.values_mut() {
                remove(value, rest);
            }
        }
        _ => {}
    }
}
