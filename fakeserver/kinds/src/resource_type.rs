//! Resource types: one version of a kind, as discovery describes it.

use std::sync::Arc;

use fakeserver_value::{
    managed_fields::{KindDescription, described_in},
    resource::{GroupVersionKind, api_version},
    schema::{self, TypeId, type_in},
    served_form::ServedForm,
    status::Status,
};
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::{KindRef, selectable_field::unsupported};

/// One version of one resource, with the fields of its discovery entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceType {
    /// The version of Kubernetes of the server.
    pub kubernetes: KubernetesVersion,
    pub group: Arc<str>,
    pub version: Arc<str>,
    pub plural: Arc<str>,
    pub singular: Arc<str>,
    pub kind: Arc<str>,
    /// The kind of a list of them, if it is not the usual one.
    pub list_kind: Option<Arc<str>>,
    pub is_namespaced: bool,
    pub verbs: Vec<Arc<str>>,
    pub short_names: Vec<Arc<str>>,
    pub categories: Vec<Arc<str>>,
    pub subresources: Vec<Subresource>,
    /// The form of its objects, if the kind is served in two.
    pub form: Option<&'static ServedForm>,
    /// The rules of the kind, which all its versions share.
    pub rules: KindRef,
}

/// A subresource, as in `pods/status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subresource {
    pub name: Arc<str>,
    /// The kind of its bodies; group and version are empty where they are the resource's.
    pub kind: GroupVersionKind,
    pub verbs: Vec<Arc<str>>,
}

// === impl ResourceType ===

impl ResourceType {
    /// Returns the version as objects write it: `v1`, `apps/v1`.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// Returns the type of its objects, unless a definition has made it.
    pub fn type_of_objects(&self) -> Option<TypeId> {
        type_in(self.kubernetes, &self.group, &self.version, &self.kind)
    }

    /// Returns the kind of its objects.
    pub fn group_version_kind(&self) -> GroupVersionKind {
        GroupVersionKind {
            group: Arc::clone(&self.group),
            version: Arc::clone(&self.version),
            kind: Arc::clone(&self.kind),
        }
    }

    /// Returns the kind of a list of its objects.
    pub fn list_kind(&self) -> Arc<str> {
        let usual = || format!("{}List", self.kind).into();
        self.list_kind.clone().unwrap_or_else(usual)
    }

    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|own| &**own == verb)
    }

    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources
            .iter()
            .find(|subresource| &*subresource.name == name)
    }

    /// Returns the form of its objects, if it is not the stored one.
    pub fn converted_form(&self) -> Option<&'static ServedForm> {
        self.form.filter(|form| !form.is_stored)
    }

    /// Returns a stored object as this version shows it, unless a webhook has to convert it.
    pub fn to_served(&self, mut object: Value) -> Value {
        if let Some(form) = self.converted_form() {
            return form.convert(object);
        }
        if let Some(custom) = self.rules.as_custom() {
            object = custom.show(object);
        }
        object["kind"] = json!(&*self.kind);
        object["apiVersion"] = json!(self.api_version());
        object
    }

    /// Returns an object without the fields that this version of Kubernetes does not know, as one that is decoded of what
    /// another version has stored. It has the form of this type, with kind and apiVersion.
    pub fn without_unknown_fields(&self, object: Value) -> Value {
        match self.type_of_objects().filter(|_| !self.rules.is_custom()) {
            Some(id) => schema::canonical(id.table(), id, object),
            None => object,
        }
    }

    /// Returns the description of the kind that field management needs.
    pub fn described(&self) -> KindDescription<'_> {
        match self.rules.as_custom() {
            Some(custom) => KindDescription::by(Some(custom.schema())),
            None => {
                described_in(self.kubernetes, &self.api_version(), &self.kind).with_form(self.form)
            }
        }
    }

    /// Refuses a field by which objects cannot be selected.
    pub fn check_field(&self, label: &str) -> Result<(), Status> {
        // Without namespaces, only kinds that have no fields of their own have a field of that name.
        let has_own = self.rules.is_custom() || self.rules.fields.is_some();
        let has_namespace = self.is_namespaced || !has_own;
        if label == "metadata.name" || (label == "metadata.namespace" && has_namespace) {
            return Ok(());
        }
        if let Some(custom) = self.rules.as_custom() {
            return if custom.is_selectable(label) {
                Ok(())
            } else {
                Err(unsupported(label, ""))
            };
        }
        let Some(own) = self.rules.fields else {
            return Err(Status::bad_request(format!(
                "{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )));
        };
        own.check(label, &self.api_version(), &self.kind)
    }

    /// Returns whether `status` is written through a subresource of its own.
    pub fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }
}

// === impl Subresource ===

impl Subresource {
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|own| &**own == verb)
    }
}
