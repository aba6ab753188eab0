//! Resource types: one version of a kind, as discovery describes it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::KindRef;
use crate::value::{
    managed_fields::{Described, described},
    resource::{GroupVersionKind, api_version},
    served_form::ServedForm,
};

/// One version of one resource, with the fields of its discovery entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceType {
    pub(crate) group: Arc<str>,
    pub(crate) version: Arc<str>,
    pub(crate) plural: Arc<str>,
    pub(crate) singular: Arc<str>,
    pub(crate) kind: Arc<str>,
    /// The kind of a list of them, if it is not the usual one.
    pub(crate) list_kind: Option<Arc<str>>,
    pub(crate) is_namespaced: bool,
    pub(crate) verbs: Vec<Arc<str>>,
    pub(crate) short_names: Vec<Arc<str>>,
    pub(crate) categories: Vec<Arc<str>>,
    pub(crate) subresources: Vec<Subresource>,
    /// The form of its objects, if the kind is served in two.
    pub(crate) form: Option<&'static ServedForm>,
    /// The rules of the kind, which all its versions share.
    pub(crate) rules: KindRef,
}

/// A subresource, as in `pods/status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subresource {
    pub(crate) name: Arc<str>,
    /// The kind of its bodies; group and version are empty where they are the resource's.
    pub(crate) kind: GroupVersionKind,
    pub(crate) verbs: Vec<Arc<str>>,
}

// === impl ResourceType ===

impl ResourceType {
    /// As objects write it: `v1`, `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// Returns the kind of its objects.
    pub(crate) fn group_version_kind(&self) -> GroupVersionKind {
        GroupVersionKind {
            group: Arc::clone(&self.group),
            version: Arc::clone(&self.version),
            kind: Arc::clone(&self.kind),
        }
    }

    /// Returns the kind of a list of its objects.
    pub(crate) fn list_kind(&self) -> Arc<str> {
        let usual = || format!("{}List", self.kind).into();
        self.list_kind.clone().unwrap_or_else(usual)
    }

    pub(crate) fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| &**known == verb)
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources
            .iter()
            .find(|subresource| &*subresource.name == name)
    }

    /// Returns the form of its objects, if it is not the stored one.
    pub(crate) fn converted_form(&self) -> Option<&'static ServedForm> {
        self.form.filter(|form| !form.is_stored)
    }

    /// Returns a stored object as this version shows it, unless a webhook has to convert it.
    pub(crate) fn shown(&self, mut object: Value) -> Value {
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

    /// Returns the description of the kind that field management needs.
    pub(crate) fn described(&self) -> Described<'_> {
        match self.rules.as_custom() {
            Some(custom) => Described::by(Some(custom.schema())),
            None => described(&self.api_version(), &self.kind)
                .with_other(self.form.map(|form| form.other)),
        }
    }

    /// Returns whether `status` is written through a subresource of its own.
    pub(crate) fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }
}

// === impl Subresource ===

impl Subresource {
    pub(crate) fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| &**known == verb)
    }
}
