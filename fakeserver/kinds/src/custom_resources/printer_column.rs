//! The columns that a definition gives the table of its objects.

use fakeserver_value::status::FieldError;
use serde_json::{Value, json};

use super::ColumnPath;

/// The types that a column may have.
const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
/// The formats that it may have.
const FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

/// A column behind the one of names.
#[derive(Clone, Debug, PartialEq)]
pub struct PrinterColumn {
    pub name: String,
    /// `boolean`, `date`, `integer`, `number` or `string`.
    pub ty: String,
    pub format: String,
    pub description: String,
    /// Columns above 0 are shown in wide tables only.
    pub priority: i64,
    /// `None` if the path cannot be read: the cells of the column are then empty.
    path: Option<ColumnPath>,
}

// === impl PrinterColumn ===

impl PrinterColumn {
    /// The columns of an item of `spec.versions`; the age if it names none.
    pub(super) fn all_of(version: &Value) -> Vec<Self> {
        let columns = version["additionalPrinterColumns"].as_array();
        match columns.filter(|columns| !columns.is_empty()) {
            Some(columns) => columns.iter().map(Self::new).collect(),
            None => vec![Self::new(&json!({
                "name": "Age",
                "type": "date",
                "jsonPath": ".metadata.creationTimestamp",
            }))],
        }
    }

    fn new(column: &Value) -> Self {
        let text = |name: &str| column[name].as_str().unwrap_or_default().to_owned();
        let path = text("jsonPath");
        let description = match text("description") {
            none if none.is_empty() => {
                format!("Custom resource definition column (in JSONPath format): {path}")
            }
            description => description,
        };
        Self {
            name: text("name"),
            ty: text("type"),
            format: text("format"),
            description,
            priority: column["priority"].as_i64().unwrap_or_default(),
            path: ColumnPath::parse(&path),
        }
    }

    /// Returns the value that it shows of `object`.
    pub fn value<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        self.path.as_ref()?.first(object)
    }
}

/// Returns the errors of the columns at `path`.
pub(super) fn column_errors(columns: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let columns = columns.as_array();
    for (index, column) in columns.into_iter().flatten().enumerate() {
        let path = |field: &str| format!("{path}[{index}].{field}");
        let text = |field: &str| column[field].as_str().unwrap_or_default();
        if text("name").is_empty() {
            errors.push(FieldError::required(path("name"), ""));
        }
        let one_of = |supported: &[&str]| format!("must be one of {}", supported.join(","));
        let ty = text("type");
        if ty.is_empty() {
            errors.push(FieldError::required(path("type"), &one_of(&TYPES)));
        } else if !TYPES.contains(&ty) {
            let why = one_of(&TYPES);
            errors.push(FieldError::invalid(path("type"), &column["type"], &why));
        }
        let format = text("format");
        if !format.is_empty() && !FORMATS.contains(&format) {
            let why = one_of(&FORMATS);
            errors.push(FieldError::invalid(path("format"), &column["format"], &why));
        }
        let json_path = text("jsonPath");
        if json_path.is_empty() {
            errors.push(FieldError::required(path("JSONPath"), ""));
        } else if !json_path.starts_with('.') {
            let why = "must be a simple json path starting with .";
            errors.push(FieldError::invalid(
                path("JSONPath"),
                &column["jsonPath"],
                why,
            ));
        }
    }
    errors
}
