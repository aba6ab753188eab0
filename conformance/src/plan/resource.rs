//! The resources that a simulated cluster has, and how objects of them are named.

use serde::{Deserialize, Serialize};

/// A resource type in the simulation. Each is mirrored in a form of its own: typed, dynamic, metadata only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new resource has to be handled wherever there is a match"
)]
pub enum Resource {
    /// Pods, mirrored as `k8s_openapi`'s type.
    Pods,
    /// Config maps, mirrored as `DynamicObject`.
    ConfigMaps,
    /// Nodes, mirrored as metadata only.
    Nodes,
}

/// The namespaces in which namespaced objects live.
pub const NAMESPACES: [&str; 2] = ["one", "two"];

/// The label by which selections select.
pub const LABEL: &str = "tier";

/// The values of [`LABEL`]: an object has one of them or no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: in the selection, in the other one, in none"
)]
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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pods, Self::ConfigMaps, Self::Nodes];

    /// The name in paths.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::ConfigMaps => "configmaps",
            Self::Nodes => "nodes",
        }
    }

    /// The kind of its objects.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Pods => "Pod",
            Self::ConfigMaps => "ConfigMap",
            Self::Nodes => "Node",
        }
    }

    /// Whether its objects live in namespaces.
    pub const fn is_namespaced(self) -> bool {
        !matches!(self, Self::Nodes)
    }

    /// The namespace of the object with this number; `None` if cluster-scoped.
    pub fn namespace(self, slot: u8) -> Option<&'static str> {
        self.is_namespaced()
            .then(|| NAMESPACES[usize::from(slot) % NAMESPACES.len()])
    }

    /// The name of the object with this number.
    pub fn name(self, slot: u8) -> String {
        format!("{}-{slot}", self.kind().to_lowercase())
    }

    /// The path of the collection that holds the object with this number.
    pub fn collection(self, slot: u8) -> String {
        match self.namespace(slot) {
            Some(namespace) => format!("/api/v1/namespaces/{namespace}/{}", self.plural()),
            None => format!("/api/v1/{}", self.plural()),
        }
    }
}

// === impl Tier ===

impl Tier {
    /// The label's value, if there is one.
    pub const fn value(self) -> Option<&'static str> {
        match self {
            Self::Web => Some("web"),
            Self::Db => Some("db"),
            Self::None => None,
        }
    }
}
