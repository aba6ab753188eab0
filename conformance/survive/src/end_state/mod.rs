//! The state in the end, in a form that two runs have in common, and the differences of two of them.

mod leftovers;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::leftovers::Leftovers;
use super::history::History;

/// Fields of `metadata` that are different in each run.
const OWN_METADATA: [&str; 6] = [
    "creationTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];
/// Resources whose objects tell about the run, and not about its result.
const ASIDE: [&str; 6] = [
    "controllerrevisions.apps",
    "events",
    "events.events.k8s.io",
    // A server keeps them up to date with its version, and so it does with those of `OF_SERVER`.
    "flowschemas.flowcontrol.apiserver.k8s.io",
    "leases.coordination.k8s.io",
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
];

/// The labels of objects that a server keeps up to date with its version.
const OF_SERVER: [(&str, &str); 2] = [
    ("kube-aggregator.kubernetes.io/automanaged", "onstart"),
    ("kubernetes.io/bootstrapping", "rbac-defaults"),
];

/// The beginning of the name of the volume with a service account's token.
const ACCOUNT_VOLUME: &str = "kube-api-access-";

/// The objects in the end by their names, with what is different in each run taken out. Several objects have one name if the
/// server completed it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndState {
    objects: BTreeMap<String, Vec<Arc<Value>>>,
    /// The objects that are as they were at the beginning, with their names, by uid and revision: they are the same in each run.
    untouched: BTreeMap<(String, u64), (String, Arc<Value>)>,
}

/// A state that a file keeps. What is as the server had it at the beginning is named alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredState {
    objects: BTreeMap<String, Vec<Value>>,
    untouched: BTreeSet<String>,
}

/// A difference of two end states.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Difference {
    /// The object: resource, namespace and name.
    pub object: String,
    /// The field; empty if it is about the object as a whole.
    pub path: String,
    /// The difference.
    pub text: String,
}

/// The fields that are different in runs without perturbation, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask(pub BTreeSet<(String, String)>);

// === impl EndState ===

impl EndState {
    /// Takes what runs have in common out of the objects in the end. What another run had at the beginning, too, is taken from
    /// there.
    pub fn of(history: &History, reference: Option<&Self>) -> Self {
        let mut end = Self::default();
        let (mut found, mut values) = (Vec::new(), Vec::new());
        for object in history.end() {
            let labels = object.object.labels();
            let is_of_server = |(label, value): &(&str, &str)| labels.get(label) == Some(*value);
            if ASIDE.contains(&object.kind.full_name().as_str())
                || OF_SERVER.iter().any(is_of_server)
            {
                continue;
            }
            let version = (object.object.uid().to_owned(), object.object.revision());
            let is_untouched = version.1 <= history.began_at;
            let same = reference.and_then(|reference| reference.untouched.get(&version));
            if let Some((name, value)) = same.filter(|_| is_untouched) {
                let objects = end.objects.entry(name.clone()).or_default();
                objects.push(Arc::clone(value));
                continue;
            }
            values.push(object.value());
            found.push((object.kind, is_untouched.then_some(version)));
        }
        let (names, leftovers) = (Names::of(&values), Leftovers::of(&values));
        let found = found.into_iter().zip(&values);
        for ((kind, version), value) in found.filter(|(_, value)| !leftovers.include(value)) {
            let name = names.title(&kind.full_name(), value);
            let value = Arc::new(names.common(value));
            if let Some(version) = version {
                let same = (name.clone(), Arc::clone(&value));
                end.untouched.insert(version, same);
            }
            end.objects.entry(name).or_default().push(value);
        }
        // Objects of one name are compared in pairs, whose order must not depend on the run.
        for same in end.objects.values_mut().filter(|same| same.len() > 1) {
            same.sort_by_cached_key(ToString::to_string);
        }
        end
    }

    /// Returns how `other` differs from this one, but for what `mask` leaves out.
    pub fn differences(&self, other: &Self, mask: &Mask) -> Vec<Difference> {
        let names = self.objects.keys().chain(other.objects.keys());
        let names: BTreeSet<&String> = names.collect();
        let mut found = Vec::new();
        for name in names {
            let none = Vec::new();
            let ours = self.objects.get(name).unwrap_or(&none);
            let theirs = other.objects.get(name).unwrap_or(&none);
            if ours.len() != theirs.len() {
                let text = match (ours.len(), theirs.len()) {
                    (0, 1) => "is left over".to_owned(),
                    (1, 0) => "is missing".to_owned(),
                    (ours, theirs) => format!("there are {theirs} instead of {ours}"),
                };
                found.push(Difference::whole(name, text));
                continue;
            }
            let pairs = ours.iter().zip(theirs);
            for (ours, theirs) in pairs.filter(|(ours, theirs)| !Arc::ptr_eq(ours, theirs)) {
                compare(name, "", ours, theirs, &mut found);
            }
        }
        found.retain(|difference| !mask.hides(difference));
        found.dedup();
        found
    }

