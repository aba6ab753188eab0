//! Pods, and templates of pods, as checks see them.

use serde_json::Value;

use super::super::items;

/// A pod or a template of pods: metadata and a spec.
pub(super) struct PodShape<'a> {
    object: &'a Value,
}

// === impl PodShape ===

impl<'a> PodShape<'a> {
    pub(super) fn new(object: &'a Value) -> Self {
        Self { object }
    }

    pub(super) fn spec(&self) -> &'a Value {
        &self.object["spec"]
    }

    /// Returns the security context of the pod, which holds for its containers.
    pub(super) fn context(&self) -> &'a Value {
        &self.spec()["securityContext"]
    }

    /// Returns all containers: those of the initialization, the others, and those for debugging.
    pub(super) fn containers(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        let spec = self.spec();
        ["initContainers", "containers", "ephemeralContainers"]
            .into_iter()
            .flat_map(|field| items(&spec[field]))
    }

    /// Returns the names of the containers for which `is_bad` is true of their security context.
    pub(super) fn containers_with(
        &self,
        mut is_bad: impl FnMut(&'a Value) -> bool,
    ) -> Vec<&'a str> {
        let containers = self.containers();
        let bad = containers.filter(|container| is_bad(&container["securityContext"]));
        bad.map(name).collect()
    }

    pub(super) fn volumes(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        items(&self.spec()["volumes"])
    }

    /// Returns the value of an annotation.
    pub(super) fn annotation(&self, key: &str) -> Option<&'a str> {
        self.object["metadata"]["annotations"][key].as_str()
    }

    /// Returns all annotations.
    pub(super) fn annotations(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let annotations = self.object["metadata"]["annotations"].as_object();
        annotations
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
    }

    /// Returns whether the users of the pod are not those of its node.
    pub(super) fn has_own_users(&self) -> bool {
        self.spec()["hostUsers"] == false
    }

    pub(super) fn is_for_windows(&self) -> bool {
        self.spec()["os"]["name"] == "windows"
    }
}

pub(super) fn name(object: &Value) -> &str {
    object["name"].as_str().unwrap_or_default()
}
