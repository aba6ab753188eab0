//! Kinds that are served in two forms, of which one is stored.

use std::fmt;

use serde_json::Value;

use super::schema::{canonical, type_of_kind, types};

/// One of the two forms of a kind.
pub struct ServedForm {
    pub group: &'static str,
    pub version: &'static str,
    /// Group and version, as objects write them.
    pub api_version: &'static str,
    pub kind: &'static str,
    pub is_stored: bool,
    /// The other form of the same kind.
    pub other: &'static Self,
    /// Converts the fields of an object from the other form.
    pub from_other: fn(Value) -> Value,
    /// Removes what would be read as a part of the other form.
    pub without_other: fn(Value) -> Value,
}

// === impl ServedForm ===

impl ServedForm {
    /// Converts an object of the [other](Self::other) form to this one, as a real server would print it.
    pub fn convert(&self, object: Value) -> Value {
        let mut object = (self.from_other)(object);
        object["kind"] = self.kind.into();
        object["apiVersion"] = self.api_version.into();
        let id = type_of_kind(self.group, self.version, self.kind);
        canonical(types(), id.expect("both forms are built in"), object)
    }

    /// Returns the form in which objects are stored.
    pub fn stored(&'static self) -> &'static Self {
        if self.is_stored { self } else { self.other }
    }

    /// Converts an object of this form to the stored one.
    pub fn to_stored(&self, object: Value) -> Value {
        if self.is_stored {
            (self.without_other)(object)
        } else {
            self.other.convert(object)
        }
    }
}

impl fmt::Debug for ServedForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedForm")
            .field("api_version", &self.api_version)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Compares versions and kinds.
impl PartialEq for ServedForm {
    fn eq(&self, other: &Self) -> bool {
        self.api_version == other.api_version && self.kind == other.kind
    }
}

impl Eq for ServedForm {}
