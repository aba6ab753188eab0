//! Reads JSON as an object of a kind, in the form in which the server holds objects.

use fakeserver_kinds::custom_resources::CustomType;
use fakeserver_value::{
    parse::{parse_object, parse_patched},
    resource::GroupVersionKind,
    schema::{self, DecodedObject, Document, StrictError, TypeId},
};
use serde_json::{Value, json};

use super::{FieldValidation, Target};

/// A decoded object, with the warnings about its text.
#[derive(Debug)]
pub struct ReceivedObject {
    pub object: Value,
    pub warnings: Vec<String>,
}

// === impl ReceivedObject ===

impl ReceivedObject {
    /// Makes `decoded` an object of the kind `wanted`.
    ///
    /// # Errors
    ///
    /// The text has unknown or duplicate fields, and validation is strict.
    fn of(
        wanted: &GroupVersionKind,
        decoded: DecodedObject,
        validation: FieldValidation,
    ) -> Result<Self, String> {
        let mut object = decoded.value;
        object["kind"] = json!(&*wanted.kind);
        object["apiVersion"] = json!(wanted.api_version());
        let strict = match validation {
            FieldValidation::Ignore => Vec::new(),
            _ => decoded.strict,
        };
        let warnings: Vec<String> = strict.iter().map(StrictError::to_string).collect();
        if validation == FieldValidation::Strict && !warnings.is_empty() {
            return Err(format!("strict decoding error: {}", warnings.join(", ")));
        }
        Ok(Self { object, warnings })
    }
}

// === impl Target ===

impl Target {
    /// Decodes `bytes`, which may name another kind.
    pub fn read_as(
        &self,
        wanted: &GroupVersionKind,
        bytes: &[u8],
        validation: FieldValidation,
    ) -> Result<ReceivedObject, String> {
        let parsed = parse_object(self.resource.kubernetes, bytes, bytes, wanted)
            .map_err(|status| status.message)?;
        self.read_parsed(wanted, parsed, bytes, validation)
    }

    /// Reads an object that a patch of its text made; `text` is how a real server prints it.
    pub fn read_patched(
        &self,
        wanted: &GroupVersionKind,
        patched: Value,
        text: &str,
        validation: FieldValidation,
    ) -> Result<ReceivedObject, String> {
        let parsed = parse_patched(self.resource.kubernetes, patched, wanted)?;
        self.read_parsed(wanted, parsed, text.as_bytes(), validation)
    }

    /// Reads what a configuration was applied to, as [`read_value`](Self::read_value) does.
    pub fn read_applied(
        &self,
        wanted: &GroupVersionKind,
        object: Value,
    ) -> Result<ReceivedObject, String> {
        match self.custom_of(wanted) {
            Some(custom) => {
                let decoded = custom.read_applied(object)?;
                ReceivedObject::of(wanted, decoded, FieldValidation::Ignore)
            }
            None => self.read_value(wanted, object, FieldValidation::Ignore),
        }
    }

    /// Reads an object that was made as a value, rather than as a text: a value that does not fit has other errors, and
    /// its kind counts for nothing.
    pub fn read_value(
        &self,
        wanted: &GroupVersionKind,
        mut object: Value,
        validation: FieldValidation,
    ) -> Result<ReceivedObject, String> {
        let id = self.type_of(wanted);
        let Some(id) = id.filter(|_| self.custom_of(wanted).is_none()) else {
            return self.read_as(wanted, object.to_string().as_bytes(), validation);
        };
        schema::restore(id.table(), id, &mut object)?;
        let decoded = schema::decode(id, object.to_string().as_bytes());
        let decoded = decoded.map_err(|error| error.to_string())?;
        ReceivedObject::of(wanted, decoded, validation)
    }

    /// Decodes `bytes` in one pass, if they are of a built-in kind and do not name another one.
    pub fn read_expected(
        &self,
        wanted: &GroupVersionKind,
        bytes: &[u8],
        validation: FieldValidation,
    ) -> Option<Result<ReceivedObject, String>> {
        let (id, document) = self.expected(wanted, bytes)?;
        let decoded = document.decode(id).map_err(|error| error.to_string());
        Some(decoded.and_then(|decoded| ReceivedObject::of(wanted, decoded, validation)))
    }

    /// Reads `parsed`, the value of `bytes`.
    pub fn read_parsed(
        &self,
        wanted: &GroupVersionKind,
        parsed: Value,
        bytes: &[u8],
        validation: FieldValidation,
    ) -> Result<ReceivedObject, String> {
        let decoded = if let Some(custom) = self.custom_of(wanted) {
            custom.read(parsed, bytes)?
        } else {
            let id = self.type_of(wanted);
            let Some(id) = id else {
                return Ok(ReceivedObject {
                    object: parsed,
                    warnings: Vec::new(),
                });
            };
            schema::decode(id, bytes).map_err(|error| error.to_string())?
        };
        ReceivedObject::of(wanted, decoded, validation)
    }

    fn expected<'b>(
        &self,
        wanted: &GroupVersionKind,
        bytes: &'b [u8],
    ) -> Option<(TypeId, Document<'b>)> {
        let id = self.type_of(wanted)?;
        let document = Document::parse(bytes).ok()?;
        let is = |field: &str, wanted: &str| {
            let text = document.text(field);
            text.is_some_and(|text| text.is_empty() || text == wanted)
        };
        let is_expected = self.custom_of(wanted).is_none()
            && is("kind", &wanted.kind)
            && is("apiVersion", &wanted.api_version());
        is_expected.then_some((id, document))
    }

    /// Returns the built-in type of a kind.
    fn type_of(&self, wanted: &GroupVersionKind) -> Option<TypeId> {
        let kubernetes = self.resource.kubernetes;
        schema::type_in(kubernetes, &wanted.group, &wanted.version, &wanted.kind)
    }

    /// Returns whether `wanted` is the kind of a custom resource, and not that of a subresource.
    pub fn is_custom(&self, wanted: &GroupVersionKind) -> bool {
        self.custom_of(wanted).is_some()
    }

    /// Returns the custom resource whose objects are of the kind `wanted`.
    fn custom_of(&self, wanted: &GroupVersionKind) -> Option<&CustomType> {
        let custom = self.rules().as_custom().map(|custom| &**custom);
        custom.filter(|_| wanted.kind == self.resource.kind)
    }
}
