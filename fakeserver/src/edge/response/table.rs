//! Objects as rows of a table, the view that `kubectl get` requests.

use bytes::{BufMut, BytesMut};
use serde_json::{Value, json};

use super::accept::MetaVersion;
use crate::{clock::Clock, kinds::table::Printer, value::served_form::ServedForm};

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
    /// Tells how old things are.
    clock: Clock,
    /// The form in which rows bring their objects, if it is not the one in which these are stored.
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

    /// Brings objects in a form in which they are not stored.
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

    /// The row of `object`, which says what it is.
    pub(super) fn put_row(&self, bytes: &mut BytesMut, object: &Value) {
        let row = self.printer.row(object, self.clock.now());
        bytes.put_slice(b"{\"cells\":");
        put(bytes, &Value::from(row.cells));
        if let Some(conditions) = row.conditions {
            bytes.put_slice(b",\"conditions\":");
            put(bytes, &conditions);
        }
        bytes.put_slice(b",\"object\":");
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
    pub(super) fn put_table(&self, bytes: &mut BytesMut, object: &Value) {
        let metadata = match object["metadata"]["resourceVersion"].as_str() {
            Some(version) => json!({"resourceVersion": version}),
            None => json!({}),
        };
        bytes.put_slice(self.head(&metadata.to_string()).as_bytes());
        self.put_row(bytes, object);
        bytes.put_slice(b"]}");
    }
}

fn put(bytes: &mut BytesMut, value: &Value) {
    bytes.put_slice(value.to_string().as_bytes());
}
