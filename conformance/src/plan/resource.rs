//! The resources of a simulated cluster, and the names of their objects.

use serde::{Deserialize, Serialize};

/// A resource type in the simulation. Informers mirror each in another form: typed, dynamic, metadata only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new resource has to be handled wherever there is a match"
)]
pub enum Resource {
    /// Pods, mirrored as the type of `k8s_openapi`.
    Pods,
    /// Config maps, mirrored as `DynamicObject`.
    ConfigMaps,
    /// Nodes, mirrored as metadata only.
    Nodes,
}

/// The namespaces of namespaced objects.
pub const NAMESPACES: [&str; 2] = ["one", "two"];

/// The label of selections.
pub const LABEL: &str = "tier";

/// The label whose value is the number of an object.
pub const SLOT: &str = "slot";

/// The label of objects that [strict](super::Selection::is_strict) informers cannot decode.
pub const SPOILED: &str = "conformance/spoiled";

/// The values of [`LABEL`]: an object has one of them or no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Tier {
    /// `tier=web`.
    Web,
    /// `tier=db`.
    Db,
    /// No label.
    None,
}

// === impl Resource ===

impl Resource {
    /// All resources.
    pub const ALL: [Self; 3] = [Self::Pods, Self::ConfigMaps, Self::Nodes];

    /// Returns the name in paths.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::ConfigMaps => "configmaps",
            Self::Nodes => "nodes",
        }
    }

    /// Returns the kind of the objects.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Pods => "Pod",
            Self::ConfigMaps => "ConfigMap",
            Self::Nodes => "Node",
        }
    }

    /// Returns true if the objects have namespaces.
    pub const fn is_namespaced(self) -> bool {
        !matches!(self, Self::Nodes)
    }

    /// Returns true if informers mirror the objects as a type, which can refuse them.
    pub const fn is_typed(self) -> bool {
        matches!(self, Self::Pods)
    }

    /// Returns the namespace of the object with this number; `None` if cluster-scoped.
    pub fn namespace(self, slot: u8) -> Option<&'static str> {
        self.is_namespaced()
            .then(|| NAMESPACES[usize::from(slot) % NAMESPACES.len()])
    }

    /// Returns the name of the object with this number.
    pub fn name(self, slot: u8) -> String {
        format!("{}-{slot}", self.kind().to_lowercase())
    }

    /// Returns the path of the collection of the object with this number.
    pub fn collection(self, slot: u8) -> String {
        match self.namespace(slot) {
            Some(namespace) => format!("/api/v1/namespaces/{namespace}/{}", self.plural()),
            None => format!("/api/v1/{}", self.plural()),
        }
    }
}

// === impl Tier ===

impl Tier {
    /// Returns the label's value, if there is one.
    pub const fn value(self) -> Option<&'static str> {
        match self {
            Self::Web => Some("web"),
            Self::Db => Some("db"),
            Self::None => None,
        }
    }
}