    /// Returns what a file has to keep of it.
    pub(super) fn stored(&self) -> StoredState {
        let (untouched, touched): (Vec<_>, Vec<_>) = self
            .objects
            .iter()
            .partition(|(_, same)| self.are_untouched(same));
        let values = |same: &[Arc<Value>]| same.iter().map(|value| (**value).clone()).collect();
        StoredState {
            objects: touched
                .into_iter()
                .map(|(name, same)| (name.clone(), values(same)))
                .collect(),
            untouched: untouched
                .into_iter()
                .map(|(name, _)| name.clone())
                .collect(),
        }
    }

    /// Returns a state that was kept, with the objects that were untouched from `reference`, and the names of those that are not
    /// untouched there.
    pub(super) fn restored(kept: &StoredState, reference: &Self) -> (Self, Vec<String>) {
        let mut state = Self {
            objects: BTreeMap::new(),
            untouched: reference.untouched.clone(),
        };
        for (name, values) in &kept.objects {
            let values = values.iter().cloned().map(Arc::new);
            state.objects.insert(name.clone(), values.collect());
        }
        let mut unknown = Vec::new();
        for name in &kept.untouched {
            match reference.objects.get(name) {
                Some(same) if reference.are_untouched(same) => {
                    state.objects.insert(name.clone(), same.clone());
                }
                _ => unknown.push(name.clone()),
            }
        }
        (state, unknown)
    }

    /// Returns whether objects are as they were at the beginning.
    fn are_untouched(&self, same: &[Arc<Value>]) -> bool {
        let is_untouched = |value: &Arc<Value>| {
            let mut untouched = self.untouched.values();
            untouched.any(|(_, reference)| Arc::ptr_eq(reference, value))
        };
        same.iter().all(is_untouched)
    }

    /// Returns the number of objects.
    pub fn object_count(&self) -> usize {
        self.objects.values().map(Vec::len).sum()
    }
}

fn compare(object: &str, path: &str, ours: &Value, theirs: &Value, found: &mut Vec<Difference>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                let null = Value::Null;
                let (a, b) = (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
                compare(object, &path, a, b, found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (place, (a, b)) in a.iter().zip(b).enumerate() {
                compare(object, &format!("{path}[{place}]"), a, b, found);
            }
        }
        _ if ours == theirs => {}
        _ => found.push(Difference {
            object: object.to_owned(),
            path: path.to_owned(),
            text: format!("is {} instead of {}", short(theirs), short(ours)),
        }),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

// === impl Difference ===

impl Difference {
    fn whole(object: &str, text: String) -> Self {
        Self {
            object: object.to_owned(),
            path: String::new(),
            text,
        }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "{} {}", self.object, self.text),
            path => write!(f, "{}: {path} {}", self.object, self.text),
        }
    }
}

// === impl Mask ===

impl Mask {
    /// Learns from the differences of two runs without perturbation.
    pub fn learn(differences: &[Difference]) -> Self {
        let pairs = differences.iter();
        Self(
            pairs
                .map(|it| (it.object.clone(), it.path.clone()))
                .collect(),
        )
    }

    fn hides(&self, difference: &Difference) -> bool {
        self.0.iter().any(|pair| hides(pair, difference))
    }
}

/// Returns whether an object and a path are those of a difference, or what it is within.
pub(super) fn hides((object, path): &(String, String), difference: &Difference) -> bool {
    let within = difference.path.strip_prefix(path.as_str());
    *object == difference.object
        && (path.is_empty()
            || within.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '['])))
}

/// The texts that are different in each run, and what stands for them.
struct Names(BTreeMap<String, String>);

// === impl Names ===

