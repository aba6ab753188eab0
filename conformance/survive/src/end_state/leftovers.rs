//! The objects that controllers of the server leave behind of states in between: replica sets of earlier revisions, and claims of
//! replicas of a stateful set that are gone. They tell which states a run passed through, not what came of it.

use std::collections::BTreeSet;

use serde_json::Value;

/// Namespace and name.
type Key<'a> = (&'a str, &'a str);

/// The claims without a pod that needs them.
pub(super) struct Leftovers<'a> {
    claims: BTreeSet<Key<'a>>,
}

/// The claims that a stateful set makes by one of its templates.
struct Claims<'a> {
    namespace: &'a str,
    template: &'a str,
    name: &'a str,
    first: u64,
    count: u64,
}

// === impl Leftovers ===

impl<'a> Leftovers<'a> {
    /// Finds them among all objects in the end.
    pub(super) fn of(values: &'a [Value]) -> Self {
        let of_kind = |kind: &'static str| values.iter().filter(move |it| it["kind"] == kind);
        let made: Vec<Claims<'_>> = of_kind("StatefulSet").flat_map(Claims::all).collect();
        let claims = of_kind("PersistentVolumeClaim").map(|claim| key(&claim["metadata"]));
        let is_left = |claim: &Key<'_>| made.iter().any(|of| of.has_left(*claim));
        Self {
            claims: claims.filter(is_left).collect(),
        }
    }

    /// Returns whether an object is one of them, or a volume of one.
    pub(super) fn include(&self, value: &Value) -> bool {
        match value["kind"].as_str() {
            Some("ReplicaSet") => is_of_deployment(value) && value["spec"]["replicas"] == 0,
            Some("PersistentVolumeClaim") => self.claims.contains(&key(&value["metadata"])),
            Some("PersistentVolume") => self.claims.contains(&key(&value["spec"]["claimRef"])),
            _ => false,
        }
    }
}

// === impl Claims ===

impl<'a> Claims<'a> {
    fn all(set: &'a Value) -> impl Iterator<Item = Self> {
        let (namespace, name) = key(&set["metadata"]);
        let spec = &set["spec"];
        let templates = spec["volumeClaimTemplates"].as_array();
        templates.into_iter().flatten().map(move |template| Self {
            namespace,
            template: template["metadata"]["name"].as_str().unwrap_or_default(),
            name,
            first: spec["ordinals"]["start"].as_u64().unwrap_or_default(),
            count: spec["replicas"].as_u64().unwrap_or(1),
        })
    }

    /// Returns whether a claim is one of these, of a replica that is gone.
    fn has_left(&self, (namespace, name): Key<'_>) -> bool {
        let rest = name.strip_prefix(self.template);
        let rest = rest.and_then(|rest| rest.strip_prefix('-')?.strip_prefix(self.name));
        let ordinal = rest.and_then(|rest| rest.strip_prefix('-')?.parse::<u64>().ok());
        let replicas = self.first..self.first.saturating_add(self.count);
        namespace == self.namespace && ordinal.is_some_and(|it| !replicas.contains(&it))
    }
}

fn key(reference: &Value) -> Key<'_> {
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    (text("namespace"), text("name"))
}

fn is_of_deployment(value: &Value) -> bool {
    let owners = value["metadata"]["ownerReferences"].as_array();
    let mut owners = owners.into_iter().flatten();
    owners.any(|owner| owner["controller"] == true && owner["kind"] == "Deployment")
}
