//! The kinds that a server has: where they are served, and why others are not.

mod lifecycle;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc};

use fakeserver_kinds::registry::Registry;
use fakeserver_value::similar::closest_name;
use fakeserver_versions::KubernetesVersion;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use self::lifecycle::Age;
use crate::finding::Rule;

/// The characters that mean something in a path, or cannot be in one.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b':')
    .remove(b'_');

/// The kinds of a server: those of its version, and those that manifests define.
#[derive(Debug)]
pub(crate) struct Catalogue {
    kubernetes: KubernetesVersion,
    /// By `apiVersion`, then kind.
    served: FxHashMap<String, FxHashMap<Arc<str>, Resource>>,
    /// The versions that definitions serve, by group and kind.
    defined: FxHashMap<(String, String), Vec<String>>,
    /// The groups and kinds of definitions that the server has rejected.
    rejected: FxHashSet<(String, String)>,
}

/// The place at which objects of a kind are created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) group: Arc<str>,
    pub(crate) version: Arc<str>,
    pub(crate) plural: Arc<str>,
    pub(crate) is_namespaced: bool,
    pub(crate) is_custom: bool,
}

/// The reason why a server has no such kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Absence {
    pub(crate) rule: Rule,
    pub(crate) message: String,
}

// === impl Catalogue ===

impl Catalogue {
    /// Returns the kinds of a version of Kubernetes that clients can create.
    pub(crate) fn of(kubernetes: KubernetesVersion) -> Self {
        let mut served: FxHashMap<String, FxHashMap<Arc<str>, Resource>> = FxHashMap::default();
        for group in Registry::builtin(kubernetes).groups() {
            for resource in group.versions.iter().flat_map(|version| &version.resources) {
                if resource.has_verb("create") {
                    let kinds = served.entry(resource.api_version()).or_default();
                    kinds.insert(
                        Arc::clone(&resource.kind),
                        Resource {
                            group: Arc::clone(&resource.group),
                            version: Arc::clone(&resource.version),
                            plural: Arc::clone(&resource.plural),
                            is_namespaced: resource.is_namespaced,
                            is_custom: false,
                        },
                    );
                }
            }
        }
        Self {
            kubernetes,
            served,
            defined: FxHashMap::default(),
            rejected: FxHashSet::default(),
        }
    }

    /// Adds the kinds of a definition that a server has taken.
    pub(crate) fn define(&mut self, definition: &Value) {
        let spec = &definition["spec"];
        let (group, kind) = group_and_kind(definition);
        let versions = spec["versions"].as_array().into_iter().flatten();
        for version in versions {
            let name = text(&version["name"]).to_owned();
            if version["served"] != Value::Bool(true) {
                continue;
            }
            let resource = Resource {
                group: group.as_str().into(),
                version: name.as_str().into(),
                plural: text(&spec["names"]["plural"]).into(),
                is_namespaced: spec["scope"] == "Namespaced",
                is_custom: true,
            };
            let kinds = self.served.entry(format!("{group}/{name}")).or_default();
            kinds.insert(kind.as_str().into(), resource);
            let versions = self.defined.entry((group.clone(), kind.clone()));
            versions.or_default().push(name);
        }
    }

    /// Remembers a definition that a server has rejected.
    pub(crate) fn reject(&mut self, definition: &Value) {
        self.rejected.insert(group_and_kind(definition));
    }

    /// Returns the place of a kind.
    ///
    /// # Errors
    ///
    /// The server does not have it.
    pub(crate) fn find(&self, api_version: &str, kind: &str) -> Result<&Resource, Absence> {
        let kinds = self.served.get(api_version);
        let found = kinds.and_then(|kinds| kinds.get(kind));
        found.ok_or_else(|| self.absence(api_version, kind))
    }

    /// Returns the warning about a kind that a later version of Kubernetes does not have, in the words of an API server.
    pub(crate) fn deprecation(&self, api_version: &str, kind: &str) -> Option<String> {
        let life = lifecycle::find(api_version, kind)?;
        (life.age(self.kubernetes) == Age::Deprecated).then(|| life.warning(api_version, kind))
    }

    fn absence(&self, api_version: &str, kind: &str) -> Absence {
        let group = group_of(api_version);
        self.end_of_life(api_version, kind)
            .or_else(|| self.other_release(api_version, kind))
            .unwrap_or_else(|| {
                // A group without a dot cannot be defined.
                if is_builtin(group) || !group.contains('.') {
                    self.unknown(api_version, kind)
                } else {
                    self.undefined(api_version, kind)
                }
            })
    }

