//! The findings of a validation, in the order in which they are found.

use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use crate::{difference::printed, field::Field, status::FieldError};

/// The findings so far.
#[derive(Debug, Default)]
pub struct Findings {
    /// The version of Kubernetes by whose rules they are found.
    kubernetes: KubernetesVersion,
    errors: Vec<FieldError>,
}

// === impl Findings ===

impl Findings {
    /// Returns nothing yet, of a validation by the rules of a version of Kubernetes.
    pub fn by_rules_of(kubernetes: KubernetesVersion) -> Self {
        Self {
            kubernetes,
            errors: Vec::new(),
        }
    }

    /// Returns the version of Kubernetes whose rules count.
    pub fn kubernetes(&self) -> KubernetesVersion {
        self.kubernetes
    }

    /// Returns true if the version has a feature on by default, or a change that came without a gate.
    pub fn is_on(&self, name: &str) -> bool {
        self.kubernetes.gates().is_on(name)
    }

    /// Adds what another validation has found.
    pub fn extend(&mut self, errors: Vec<FieldError>) {
        self.errors.extend(errors);
    }

    pub fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }

    /// Returns the number of findings.
    pub fn count(&self) -> usize {
        self.errors.len()
    }

    pub fn required(&mut self, field: &Field<'_>, detail: &str) {
        self.errors.push(FieldError::required(field.path(), detail));
    }

    pub fn invalid(&mut self, field: &Field<'_>, detail: &str) {
        self.invalid_as(field, shown(field), detail);
    }

    /// Shows another value than the field has.
    pub fn invalid_as(&mut self, field: &Field<'_>, value: &Value, detail: &str) {
        self.errors
            .push(FieldError::invalid(field.path(), value, detail));
    }

    /// Shows the value as its internal type is printed.
    pub fn invalid_struct(&mut self, field: &Field<'_>, definition: &str, detail: &str) {
        self.errors.push(FieldError::invalid_printed(
            field.path(),
            &printed(self.kubernetes, definition, field.original()),
            detail,
        ));
    }

    /// Adds a finding that shows a value printed by the caller.
    pub fn invalid_printed(&mut self, field: &Field<'_>, value: &str, detail: &str) {
        self.errors
            .push(FieldError::invalid_printed(field.path(), value, detail));
    }

    pub fn not_supported(&mut self, field: &Field<'_>, supported: &[&str]) {
        let value = if field.is_set() {
            shown(field).clone()
        } else {
            json!("")
        };
        self.errors
            .push(FieldError::not_supported(field.path(), &value, supported));
    }

    /// Shows the value as its internal type is printed.
    pub fn not_supported_struct(
        &mut self,
        field: &Field<'_>,
        definition: &str,
        supported: &[&str],
    ) {
        self.errors.push(FieldError::not_supported_printed(
            field.path(),
            &printed(self.kubernetes, definition, field.original()),
            supported,
        ));
    }

    /// Shows another value than the field has.
    pub fn not_supported_as(&mut self, field: &Field<'_>, value: &Value, supported: &[&str]) {
        self.errors
            .push(FieldError::not_supported(field.path(), value, supported));
    }

    pub fn forbidden(&mut self, field: &Field<'_>, detail: &str) {
        self.errors
            .push(FieldError::forbidden(field.path(), detail));
    }

    pub fn duplicate(&mut self, field: &Field<'_>) {
        self.duplicate_as(field, shown(field));
    }

    /// Shows another value than the field has.
    pub fn duplicate_as(&mut self, field: &Field<'_>, value: &Value) {
        self.errors.push(FieldError::duplicate(field.path(), value));
    }

    /// Adds a finding that shows a value printed by the caller.
    pub fn duplicate_printed(&mut self, field: &Field<'_>, value: &str) {
        self.errors
            .push(FieldError::duplicate_printed(field.path(), value));
    }

    /// Shows the value as its internal type is printed.
    pub fn duplicate_struct(&mut self, field: &Field<'_>, definition: &str) {
        self.duplicate_printed(
            field,
            &printed(self.kubernetes, definition, field.original()),
        );
    }

    /// Adds a duplicate that shows the value as its internal type is printed, and the fields that have to be unique.
    pub fn duplicate_with(&mut self, field: &Field<'_>, definition: &str, detail: &str) {
        let duplicate = format!(
            "{}: {detail}",
            printed(self.kubernetes, definition, field.original())
        );
        self.duplicate_printed(field, &duplicate);
    }

    /// Adds that the object that a field names does not exist.
    pub fn not_found(&mut self, field: &Field<'_>) {
        self.errors
            .push(FieldError::not_found(field.path(), &json!(field.text())));
    }

    /// Adds that the thing which a field names does not exist, with a detail about the things that do.
    pub fn not_found_with(&mut self, field: &Field<'_>, name: &str, detail: &str) {
        let mut error = FieldError::not_found(field.path(), &json!(name));
        error.detail.push_str(": ");
        error.detail.push_str(detail);
        self.errors.push(error);
    }

    /// Adds that a field could not be checked.
    pub fn internal(&mut self, field: &Field<'_>, problem: &str) {
        self.errors
            .push(FieldError::internal(field.path(), problem));
    }

    pub fn too_long(&mut self, field: &Field<'_>, bytes_max: usize) {
        self.errors
            .push(FieldError::too_long(field.path(), bytes_max));
    }

    pub fn too_many(&mut self, field: &Field<'_>, items_max: usize) {
        self.errors.push(FieldError::too_many(
            field.path(),
            field.len() as u64,
            items_max as u64,
        ));
    }

    /// Shows an absent text as an empty one.
    pub fn invalid_text(&mut self, field: &Field<'_>, detail: &str) {
        self.invalid_as(field, &json!(field.text()), detail);
    }

    /// Shows an absent number as zero.
    pub fn invalid_number(&mut self, field: &Field<'_>, detail: &str) {
        self.invalid_as(field, &json!(field.number()), detail);
    }

    /// Adds the problems of the field's text.
    pub fn problems(&mut self, field: &Field<'_>, problems: Vec<String>) {
        for problem in problems {
            self.invalid_text(field, &problem);
        }
    }

    pub fn non_negative(&mut self, field: &Field<'_>) {
        if field.number() < 0 {
            self.invalid(field, "must be greater than or equal to 0");
        }
    }

    /// A text must be there, and one of those.
    pub fn one_of(&mut self, field: &Field<'_>, supported: &[&str]) {
        if !field.has_text() {
            self.required(field, "");
        } else if !supported.contains(&field.text()) {
            self.not_supported(field, supported);
        }
    }

    /// A text, if it is there, must be one of those.
    pub fn optional_one_of(&mut self, field: &Field<'_>, supported: &[&str]) {
        if field.is_set() && !supported.contains(&field.text()) {
            self.not_supported(field, supported);
        }
    }

    /// Checks that a text is unchanged.
    pub fn immutable_text(&mut self, new: &Field<'_>, old: &Field<'_>) {
        if new.text() != old.text() {
            self.invalid_text(new, "field is immutable");
        }
    }

    /// Checks that a field is unchanged.
    pub fn immutable(&mut self, new: &Field<'_>, old: &Field<'_>) {
        if new.value() != old.value() {
            self.invalid(new, "field is immutable");
        }
    }
}

/// Returns the value of a field as findings show it: without items, if the client sent it so. What is empty within it has no
/// place in JSON.
fn shown<'a>(field: &Field<'a>) -> &'a Value {
    match field.original() {
        Value::Array(items) if items.is_empty() => field.original(),
        Value::Object(entries) if entries.is_empty() => field.original(),
        _ => field.value(),
    }
}
