//! The objects that a request addresses: their type and their path.

use std::sync::Arc;

use fakeserver_kinds::{
    Kind, PreservedMetadata, ResourceType, apiextensions::custom_resource_definition,
    core::namespace, custom_resources::Conversion,
};
use fakeserver_value::{
    edit::{EmptyMember, copy, empty_members, remove},
    go_values::{JSON_VALUES, print_go_values},
    managed_fields::{self, KindDescription},
    resource::GroupResource,
    resource_path::ResourcePath,
    schema::{self, TypeId},
    served_form::ServedForm,
    status::{FieldError, NamedObject, Status},
};
use serde_json::{Value, json};

use crate::store::{ObjectKey, StoredObject};

/// The type of some objects, and the path under which a request names them.
#[derive(Clone, Debug)]
pub struct Target {
    pub resource: Arc<ResourceType>,
    pub path: ResourcePath,
}

// === impl Target ===

impl Target {
    /// Returns the rules of the kind of the objects.
    pub fn rules(&self) -> &Kind {
        &self.resource.rules
    }

    /// Returns the name in the path, empty for a collection.
    pub fn name(&self) -> &str {
        self.path.name.as_deref().unwrap_or_default()
    }

    /// Returns the subresource in the path, empty for the object itself.
    pub fn subresource(&self) -> &str {
        self.path.subresource.as_deref().unwrap_or_default()
    }

    /// Returns whether imported objects keep their status. The server itself writes that of the others.
    pub fn imports_status(&self) -> bool {
        let rules = self.rules();
        self.resource.has_status()
            && !rules.is(&namespace::KIND)
            && !rules.is(&custom_resource_definition::KIND)
    }

    /// Returns the resource under which the objects are stored.
    pub fn group_resource(&self) -> GroupResource {
        self.rules().storage().clone()
    }

    /// Returns the key under which the object `name` is stored.
    pub fn key(&self, name: &str) -> ObjectKey {
        ObjectKey::new(self.group_resource(), self.path.namespace.as_deref(), name)
    }

    /// Returns the object `name` as errors call it.
    pub fn named<'a>(&'a self, name: &'a str) -> NamedObject<'a> {
        NamedObject {
            resource: &self.resource.plural,
            group: &self.resource.group,
            name,
        }
    }

