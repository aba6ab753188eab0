//! The stored form of custom objects, shown in a version: completed by the defaults of the stored version, and pruned
//! by the shown one.

use std::sync::Arc;

use fakeserver_value::schema::{Schema, SchemaId, Schemas, prune};
use serde_json::Value;

use super::defaulting::set_defaults;

/// The schema of one version, read.
#[derive(Debug)]
pub(super) struct VersionSchema {
    schemas: Schemas,
    root: SchemaId,
}

/// The form in which objects of a definition are stored, if some may have to be converted when they are read.
#[derive(Debug, Clone)]
pub(super) struct StoredForm {
    /// The schema of the version in which objects are stored.
    schema: Arc<VersionSchema>,
    /// The number of changes of the definition, each of which may change the shown form.
    generation: i64,
}

// === impl VersionSchema ===

impl VersionSchema {
    /// Reads the schema of an item of `spec.versions`.
    pub(super) fn new(version: &Value) -> Self {
        let schema = &version["schema"]["openAPIV3Schema"];
        let (schemas, root) = Schemas::of_custom_resource(schema);
        Self { schemas, root }
    }

    pub(super) fn root(&self) -> Schema<'_> {
        self.schemas.get(self.root)
    }
}

// === impl StoredForm ===

impl StoredForm {
    /// Returns the stored form of the objects of `crd`; `None` if they can be shown in `version` as they are.
    ///
    /// Objects need no conversion if the definition has never changed and `version` has the schema of the storage version.
    pub(super) fn of(crd: &Value, version: &Value) -> Option<Self> {
        let generation = crd["metadata"]["generation"].as_i64().unwrap_or_default();
        let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
        let mut versions = versions.filter(|other| other["storage"] == true);
        let storage = versions.next().unwrap_or(version);
        let is_same = generation <= 1 && storage["schema"] == version["schema"];
        (!is_same).then(|| Self {
            schema: Arc::new(VersionSchema::new(storage)),
            generation,
        })
    }

    /// Returns the schema of the version in which objects are stored.
    pub(super) fn schema(&self) -> Schema<'_> {
        self.schema.root()
    }

    pub(super) fn generation(&self) -> i64 {
        self.generation
    }

    /// A stored object as a version shows it.
    pub(super) fn show(&self, object: &mut Value, version: Schema<'_>) {
        let stored = self.schema.root();
        prune(object, stored, true);
        set_defaults(object, stored);
        prune(object, version, true);
    }
}
