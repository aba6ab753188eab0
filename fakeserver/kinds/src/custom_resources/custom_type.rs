//! One version of a custom resource: parsing and validation of its objects.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use fakeserver_value::{
    read::text,
    resource::api_version,
    schema::{DecodedObject, Schema, StrictError, duplicate_fields, prune},
    status::FieldError,
};
use fakeserver_versions::KubernetesVersion;
use jiff::Timestamp;
use serde_json::Value;

use super::{
    Conversion, JsonPath, PrinterColumn,
    defaulting::{drop_nulls, set_defaults},
    deprecation,
    rules::Rules,
    scale::CustomScale,
    stored_form::{StoredForm, VersionSchema},
    table,
    validation::{
        correlation::Correlation,
        embedded::{self, embedded_errors, read_metadata},
        list_type_errors, scale, validate, validate_at,
    },
};
use crate::{Verdict, table::cell::Cells};

/// One version of a custom resource, behind its [`ResourceType`](crate::ResourceType).
#[derive(Debug)]
pub struct CustomType {
    /// The version as its definition has it.
    version: Value,
    api_version: String,
    schema: VersionSchema,
    /// All versions as their definition has them.
    versions: Arc<Value>,
    /// Their schemas, by version with its group, once they have been read.
    schemas: OnceLock<BTreeMap<String, VersionSchema>>,
    /// The stored form of its objects, if they have to be shown otherwise.
    stored: Option<StoredForm>,
    /// The webhook that converts between the versions.
    webhook: Option<Arc<Conversion>>,
    /// True if all objects are stored in this version, and have not been stored in another one.
    is_always_stored: bool,
    /// The version in which objects are stored, with its group.
    storage_version: String,
    /// True if clients can use the version in which objects are stored.
    is_storage_served: bool,
    rules: Rules,
    selectable: Vec<JsonPath>,
    columns: Vec<PrinterColumn>,
    deprecation_warning: Option<String>,
    is_terminating: bool,
}

// === impl CustomType ===

impl CustomType {
    /// Reads `version`, an item of `spec.versions` of the definition `crd`, which all of its types share.
    pub(crate) fn new(
        crd: &Value,
        versions_of_definition: &Arc<Value>,
        version: &Value,
        is_terminating: bool,
    ) -> Self {
        let schema = &version["schema"]["openAPIV3Schema"];
        let selectable = version["selectableFields"].as_array().into_iter().flatten();
        let selectable =
            selectable.filter_map(|field| JsonPath::parse(field["jsonPath"].as_str()?));
        let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
        let mut versions = versions.filter(|version| version["storage"] == true);
        let storage = versions.next().unwrap_or(version);
        let is_unchanged = crd["metadata"]["generation"].as_i64().unwrap_or_default() <= 1;
        Self {
            rules: Rules::compile(schema, true),
            selectable: selectable.collect(),
            columns: PrinterColumn::all_of(version),
            deprecation_warning: deprecation::warning(crd, version),
            schema: VersionSchema::new(version),
            stored: StoredForm::of(crd, version),
            webhook: Conversion::of(crd, version),
            is_always_stored: is_unchanged && storage["name"] == version["name"],
            storage_version: api_version(text(&crd["spec"]["group"]), text(&storage["name"])),
            is_storage_served: storage["served"] == true,
            version: version.clone(),
            api_version: api_version(text(&crd["spec"]["group"]), text(&version["name"])),
            versions: Arc::clone(versions_of_definition),
            schemas: OnceLock::new(),
            is_terminating,
        }
    }

    /// Returns whether its definition is being deleted: nothing can be created any more.
    pub fn is_terminating(&self) -> bool {
        self.is_terminating
    }

    /// Reads an object: its metadata as that of any object, the rest by the schema. What the schema does not know is left
    /// out and reported; absent fields get their defaults.
    ///
    /// # Errors
    ///
    /// The metadata is not what metadata is; the error is in Go's words.
    pub fn read(&self, object: Value, body: &[u8]) -> Result<DecodedObject, String> {
        self.read_with(object, body, true)
    }

    /// Reads the result of an apply: a null that is no valid value stays, and validation rejects it.
    ///
    /// # Errors
    ///
    /// The metadata is not what metadata is; the error is in Go's words.
    pub fn read_applied(&self, object: Value) -> Result<DecodedObject, String> {
        let text = object.to_string();
        self.read_with(object, text.as_bytes(), false)
    }

