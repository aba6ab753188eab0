//! Objects on the page: a part of a resource as a table, and one object as YAML.

use std::sync::Arc;

use fakeserver_kinds::{
    ResourceType,
    printer::Printer,
    rbac::policy::{Attributes, ResourceAttributes, Target},
    registry::Registry,
    storage_of,
};
use fakeserver_value::managed_fields::without_managed_fields;
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use super::command::{ObjectName, View};
use crate::{
    edge::response::yaml,
    store::{ObjectKey, Range, StoredObject},
    write::Backend,
};

/// The maximum number of objects that are shown at a time.
const ROWS_MAX: usize = 200;

/// Some objects of a resource, in the order of a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Table {
    group: String,
    resource: String,
    namespace: Option<String>,
    start: String,
    /// The number of objects in all namespaces.
    count: usize,
    /// The definitions of the columns, as tables of the API have them.
    columns: Box<RawValue>,
    rows: Vec<Row>,
    /// The path of the first object behind the rows.
    next: Option<String>,
}

#[derive(Debug, Serialize)]
struct Row {
    namespace: Option<String>,
    name: String,
    cells: Vec<Value>,
}

/// The open object; without YAML if it does not exist.
#[derive(Debug, Serialize)]
pub(super) struct OpenObject {
    group: String,
    resource: String,
    namespace: Option<String>,
    name: String,
    /// Without its field managers.
    yaml: Option<String>,
    /// The field managers.
    managers: Value,
}

// === impl View ===

impl View {
    /// Returns what its user must be allowed to do.
    pub(super) fn attributes(&self) -> Attributes {
        let namespace = self.namespace.as_deref();
        attributes("list", &self.group, &self.resource, namespace, "")
    }
}

// === impl ObjectName ===

impl ObjectName {
    /// Returns what its user must be allowed to do.
    pub(super) fn attributes(&self) -> Attributes {
        let namespace = self.namespace.as_deref();
        attributes("get", &self.group, &self.resource, namespace, &self.name)
    }
}

fn attributes(
    verb: &str,
    group: &str,
    resource: &str,
    namespace: Option<&str>,
    name: &str,
) -> Attributes {
    Attributes {
        verb: verb.to_owned(),
        target: Target::Resource(ResourceAttributes {
            group: group.to_owned(),
            version: "*".to_owned(),
            resource: resource.to_owned(),
            subresource: String::new(),
            namespace: namespace.unwrap_or_default().to_owned(),
            name: name.to_owned(),
        }),
    }
}

// === impl Table ===

impl Table {
    /// Returns the rows of `view` now; `None` if its resource is not served. The cost does not grow with the number of objects.
    pub(super) fn of(backend: &Backend, view: &View) -> Option<Self> {
        let resource = displayed_type(&backend.registry(), &view.group, &view.resource)?;
        let stored = storage_of(&view.group, &view.resource);
        let snapshot = backend.storage.view(|now| now.snapshot(&stored));
        let range = Range::of(view.namespace.as_deref());
        let mut objects = snapshot.objects(&range, Some(&view.start));
        let printer = Printer::of(&resource);
        let now = backend.clock.now();
        let limit = view.limit.min(ROWS_MAX);
        let rows = objects.by_ref().take(limit).map(|object| Row {
            namespace: object.namespace().map(str::to_owned),
            name: object.name().to_owned(),
            cells: printer.row(&printed(&resource, object), now).cells,
        });
        let rows = rows.collect();
        let columns = printer.columns().to_owned();
        Some(Self {
            group: view.group.clone(),
            resource: view.resource.clone(),
            namespace: view.namespace.clone(),
            start: view.start.clone(),
            count: snapshot.count(),
            columns: RawValue::from_string(columns).expect("definitions of columns are JSON"),
            rows,
            next: objects.next().map(|object| object.key().path().to_string()),
        })
    }
}

/// Returns the object for table cells: the stored form for built-in kinds.
fn printed(resource: &ResourceType, object: &StoredObject) -> Value {
    if resource.rules.as_custom().is_some() {
        return resource.to_served(object.to_value());
    }
    let mut value = without_managed_fields(&object.json());
    value["kind"] = json!(&*resource.kind);
    value["apiVersion"] = json!(resource.api_version());
    value
}

// === impl OpenObject ===

impl OpenObject {
    /// Returns the open object, without YAML if it does not exist.
    pub(super) fn of(backend: &Backend, object_name: &ObjectName) -> Self {
        let key = ObjectKey::new(
            storage_of(&object_name.group, &object_name.resource),
            object_name.namespace.as_deref(),
            &object_name.name,
        );
        let object = backend.storage.view(|now| now.get(&key).cloned());
        let resource = displayed_type(
            &backend.registry(),
            &object_name.group,
            &object_name.resource,
        );
        let mut value = object
            .zip(resource)
            .map(|(object, resource)| resource.to_served(object.to_value()));
        let managers = value.as_mut().and_then(|value| {
            let metadata = value["metadata"].as_object_mut()?;
            metadata.remove("managedFields")
        });
        let yaml = value
            .map(|value| String::from_utf8_lossy(&yaml(value.to_string().as_bytes())).into_owned());
        Self {
            group: object_name.group.clone(),
            resource: object_name.resource.clone(),
            namespace: object_name.namespace.clone(),
            name: object_name.name.clone(),
            yaml,
            managers: managers.unwrap_or_else(|| json!([])),
        }
    }
}

/// Returns the version of a resource on the page: one without conversion by a webhook, or else the preferred one.
fn displayed_type(registry: &Registry, group: &str, plural: &str) -> Option<Arc<ResourceType>> {
    let versions = registry.group(group)?.versions.iter();
    let types: Vec<_> = versions
        .flat_map(|version| &version.resources)
        .filter(|resource| &*resource.plural == plural)
        .collect();
    let is_stored = |resource: &&Arc<ResourceType>| {
        let custom = resource.rules.as_custom();
        custom.is_none_or(|custom| {
            custom.webhook().is_none() || custom.api_version() == custom.storage_version()
        })
    };
    let stored = types.iter().copied().find(is_stored);
    stored.or_else(|| types.first().copied()).cloned()
}
