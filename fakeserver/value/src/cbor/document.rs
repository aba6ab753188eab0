//! A body that is well-formed CBOR, and is not yet of a type.

use serde_json::Value;

use super::{
    entries::fields,
    error::CborError,
    item::{Item, NULL},
    plain,
    reader::read,
    tags::untagged,
    typed::TypedReader,
};
use crate::schema::{TypeId, TypeMeta};

/// One data item, which borrows from the bytes of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<'a>(Item<'a>);

// === impl Document ===

impl<'a> Document<'a> {
    /// Reads one data item, which has to be all of `bytes`.
    ///
    /// # Errors
    /// The bytes are not well-formed, or contain items that the API accepts in no place.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, CborError> {
        read(bytes).map(Self)
    }

    /// Returns its value as JSON. Bytes with a tag that asks for it become base64, and times become texts.
    ///
    /// # Errors
    /// A map has a repeated key or a key that is no text, or a value has no JSON form.
    pub fn value(&self) -> Result<Value, CborError> {
        plain::value(&self.0, None)
    }

    /// Returns its value as JSON, if it is a map or null.
    ///
    /// # Errors
    /// As [`Self::value`] has; or it is something else.
    pub fn object(&self) -> Result<Value, CborError> {
        plain::map(&self.0).map(Value::Object)
    }

    /// Returns the kind and version that it names.
    ///
    /// # Errors
    /// The item is no map, `kind` or `apiVersion` is no text, or a key is repeated.
    pub fn type_meta(&self) -> Result<TypeMeta, CborError> {
        const GO: &str = "v1.TypeMeta";
        const NO_ARRAY: &str = "cannot decode CBOR array to struct without toarray option";
        let (pairs, later) = match untagged(&self.0, None)? {
            (Item::Map(pairs), later) => (pairs, later),
            (Item::Simple(NULL), _) => return Ok(TypeMeta::default()),
            (item @ Item::Array(_), _) => {
                return Err(CborError::mismatch_because(item, GO, NO_ARRAY.to_owned()));
            }
            (other, _) => return Err(CborError::mismatch(other, GO)),
        };
        let type_meta = fields(pairs, GO, false, |name, item| {
            let is_said = matches!(name, "kind" | "apiVersion");
            is_said.then(|| plain::string(item, later, "string").map(Value::String))
        })?;
        let text = |name: &str| {
            let text = type_meta.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        Ok(TypeMeta {
            kind: text("kind"),
            api_version: text("apiVersion"),
        })
    }

    /// Reads it into a type, without regard to unknown fields, and returns the JSON that means the same.
    ///
    /// # Errors
    /// A value does not fit its field, or a map has a key twice.
    pub fn decode(&self, id: TypeId) -> Result<Value, CborError> {
        self.read(id, false)
    }

    /// Returns the error of the first field that a type does not have.
    pub fn unknown_field(&self, id: TypeId) -> Option<CborError> {
        let error = self.read(id, true).err()?;
        matches!(error, CborError::UnknownField { .. }).then_some(error)
    }

    /// Returns it in diagnostic notation.
    pub fn diagnose(&self) -> String {
        self.0.to_string()
    }

    fn read(&self, id: TypeId, is_strict: bool) -> Result<Value, CborError> {
        let table = id.table();
        let name = &table.get(id).name;
        let start = name.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
        let mut typed = TypedReader {
            table,
            is_strict,
            deferred: None,
        };
        let value = typed.message(id, &self.0, None, &name[start..])?;
        typed.deferred.map_or(Ok(value), Err)
    }
}
