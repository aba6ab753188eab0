//! Printers of tables: the columns of a resource, and a row for each object.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    KindRef, ResourceType,
    table::{
        cell::{Cells, named},
        columns::{self, Columns},
    },
};

/// Shows the objects of one resource as rows.
#[derive(Debug, Clone)]
pub struct Printer {
    /// The definitions of the columns, as JSON.
    columns: Cow<'static, str>,
    /// The columns of a built-in kind; `None` for a custom one.
    recorded: Option<&'static Columns>,
    rules: KindRef,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// One for each column.
    pub cells: Cells,
    /// The conditions of the row: that the object has ended.
    pub conditions: Option<Value>,
}

// === impl Printer ===

impl Printer {
    /// Returns the printer of a version of a resource.
    pub fn of(resource: &ResourceType) -> Self {
        let rules = resource.rules.clone();
        if let Some(own) = rules.own_columns() {
            return Self {
                columns: own.into(),
                recorded: None,
                rules,
            };
        }
        let recorded = columns::of(
            resource.kubernetes,
            &resource.group,
            &resource.version,
            &resource.plural,
        );
        Self {
            columns: recorded.json.as_str().into(),
            recorded: Some(recorded),
            rules,
        }
    }

    /// Returns the definitions of the columns, as JSON.
    pub fn columns(&self) -> &str {
        &self.columns
    }

    /// Returns whether the columns are those of a built-in kind: no path of a user's leads anywhere in an object.
    pub fn is_built_in(&self) -> bool {
        self.recorded.is_some()
    }

    /// Returns the row of `object` at a time.
    pub fn row(&self, object: &Value, now: Timestamp) -> Row {
        let mut cells = self.rules.own_cells(object, now);
        if let Some(recorded) = self.recorded {
            // A kind with nothing but its name and age needs no function of its own.
            for (name, kind) in recorded.kinds.iter().skip(cells.len()) {
                let own = self.rules.own_cell(name, object);
                cells.push(own.unwrap_or_else(|| named(name, kind, object, now)));
            }
            cells.truncate(recorded.kinds.len());
        }
        let conditions = self.rules.row_conditions_of(object);
        Row { cells, conditions }
    }
}
