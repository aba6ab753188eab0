//! The kinds that a server serves, and references to their objects.

use std::{fmt, str::FromStr, sync::Arc};

use axum::Router;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use support::call::{DISCOVERY, open, read};

/// The key of an object: the plural name of its resource with the group, its namespace, its name.
pub(super) type ObjectKey = (String, String, String);

/// A kind in one version, and how its objects are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedKind {
    /// The API group, empty for the core.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The plural name of the resource.
    pub resource: String,
    /// True if its objects are in namespaces.
    pub is_namespaced: bool,
}

/// The kinds that can be listed, the preferred version of each group first.
#[derive(Clone, Debug, Default)]
pub(super) struct ServedKinds {
    all: Vec<Arc<ServedKind>>,
    /// Each resource once, in its preferred version.
    resources: Vec<Arc<ServedKind>>,
}

/// A reference to an object: `APIVERSION KIND [NAMESPACE/]NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectRef {
    /// `v1`, `apps/v1`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// Empty for an object without a namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

// === impl ServedKind ===

impl ServedKind {
    /// Returns `GROUP/VERSION`, or the version alone for the core.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Returns `RESOURCE.GROUP`, or the resource alone for the core.
    pub fn full_name(&self) -> String {
        full_name(&self.resource, &self.group)
    }

    /// Returns the path of an object.
    pub fn path(&self, namespace: &str, name: &str) -> String {
        let root = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        if self.is_namespaced {
            format!("{root}/namespaces/{namespace}/{}/{name}", self.resource)
        } else {
            format!("{root}/{}/{name}", self.resource)
        }
    }
}

/// Returns `RESOURCE.GROUP`, or the resource alone for the core.
pub(super) fn full_name(resource: &str, group: &str) -> String {
    match group {
        "" => resource.to_owned(),
        group => format!("{resource}.{group}"),
    }
}

// === impl ServedKinds ===

impl ServedKinds {
    /// Reads them from a server's discovery.
    pub(super) async fn read(router: &Router) -> Self {
        let mut kinds = Vec::new();
        for path in ["/api", "/apis"] {
            let accept = [("Accept".to_owned(), DISCOVERY.to_owned())];
            let answer = read(open(router, "GET", path, &accept, Vec::new()).await).await;
            let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            for group in items(&document["items"]) {
                let name = text(&group["metadata"]["name"]);
                for version in items(&group["versions"]) {
                    kinds.extend(kinds_of(&name, version));
                }
            }
        }
        let mut resources: Vec<Arc<ServedKind>> = Vec::new();
        let all: Vec<Arc<ServedKind>> = kinds.into_iter().map(Arc::new).collect();
        for served in &all {
            let is_there = |known: &Arc<ServedKind>| {
                known.resource == served.resource && known.group == served.group
            };
            if !resources.iter().any(is_there) {
                resources.push(Arc::clone(served));
            }
        }
        Self { all, resources }
    }

    /// Finds a kind by the fields of an object.
    pub(super) fn of(&self, api_version: &str, kind: &str) -> Option<&ServedKind> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let mut all = self.all.iter().map(|served| &**served);
        all.find(|served| served.kind == kind && served.group == group && served.version == version)
    }

    /// Finds the kind of an object. The error says that it is not served.
    pub(super) fn find(&self, object: &ObjectRef) -> Result<&ServedKind, String> {
        let ObjectRef {
            api_version, kind, ..
        } = object;
        self.of(api_version, kind).ok_or_else(|| {
            format!("the server has no {api_version} {kind}; --crds names the files of definitions")
        })
    }

    /// Returns whether a resource can be listed in some version.
    pub(super) fn has(&self, resource: &str, group: &str) -> bool {
        let mut resources = self.resources.iter();
        resources.any(|kind| kind.resource == resource && kind.group == group)
    }

    /// Returns each resource once, in its preferred version.
    pub(super) fn resources(&self) -> &[Arc<ServedKind>] {
        &self.resources
    }
}

fn kinds_of(group: &str, version: &Value) -> Vec<ServedKind> {
    let can_be_listed =
        |resource: &&Value| items(&resource["verbs"]).any(|verb| verb.as_str() == Some("list"));
    items(&version["resources"])
        .filter(can_be_listed)
        .map(|resource| ServedKind {
            group: group.to_owned(),
            version: text(&version["version"]),
            kind: text(&resource["responseKind"]["kind"]),
            resource: text(&resource["resource"]),
            is_namespaced: resource["scope"] == "Namespaced",
        })
        .collect()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

// === impl ObjectRef ===

impl ObjectRef {
    /// Returns the reference to an object, as its fields say.
    pub fn to(object: &Value) -> Self {
        Self {
            api_version: text(&object["apiVersion"]),
            kind: text(&object["kind"]),
            namespace: text(&object["metadata"]["namespace"]),
            name: text(&object["metadata"]["name"]),
        }
    }

    /// Returns whether both are of one object, in whichever of the versions that are served. A workload need not name the namespace
    /// `default`.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        fn parts(of: &ObjectRef) -> [&str; 4] {
            let group = of.api_version.split_once('/');
            let namespace = match of.namespace.as_str() {
                "" => "default",
                namespace => namespace,
            };
            let group = group.map_or("", |(group, _)| group);
            [group, &of.kind, namespace, &of.name]
        }
        parts(self) == parts(other)
    }
}

impl FromStr for ObjectRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [api_version, kind, place] = words[..] else {
            return Err(format!(
                "{text:?} is no reference to an object: it has the form \"APIVERSION KIND [NAMESPACE/]NAME\", as in \
                 \"apps/v1 Deployment shop/web\""
            ));
        };
        let (namespace, name) = place.split_once('/').unwrap_or(("", place));
        Ok(Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl TryFrom<String> for ObjectRef {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ObjectRef> for String {
    fn from(reference: ObjectRef) -> Self {
        reference.to_string()
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.api_version, self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_object_has_several_references() {
        let page: ObjectRef = "example.org/v1 Page home".parse().unwrap();
        for (other, is_same) in [
            ("example.org/v1 Page default/home", true),
            ("example.org/v1beta1 Page home", true),
            ("example.org/v1 Page shop/home", false),
            ("example.com/v1 Page home", false),
            ("example.org/v1 Page away", false),
        ] {
            let reference: ObjectRef = other.parse().unwrap();
            assert_eq!(page.is_same(&reference), is_same, "{other}");
        }
    }
}