    /// Returns the absence of an API that is gone, or is off by default.
    fn end_of_life(&self, api_version: &str, kind: &str) -> Option<Absence> {
        let life = lifecycle::find(api_version, kind)?;
        let replacement = life.replacement.filter(|other| {
            let kinds = self.served.get(*other);
            kinds.is_some_and(|kinds| kinds.contains_key(kind))
        });
        let advice = replacement.map_or_else(String::new, |other| format!("; use {other}"));
        let (rule, what) = match life.age(self.kubernetes) {
            Age::Removed => (
                Rule::RemovedApi,
                format!("was removed in Kubernetes {}", life.removed),
            ),
            Age::NotYet => (
                Rule::UnservedApi,
                format!("is not there before Kubernetes {}", life.introduced()),
            ),
            Age::Current | Age::Deprecated => (
                Rule::UnservedApi,
                format!(
                    "is off by default in Kubernetes {}, and was not turned on by --runtime-config",
                    self.kubernetes.name()
                ),
            ),
        };
        Some(Absence {
            rule,
            message: format!("{api_version} {kind} {what}{advice}"),
        })
    }

    /// Returns the absence of a kind that an earlier or a later version of Kubernetes has.
    fn other_release(&self, api_version: &str, kind: &str) -> Option<Absence> {
        let has = |version: &KubernetesVersion| {
            let registry = Registry::builtin(*version);
            let (group, version) = (group_of(api_version), version_of(api_version));
            let resources = registry.version(group, version)?.resources.iter();
            resources
                .into_iter()
                .any(|resource| &*resource.kind == kind)
                .then_some(())
        };
        let with = KubernetesVersion::all().filter(|version| has(version).is_some());
        let with: Vec<KubernetesVersion> = with.collect();
        let (first, last) = (*with.first()?, *with.last()?);
        let absence = |rule, message| Some(Absence { rule, message });
        if self.kubernetes < first {
            let message = format!(
                "{api_version} {kind} is not there before Kubernetes {}",
                first.name()
            );
            return absence(Rule::UnservedApi, message);
        }
        if self.kubernetes > last {
            let message = format!(
                "{api_version} {kind} was last served by Kubernetes {}",
                last.name()
            );
            return absence(Rule::RemovedApi, message);
        }
        let message = format!("{api_version} {kind} cannot be created by clients");
        absence(Rule::Rejected, message)
    }

    /// Returns the absence of a kind that no version of Kubernetes has.
    fn unknown(&self, api_version: &str, kind: &str) -> Absence {
        let mut others: BTreeSet<&str> = BTreeSet::new();
        let mut kinds: BTreeSet<&str> = BTreeSet::new();
        for (other, served) in &self.served {
            if served.contains_key(kind) {
                others.insert(other);
            }
            if other == api_version {
                kinds.extend(served.keys().map(|kind| &**kind));
            }
        }
        let advice = if !others.is_empty() {
            let others: Vec<&str> = others.into_iter().collect();
            format!("; it is in {}", others.join(" and "))
        } else if let Some(kind) = closest_name(kind, kinds.iter().copied()) {
            format!("; did you mean {kind}?")
        } else if kinds.is_empty() {
            let versions = self.served.keys().map(String::as_str);
            let close = closest_name(api_version, versions);
            close.map_or_else(String::new, |other| format!("; did you mean {other}?"))
        } else {
            String::new()
        };
        Absence {
            rule: Rule::UnknownKind,
            message: format!("no version of Kubernetes has {api_version} {kind}{advice}"),
        }
    }

    /// Returns the absence of a custom kind.
    fn undefined(&self, api_version: &str, kind: &str) -> Absence {
        let key = (group_of(api_version).to_owned(), kind.to_owned());
        let message = match self.defined.get(&key) {
            _ if self.rejected.contains(&key) => format!(
                "the definition of {api_version} {kind} is rejected, so that its objects are not checked"
            ),
            Some(versions) => format!(
                "the definition of {kind} does not serve {api_version}; it serves {}",
                versions.join(" and ")
            ),
            None => format!(
                "{api_version} {kind} is no kind of Kubernetes, and no manifest defines it: add its \
                 CustomResourceDefinition to the paths"
            ),
        };
        Absence {
            rule: Rule::MissingDefinition,
            message,
        }
    }
}

// === impl Resource ===

impl Resource {
    /// Returns the path of the collection of its objects.
    pub(crate) fn path(&self, namespace: &str) -> String {
        let Self {
            group,
            version,
            plural,
            ..
        } = self;
        let root = if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        };
        if self.is_namespaced {
            format!("{root}/namespaces/{}/{plural}", segment(namespace))
        } else {
            format!("{root}/{plural}")
        }
    }

    /// Returns the path of an object of a collection.
    pub(crate) fn object_path(collection: &str, name: &str) -> String {
        format!("{collection}/{}", segment(name))
    }
}

/// Returns a text as a segment of a path, whatever its characters.
fn segment(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, RESERVED)
}

/// Returns the group and the kind of a definition.
fn group_and_kind(definition: &Value) -> (String, String) {
    let spec = &definition["spec"];
    let (group, kind) = (text(&spec["group"]), text(&spec["names"]["kind"]));
    (group.to_owned(), kind.to_owned())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

fn version_of(api_version: &str) -> &str {
    let parts = api_version.split_once('/');
    parts.map_or(api_version, |(_, version)| version)
}

/// Returns whether a version of Kubernetes has or had a group.
fn is_builtin(group: &str) -> bool {
    let mut versions = KubernetesVersion::all();
    lifecycle::has_group(group)
        || versions.any(|version| Registry::builtin(version).group(group).is_some())
}
