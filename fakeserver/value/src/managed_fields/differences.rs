//! The fields that a write changes, in each form of a kind that has two.

use serde_json::Value;

use super::{Comparison, Entry, KindDescription, compare, described};
use crate::served_form::ServedForm;

/// The difference of two states of an object, in the form in which it is written and in the other one.
#[derive(Debug)]
pub struct Differences {
    pub own: Comparison,
    other: Option<(&'static ServedForm, Comparison)>,
}

// === impl Differences ===

impl Differences {
    /// Compares two states in the form of `described`. The other form is compared only if one of `entries` has fields
    /// of that form.
    pub fn new(
        before: &Value,
        after: &Value,
        described_own: KindDescription<'_>,
        entries: &[Entry],
    ) -> Self {
        let own = compare(before, after, described_own.schema);
        let is_owned = |form: &&ServedForm| {
            let mut entries = entries.iter();
            entries.any(|entry| entry.api_version == form.api_version)
        };
        let other = described_own.other.filter(is_owned).map(|form| {
            let schema = described(form.api_version, form.kind).schema;
            let converted = |object: &Value| form.convert(object.clone());
            (form, compare(&converted(before), &converted(after), schema))
        });
        Self { own, other }
    }

    /// Returns the comparison in the form of the entry's fields.
    pub fn of(&self, entry: &Entry) -> &Comparison {
        match &self.other {
            Some((form, found)) if entry.api_version == form.api_version => found,
            _ => &self.own,
        }
    }
}
