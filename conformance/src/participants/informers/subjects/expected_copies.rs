//! The goal of a controller under test: beside each config map, a secret that names the state of which it is a copy.
//!
//! A copy goes with its config map by itself, since that owns it.

use std::collections::BTreeMap;

use fakeserver::{FakeServer, StoredObject};
use k8s_openapi::{
    api::core::v1::Secret,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};

/// The label with the state of the original.
const OF: &str = "conformance.example/of";

/// A config map in one of its states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Original {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) version: String,
}

// === impl Original ===

impl Original {
    /// Returns its copy.
    pub(super) fn copy(&self) -> Secret {
        let owner = OwnerReference {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            controller: Some(true),
            ..OwnerReference::default()
        };
        Secret {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                namespace: Some(self.namespace.clone()),
                labels: Some(BTreeMap::from([(OF.to_owned(), self.state())])),
                owner_references: Some(vec![owner]),
                ..ObjectMeta::default()
            },
            ..Secret::default()
        }
    }

    /// Returns true if `copy` is its copy.
    pub(super) fn is_copied_by(&self, copy: &Secret) -> bool {
        let labels = copy.metadata.labels.as_ref();
        labels.and_then(|labels| labels.get(OF)) == Some(&self.state())
    }

    fn state(&self) -> String {
        format!("{}.{}", self.uid, self.version)
    }
}

impl From<&StoredObject> for Original {
    fn from(object: &StoredObject) -> Self {
        Self {
            namespace: object.namespace().unwrap_or_default().to_owned(),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            version: object.revision().to_string(),
        }
    }
}

/// Describes the first difference between the copies on `server` and its config maps, if there is one.
pub(crate) fn difference(server: &FakeServer) -> Option<String> {
    let place = |object: &StoredObject| {
        let namespace = object.namespace().unwrap_or_default();
        format!("{namespace}/{}", object.name())
    };
    let copies = server.objects("", "v1", "secrets");
    let mut copies: BTreeMap<String, Option<String>> = copies
        .iter()
        .map(|copy| (place(copy), copy.labels().get(OF).map(str::to_owned)))
        .collect();
    for original in server.objects("", "v1", "configmaps") {
        let place = place(&original);
        let wanted = Original::from(&*original).state();
        match copies.remove(&place) {
            None => return Some(format!("there is no copy of {place}")),
            Some(found) if found.as_ref() != Some(&wanted) => {
                let found = found.unwrap_or_else(|| "nothing".to_owned());
                return Some(format!(
                    "the copy of {place} is of {found}, not of {wanted}"
                ));
            }
            Some(_) => {}
        }
    }
    let left = copies.into_keys().next()?;
    Some(format!("{left} is a copy of nothing"))
}
