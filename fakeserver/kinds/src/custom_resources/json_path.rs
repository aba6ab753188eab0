//! Simple paths into an object, as definitions write them: `.spec.replicas`.

use std::fmt;

use serde_json::Value;

/// The names of the fields on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Vec<String>);

// === impl JsonPath ===

impl JsonPath {
    /// Reads a path of field names: what definitions may give for scales and for selectable fields. Nothing if it is
    /// not of this form.
    pub fn parse(text: &str) -> Option<Self> {
        let names = text.strip_prefix('.')?.split('.').map(str::to_owned);
        let names: Vec<String> = names.collect();
        let is_name =
            |name: &String| !name.is_empty() && !name.contains(['[', ']', '*', '?', '@', '\'']);
        names.iter().all(is_name).then_some(Self(names))
    }

    /// Returns the value that it leads to.
    pub fn get<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        let value = self
            .0
            .iter()
            .try_fold(object, |value, name| value.get(name))?;
        (!value.is_null()).then_some(value)
    }
}

/// Prints the path as field selectors write it: `spec.replicas`.
impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}