    fn read_with(
        &self,
        mut object: Value,
        body: &[u8],
        drops_nulls: bool,
    ) -> Result<DecodedObject, String> {
        let mut strict = duplicate_fields(body).map_err(|error| error.to_string())?;
        let metadata = read_metadata(&object["metadata"])?;
        object["metadata"] = metadata.value;
        strict.extend(metadata.strict);
        let own = &self.version["schema"]["openAPIV3Schema"];
        // Embedded metadata is read before pruning: its fields are not declared by the schema.
        embedded::coerce(&mut object, own, "", &mut strict)?;
        let schema = self.schema.root();
        let pruned = prune(&mut object, schema, true);
        strict.extend(pruned.into_iter().map(StrictError::UnknownField));
        // Nulls are dropped before defaulting, so that a field that is null and has a default gets the default.
        if drops_nulls {
            drop_nulls(&mut object, schema);
        }
        set_defaults(&mut object, schema);
        Ok(DecodedObject::new(object, strict))
    }

    /// Returns the paths of its selectable fields, without the dot at the beginning.
    pub fn selectable_paths(&self) -> impl Iterator<Item = &str> {
        let fields = self.version["selectableFields"].as_array();
        let paths = fields.into_iter().flatten();
        let paths = paths.filter_map(|field| field["jsonPath"].as_str());
        paths.map(|path| path.strip_prefix('.').unwrap_or(path))
    }

