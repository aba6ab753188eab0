//! Objects as rows of a table, the view that `kubectl get` requests.

use bytes::BufMut;
use fakeserver_kinds::printer::Printer;
use fakeserver_value::{managed_fields::without_managed_fields, served_form::ServedForm};
use serde_json::{Value, json};

use super::accept::MetaVersion;
use crate::{clock::Clock, store::StoredObject};

/// The part of the object that a row includes beside its cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum IncludeObject {
    /// Nothing.
    None,
    /// The object's metadata.
    #[default]
    Metadata,
    /// The whole object.
    Object,
}

/// The view of one resource's objects as a table.
#[derive(Debug, Clone)]
pub(crate) struct TableView {
    printer: Printer,
    include: IncludeObject,
    /// The clock for cells with ages.
    clock: Clock,
    /// The form of the objects in rows, if it differs from the stored one.
    form: Option<&'static ServedForm>,
    version: MetaVersion,
    has_columns: bool,
}

// === impl IncludeObject ===

impl IncludeObject {
    /// The parameter `includeObject`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "None" => Self::None,
            "" | "Metadata" => Self::Metadata,
            "Object" => Self::Object,
            _ => return None,
        })
    }
}

// === impl TableView ===

impl TableView {
    pub(crate) fn new(printer: Printer, include: IncludeObject, clock: Clock) -> Self {
        Self {
            printer,
            include,
            clock,
            form: None,
            version: MetaVersion::default(),
            has_columns: true,
        }
    }

    /// Converts the objects in rows to `form`.
    pub(super) fn with_form(mut self, form: &'static ServedForm) -> Self {
        self.form = Some(form);
        self
    }

    /// Makes tables of this version.
    pub(super) fn in_version(mut self, version: MetaVersion) -> Self {
        self.version = version;
        self
    }

    /// Leaves the columns out from now on: in a stream, only the first table has them.
    pub(super) fn omit_columns(&mut self) {
        self.has_columns = false;
    }

    /// A table up to its rows.
    pub(super) fn head(&self, metadata: &str) -> String {
        let columns = if self.has_columns {
            self.printer.columns()
        } else {
            "null"
        };
        let version = self.version.api_version();
        format!(
            r#"{{"kind":"Table","apiVersion":"{version}","metadata":{metadata},"columnDefinitions":{columns},"rows":["#
        )
    }

    /// Returns whether rows are made by [`put_stored_row`](Self::put_stored_row): of a built-in kind, without the whole object.
    pub(super) fn has_stored_rows(&self) -> bool {
        self.include != IncludeObject::Object && self.printer.is_built_in()
    }

    /// Writes the row of a stored object. Cells need no field managers, so these are not parsed, and the metadata is
    /// copied.
    pub(super) fn put_stored_row(
        &self,
        bytes: &mut impl BufMut,
        object: &StoredObject,
        (kind, api_version): (&str, &str),
    ) {
        let mut value = without_managed_fields(&object.json());
        value["kind"] = kind.into();
        value["apiVersion"] = api_version.into();
        self.put_cells(bytes, &value);
        if self.include == IncludeObject::None {
            bytes.put_slice(b"null}");
            return;
        }
        let version = self.version.api_version();
        let head =
            format!(r#"{{"kind":"PartialObjectMetadata","apiVersion":"{version}","metadata":"#);
        bytes.put_slice(head.as_bytes());
        bytes.put_slice(&object.metadata_json());
        bytes.put_slice(b"}}");
    }

    /// A row up to its object.
    fn put_cells(&self, bytes: &mut impl BufMut, object: &Value) {
        let row = self.printer.row(object, self.clock.now());
        bytes.put_slice(b"{\"cells\":");
        put(bytes, &Value::from(row.cells));
        if let Some(conditions) = row.conditions {
            bytes.put_slice(b",\"conditions\":");
            put(bytes, &conditions);
        }
        bytes.put_slice(b",\"object\":");
    }

    /// Writes the row of `object`, which has kind and apiVersion.
    pub(super) fn put_row(&self, bytes: &mut impl BufMut, object: &Value) {
        self.put_cells(bytes, object);
        let converted = self.form.map(|form| form.convert(object.clone()));
        let object = converted.as_ref().unwrap_or(object);
        match self.include {
            IncludeObject::None => bytes.put_slice(b"null"),
            IncludeObject::Object => put(bytes, object),
            IncludeObject::Metadata => {
                let metadata = json!({
                    "kind": "PartialObjectMetadata",
                    "apiVersion": self.version.api_version(),
                    "metadata": object["metadata"],
                });
                put(bytes, &metadata);
            }
        }
        bytes.put_u8(b'}');
    }

    /// The table of one object.
    pub(super) fn put_table(&self, bytes: &mut impl BufMut, object: &Value) {
        let metadata = match object["metadata"]["resourceVersion"].as_str() {
            Some(version) => json!({"resourceVersion": version}),
            None => json!({}),
        };
        bytes.put_slice(self.head(&metadata.to_string()).as_bytes());
        self.put_row(bytes, object);
        bytes.put_slice(b"]}");
    }
}

fn put(bytes: &mut impl BufMut, value: &Value) {
    bytes.put_slice(value.to_string().as_bytes());
}