    /// Returns the collection of the objects as errors call it.
    pub fn collection(&self) -> NamedObject<'_> {
        self.named("")
    }

    /// Returns the webhook that converts between this version and the stored one, if one is needed.
    pub fn conversion(&self) -> Option<&Arc<Conversion>> {
        self.rules().conversion()
    }

    /// Returns `stored` with kind and apiVersion, in this version.
    pub fn api_object(&self, stored: &StoredObject) -> Value {
        self.resource.to_served(stored.to_value())
    }

    /// Sets the namespace of the path in an object without one.
    ///
    /// # Errors
    ///
    /// The object names another namespace.
    pub fn set_namespace(&self, object: &mut Value) -> Result<(), Status> {
        let metadata = &mut object["metadata"];
        let value = metadata["namespace"].as_str().unwrap_or_default();
        match self.path.namespace.as_deref() {
            Some(namespace) if value.is_empty() => metadata["namespace"] = namespace.into(),
            Some(namespace) if value != namespace => {
                return Err(Status::bad_request(
                    "the namespace of the provided object does not match the namespace sent on the request",
                ));
            }
            Some(_) => {}
            None => remove(metadata, "namespace"),
        }
        Ok(())
    }

    /// Refuses an object with another name than that of the path.
    pub fn check_name(&self, object: &Value) -> Result<(), Status> {
        let value = object["metadata"]["name"].as_str().unwrap_or_default();
        let name = self.name();
        if value.is_empty() {
            return Err(Status::bad_request(format!(
                "the name of the object ({name} based on URL) was undeterminable: name must be provided"
            )));
        }
        if value != name {
            return Err(Status::bad_request(format!(
                "the name of the object ({value}) does not match the name on the URL ({name})"
            )));
        }
        Ok(())
    }

    /// Refuses a custom object of another kind. Built-in ones are refused when they are read.
    pub fn check_kind(&self, object: &Value) -> Result<(), Status> {
        let (value, kind) = (
            object["kind"].as_str().unwrap_or_default(),
            &self.resource.kind,
        );
        if !self.rules().is_custom() || value == &**kind {
            return Ok(());
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let error = FieldError::invalid("kind", &json!(value), &format!("must be {kind}"));
        Err(Status::invalid(value, &self.resource.group, name, &[error]))
    }

    /// Removes optional empty lists and maps, and returns all empty ones. Beyond validation errors, they equal absent
    /// ones.
    pub(super) fn strip_empty_members(&self, object: &mut Value) -> Vec<EmptyMember> {
        let Some(id) = self.type_with_empty(object) else {
            return Vec::new();
        };
        let members = empty_members(object);
        // An empty list of managers resets them.
        let managers = managed_fields::of(object);
        *object = schema::as_printed(id.table(), id, object.take());
        managed_fields::set(object, managers);
        members
    }

    /// Restores sent empty lists that were replaced by defaults, if the kind's defaults are for absent lists only.
    pub(super) fn restore_empty_lists(&self, object: &mut Value, members: &[EmptyMember]) {
        let kept = self.rules().habits.empty_lists;
        for (parent, name, value) in members {
            if kept.contains(&name.as_str())
                && let Some(parent) = object.pointer_mut(parent)
            {
                parent[name.as_str()] = value.clone();
            }
        }
    }

    /// Converts empty lists and maps to their stored form, after the managers were recorded, which distinguishes them
    /// from absent ones. `members` are those of the sent object: defaults add none.
    pub(super) fn canonicalize_empty_members(&self, object: &mut Value, members: &[EmptyMember]) {
        if members.is_empty() {
            return;
        }
        if let Some(id) = self.type_with_empty(object) {
            *object = schema::canonical(id.table(), id, object.take());
        }
    }

    /// Converts an object to the stored form of its kind and back, as a real server does: fields that the older form
    /// keeps in annotations are rebuilt.
    pub(super) fn convert_through_stored_form(&self, object: &mut Value) {
        let form = self.resource.form.filter(|form| !form.is_stored);
        if let Some(form) = form {
            let managers = managed_fields::of(object);
            *object = form.convert(form.other.convert(object.take()));
            managed_fields::set(object, managers);
        }
    }

    /// Resets, in the stored form of its kind, a status that was written through the main resource.
    pub(super) fn reset_status_in_stored_form(&self, old: Option<&Value>, object: &mut Value) {
        let form = self.resource.form.filter(|form| !form.is_stored);
        let Some(form) =
            form.filter(|_| self.subresource().is_empty() && self.resource.has_status())
        else {
            return;
        };
        let managers = managed_fields::of(object);
        let mut other = form.other.convert(object.take());
        let old = old.map(|old| form.other.convert(old.clone()));
        copy(old.as_ref().unwrap_or(&Value::Null), &mut other, "status");
        *object = form.convert(other);
        managed_fields::set(object, managers);
    }

    /// Returns whether the managers of an object can be recorded. A real server drops the managers of an object that it
    /// cannot convert to typed values.
    pub(super) fn is_comparable(&self, object: &Value) -> bool {
        managed_fields::fits(object, self.described().schema)
    }

    /// Returns the type of `object` if it has lists or maps without items.
    fn type_with_empty(&self, object: &Value) -> Option<TypeId> {
        let id = self.resource.type_of_objects()?;
        schema::has_empty(id.table(), id, object).then_some(id)
    }

    /// Fills in what every object of this type has in `field`, and removes empty optional values.
    pub(super) fn complete_field(&self, object: &mut Value, field: &str) {
        if let Some(id) = self.resource.type_of_objects() {
            schema::canonical_field(id.table(), id, field, object);
        }
    }

    /// Returns the description of the kind that field management needs.
    pub fn described(&self) -> KindDescription<'_> {
        self.resource.described()
    }

    /// Returns the answer to an object that is not valid. It names the group in which the kind is stored.
    pub fn invalid(&self, name: &str, errors: &[FieldError]) -> Status {
        let group = self.rules().storage().group();
        let errors = self.printed(errors.to_vec());
        Status::invalid(&self.resource.kind, group, name, &errors)
    }

    /// Prints the values in errors as the server's version of Kubernetes does.
    pub fn printed(&self, mut errors: Vec<FieldError>) -> Vec<FieldError> {
        let kubernetes = self.resource.kubernetes;
        if !kubernetes.gates().is_on(JSON_VALUES) {
            let id = match self.resource.form.map(ServedForm::stored) {
                Some(form) => schema::type_in(kubernetes, form.group, form.version, form.kind),
                None => self.resource.type_of_objects(),
            };
            print_go_values(&mut errors, schema::types_in(kubernetes), id);
        }
        for error in &mut errors {
            let start = error.shown_end();
            kubernetes.reword(&error.field, &mut error.detail, start);
        }
        errors
    }
}

/// Replaces the metadata that an endpoint may keep by that of `other`, and returns the metadata before.
pub(super) fn replace_metadata(object: &mut Value, other: &Value) -> Value {
    let metadata = &mut object["metadata"];
    let before = metadata.clone();
    for field in PreservedMetadata::FIELDS {
        copy(other, metadata, field);
    }
    before
}