    /// The schema of whole objects, with the metadata that all objects have.
    pub fn schema(&self) -> Schema<'_> {
        self.schema.root().with_metadata()
    }

    /// Returns the version, with its group.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// Returns the schema of whole objects in a version of the definition, which has its group; `None` if there is none.
    pub fn schema_of(&self, api_version: &str) -> Option<Schema<'_>> {
        if api_version == self.api_version {
            return Some(self.schema());
        }
        let schemas = self.schemas.get_or_init(|| self.read_schemas());
        let schema = schemas.get(api_version)?;
        Some(schema.root().with_metadata())
    }

    fn read_schemas(&self) -> BTreeMap<String, VersionSchema> {
        let (group, _) = self.api_version.split_once('/').unwrap_or_default();
        let versions = self.versions.as_array().into_iter().flatten();
        let versions = versions.map(|version| {
            let name = api_version(group, text(&version["name"]));
            (name, VersionSchema::new(version))
        });
        versions.collect()
    }

    /// Returns the webhook that converts stored objects to this version, and back; none if all are stored in this version.
    pub fn conversion(&self) -> Option<&Arc<Conversion>> {
        self.webhook.as_ref().filter(|_| !self.is_always_stored)
    }

    /// Returns the webhook that converts between the versions of its definition.
    pub fn webhook(&self) -> Option<&Arc<Conversion>> {
        self.webhook.as_ref()
    }

    /// Returns the version in which objects are stored from now on, with its group.
    pub fn storage_version(&self) -> &str {
        &self.storage_version
    }

    /// Refuses an object that is stored in a version, with its group, that the definition does not have any more.
    ///
    /// # Errors
    ///
    /// The error is in the API server's words.
    pub fn check_stored(&self, api_version: &str) -> Result<(), String> {
        let is_present = api_version.is_empty() || api_version == self.storage_version;
        if is_present || self.version_of(api_version).is_some() {
            return Ok(());
        }
        Err(format!(
            "request to convert CR from an invalid group/version: {api_version}"
        ))
    }

    /// Returns a version of the definition, which has its group.
    fn version_of(&self, api_version: &str) -> Option<&Value> {
        let (group, name) = api_version.split_once('/')?;
        let (own_group, _) = self.api_version.split_once('/')?;
        let mut versions = self.versions.as_array().into_iter().flatten();
        versions.find(|version| group == own_group && version["name"] == name)
    }

    /// Returns whether clients can use the version in which objects are stored.
    pub fn is_storage_served(&self) -> bool {
        self.is_storage_served
    }

    /// Completes an object that a webhook converted to this version: prunes unknown fields and sets defaults.
    pub fn complete(&self, mut object: Value) -> Value {
        let schema = self.schema.root();
        prune(&mut object, schema, true);
        drop_nulls(&mut object, schema);
        set_defaults(&mut object, schema);
        object
    }

    /// Completes an object that a webhook converted to the version in which it is stored: prunes unknown fields.
    pub fn complete_stored(&self, mut object: Value) -> Value {
        let schema = match &self.stored {
            Some(stored) => stored.schema(),
            None => self.schema.root(),
        };
        prune(&mut object, schema, true);
        drop_nulls(&mut object, schema);
        object
    }

    /// Counts the forms in which its objects have been shown; nothing if they are shown as they are stored.
    pub fn shown_form(&self) -> Option<i64> {
        self.unconverted_form().map(StoredForm::generation)
    }

    /// Returns a stored object in the form of this version, if no webhook converts it.
    pub fn show(&self, mut object: Value) -> Value {
        if let Some(stored) = self.unconverted_form() {
            stored.show(&mut object, self.schema.root());
        }
        object
    }

    fn unconverted_form(&self) -> Option<&StoredForm> {
        self.stored.as_ref().filter(|_| self.webhook.is_none())
    }

    /// Returns the warning of every answer, if the version is deprecated.
    pub fn deprecation_warning(&self) -> Option<&str> {
        self.deprecation_warning.as_deref()
    }

    /// Returns the definitions of the columns of its table, as JSON.
    pub fn table_columns(&self) -> String {
        table::columns(&self.columns)
    }

    /// Returns the cells of an object at a time, one for each column.
    pub fn table_cells(&self, object: &Value, now: Timestamp) -> Cells {
        table::cells(&self.columns, object, now)
    }

    /// The schema of whole objects, as its definition writes it.
    pub fn open_api_schema(&self) -> &Value {
        &self.version["schema"]["openAPIV3Schema"]
    }

    /// Returns the errors of `object`, which replaces `old` through `subresource` if there was one, apart from its
    /// metadata, whose errors `of_metadata` returns if there are rules.
    ///
    /// Rules in CEL are evaluated only if the object has the form that their types promise.
    pub fn check(
        &self,
        kubernetes: KubernetesVersion,
        subresource: &str,
        object: &Value,
        old: Option<&Value>,
        of_metadata: impl FnOnce() -> Vec<FieldError>,
    ) -> Verdict {
        let schema = &self.version["schema"]["openAPIV3Schema"];
        let correlation = old.map(|old| Correlation::new(object, old, schema));
        let mut errors = if subresource == "status" {
            self.status_errors(kubernetes, object, correlation)
        } else {
            let mut errors = validate(kubernetes, object, schema, correlation);
            errors.extend(scale::spec_errors(object, self.scale_paths()));
            errors
        };
        errors.extend(scale::status_errors(object, self.scale_paths()));
        // The status endpoint does not check what it does not write.
        if subresource != "status" {
            errors.extend(embedded_errors(object, schema, ""));
        }
        // An object whose lists were invalid before stays writable.
        let was_unique = old.is_none_or(|old| list_type_errors(old, schema, "").is_empty());
        if was_unique {
            errors.extend(list_type_errors(object, schema, ""));
        }
        // Metadata is looked at for the sake of the rules alone: its own errors are reported elsewhere.
        if self.rules.is_empty() {
            return Verdict::refused(errors);
        }
        // Rules in CEL are compiled against the types of the schema. A value of another type would fail with an error that
        // names no field.
        if errors.iter().any(blocks_rules) || of_metadata().iter().any(blocks_rules) {
            errors.push(FieldError::invalid(
                "<nil>",
                &Value::Null,
                "some validation rules were not checked because the object was invalid; correct the existing errors to \
                 complete validation",
            ));
            return Verdict::refused(errors);
        }
        let mut verdict = self.rules.verdict(kubernetes, object, old, correlation);
        errors.append(&mut verdict.errors);
        Verdict { errors, ..verdict }
    }

    /// Returns the errors of a status alone, which is all that its subresource writes.
    fn status_errors(
        &self,
        kubernetes: KubernetesVersion,
        object: &Value,
        correlation: Option<Correlation<'_>>,
    ) -> Vec<FieldError> {
        let schema = &self.version["schema"]["openAPIV3Schema"]["properties"]["status"];
        let Some(status) = object.get("status").filter(|_| schema.is_object()) else {
            return Vec::new();
        };
        let own = correlation.and_then(|correlation| correlation.key("status"));
        validate_at(kubernetes, status, schema, "status", own)
    }

    fn scale_paths(&self) -> &Value {
        &self.version["subresources"]["scale"]
    }

    /// Returns the paths to the parts of its scale.
    pub fn scale(&self) -> CustomScale<'_> {
        CustomScale(self.scale_paths())
    }

    /// Returns the paths to the parts of the scale of a version of its definition, which has its group; `None` if there is no
    /// such version, and without paths if it has no scale.
    pub fn scale_of(&self, api_version: &str) -> Option<CustomScale<'_>> {
        let version = self.version_of(api_version)?;
        Some(CustomScale(&version["subresources"]["scale"]))
    }

    /// Returns whether field selectors may name `label`.
    pub fn is_selectable(&self, label: &str) -> bool {
        self.selectable.iter().any(|path| path.to_string() == label)
    }

    /// Returns the selectable fields of `object`.
    pub fn selectable_fields(&self, object: &Value) -> BTreeMap<String, String> {
        let fields = self.selectable.iter().map(|path| {
            let value = match path.get(object) {
                None => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            (path.to_string(), value)
        });
        fields.collect()
    }
}

/// Returns whether an error means that values are not of the types by which rules read them.
fn blocks_rules(error: &FieldError) -> bool {
    matches!(
        error.reason,
        "FieldValueNotSupported"
            | "FieldValueRequired"
            | "FieldValueTooLong"
            | "FieldValueTooMany"
            | "FieldValueTypeInvalid"
    )
}

/// Two are the same if their versions say the same.
impl PartialEq for CustomType {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
            && self.deprecation_warning == other.deprecation_warning
            && self.is_terminating == other.is_terminating
    }
}

impl Eq for CustomType {}