impl Names {
    fn of(values: &[Value]) -> Self {
        let mut names = BTreeMap::new();
        for value in values {
            let metadata = &value["metadata"];
            if let Some(uid) = metadata["uid"].as_str() {
                names.insert(uid.to_owned(), "<uid>".to_owned());
            }
            if let Some(address) = value["status"]["podIP"].as_str() {
                // Endpoints have the addresses of their pods.
                names.insert(address.to_owned(), "<address>".to_owned());
            }
            // A deployment that is created again beside its old replica set draws another hash.
            let hash = metadata["labels"]["pod-template-hash"].as_str();
            if let Some(hash) = hash {
                names.insert(hash.to_owned(), "<hash>".to_owned());
            }
            let Some(name) = metadata["name"].as_str() else {
                continue;
            };
            if let Some(beginning) = metadata["generateName"].as_str() {
                let common = hash.map_or_else(
                    || beginning.to_owned(),
                    |hash| beginning.replace(hash, "<hash>"),
                );
                names.insert(name.to_owned(), format!("{common}*"));
                names.insert(beginning.to_owned(), common);
            } else if let Some(beginning) = hash.and_then(|hash| name.strip_suffix(hash)) {
                names.insert(name.to_owned(), format!("{beginning}<hash>"));
            } else if value["kind"] == "IPAddress" {
                // It has the name of an address that the server has drawn for a service.
                names.insert(name.to_owned(), "<address>".to_owned());
            } else if let Some((beginning, _)) = split_uid(name) {
                // A volume is called after the claim that it was made for.
                names.insert(name.to_owned(), format!("{beginning}<uid>"));
            }
        }
        Self(names)
    }

    fn title(&self, resource: &str, value: &Value) -> String {
        let metadata = &value["metadata"];
        let name = metadata["name"].as_str().unwrap_or_default();
        let name = self.0.get(name).map_or(name, String::as_str);
        match metadata["namespace"].as_str() {
            Some(namespace) => format!("{resource} {namespace}/{name}"),
            None => format!("{resource} {name}"),
        }
    }

    /// Returns an object without what is different in each run.
    fn common(&self, value: &Value) -> Value {
        let mut value = value.clone();
        if let Some(metadata) = value["metadata"].as_object_mut() {
            for field in OWN_METADATA {
                metadata.remove(field);
            }
            // A plan leaves its mark there.
            if metadata.get("annotations").is_some_and(has_only_own) {
                metadata.remove("annotations");
            }
        }
        if value["kind"] == "Pod" {
            for field in ["nodeName", "hostname"] {
                remove(&mut value["spec"], field);
            }
        }
        self.replace(&value)
    }

    fn replace(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.replace(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.iter().filter(|(key, _)| !is_own(key));
                let fields: Map<String, Value> = fields
                    .map(|(key, value)| (self.text(key), self.replace(value)))
                    .collect();
                Value::Object(fields)
            }
            other => other.clone(),
        }
    }

    fn text(&self, text: &str) -> String {
        if let Some(name) = self.0.get(text) {
            return name.clone();
        }
        if is_time(text) {
            return "<time>".to_owned();
        }
        // The admission plugin for service accounts draws the rest.
        if text.starts_with(ACCOUNT_VOLUME) {
            return format!("{ACCOUNT_VOLUME}*");
        }
        if let Some(("", _)) = split_uid(text) {
            return "<uid>".to_owned();
        }
        // Messages name objects in quotes.
        if text.contains('"') {
            let parts = text
                .split('"')
                .map(|part| self.0.get(part).map_or(part, String::as_str));
            return parts.collect::<Vec<_>>().join("\"");
        }
        text.to_owned()
    }
}

/// Returns what stands before the uid that a text ends with, and the uid.
fn split_uid(text: &str) -> Option<(&str, &str)> {
    let (beginning, end) = text.split_at_checked(text.len().checked_sub(36)?)?;
    let lengths = end.split('-').map(str::len);
    (lengths.eq([8, 4, 4, 4, 12])).then_some((beginning, end))
}

/// Returns whether a field counts, or is given out by the server in the order of requests.
fn is_own(key: &str) -> bool {
    matches!(
        key,
        "observedGeneration"
            | "clusterIP"
            | "clusterIPs"
            | "podIP"
            | "podIPs"
            | "hostIP"
            | "hostIPs"
            | "nodePort"
            | "collisionCount"
            | "healthCheckNodePort"
            | "containerID"
            | "resourceVersion"
            | "deployment.kubernetes.io/revision"
            | "survive.conformance.dev/touched"
            | "kubectl.kubernetes.io/last-applied-configuration"
    )
}

fn has_only_own(fields: &Value) -> bool {
    let fields = fields.as_object();
    fields.is_some_and(|fields| fields.keys().all(|key| is_own(key)))
}

fn is_time(text: &str) -> bool {
    text.len() >= 20 && text.as_bytes()[4] == b'-' && text.parse::<jiff::Timestamp>().is_ok()
}

fn remove(value: &mut Value, field: &str) {
    if let Some(fields) = value.as_object_mut() {
        fields.remove(field);
    }
}

#[cfg(test)]
mod tests;
