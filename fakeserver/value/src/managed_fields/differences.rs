//! The fields that a write changes, in each version through which managers own some.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Comparison, ConversionError, Entry, KindDescription, compare};

/// The difference of two states of an object, in the version of a write and in those of managers.
#[derive(Debug)]
pub struct Differences {
    pub own: Comparison,
    others: BTreeMap<String, Comparison>,
}

// === impl Differences ===

impl Differences {
    /// Compares two states in the version `own_version` of `described`, and in those of `entries`, which the kind has.
    ///
    /// # Errors
    ///
    /// A state cannot be converted to one of these versions.
    pub fn new(
        before: &Value,
        after: &Value,
        described: KindDescription<'_>,
        own_version: &str,
        entries: &[Entry],
    ) -> Result<Self, ConversionError> {
        let own = compare(before, after, described.schema);
        let mut others = BTreeMap::new();
        for entry in entries {
            let version = entry.api_version.as_str();
            if version == own_version || others.contains_key(version) {
                continue;
            }
            let convert = |object| described.in_version(object, own_version, version);
            let (before, schema) =
                convert(before).map_err(|error| error.during("failed to convert old object"))?;
            let (after, _) =
                convert(after).map_err(|error| error.during("failed to convert new object"))?;
            others.insert(version.to_owned(), compare(&before, &after, schema));
        }
        Ok(Self { own, others })
    }

    /// Returns the comparison in the version of the entry's fields.
    pub fn of(&self, entry: &Entry) -> &Comparison {
        self.others.get(&entry.api_version).unwrap_or(&self.own)
    }
}
