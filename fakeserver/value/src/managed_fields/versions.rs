//! The versions of a kind through which managers have written its objects.

use std::{borrow::Cow, fmt};

use serde_json::Value;

use super::{KindDescription, check_typed, described};
use crate::{schema::Schema, served_form::ServedForm};

/// The versions of a kind, between which its objects can be converted.
pub trait Versions: fmt::Debug {
    /// Converts `object` from one version, as in `apps/v1`, to another one.
    ///
    /// # Errors
    ///
    /// The kind does not have the version, or the conversion fails.
    fn convert(&self, object: &Value, from: &str, to: &str) -> Result<Value, ConversionError>;

    /// Returns the schema of a version; `None` if it has none.
    fn schema(&self, version: &str) -> Option<Schema<'_>>;
}

/// The reason why an object is not converted to the version of a manager.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    /// The kind does not have the version any more: what was owned through it has no owner.
    #[error("the version does not exist")]
    Missing,
    /// The conversion fails, or its result does not have the types of the version.
    #[error("{0}")]
    Failed(String),
    /// The answer of a webhook is missing: the write has to be tried again with it.
    #[error("a webhook has to convert the object")]
    Pending,
}

/// The versions of a kind that has no other one.
#[derive(Debug)]
pub(super) struct OneVersion;

/// An object in the version of a manager, with the schema of that version.
pub(crate) type Versioned<'v, 'a> = (Cow<'v, Value>, Option<Schema<'a>>);

// === impl Versions ===

impl Versions for OneVersion {
    fn convert(&self, _: &Value, _: &str, _: &str) -> Result<Value, ConversionError> {
        Err(ConversionError::Missing)
    }

    fn schema(&self, _: &str) -> Option<Schema<'_>> {
        None
    }
}

impl Versions for ServedForm {
    fn convert(&self, object: &Value, _: &str, to: &str) -> Result<Value, ConversionError> {
        let mut forms = [self, self.other].into_iter();
        let form = forms.find(|form| form.api_version == to);
        let form = form.ok_or(ConversionError::Missing)?;
        Ok(form.convert(object.clone()))
    }

    fn schema(&self, version: &str) -> Option<Schema<'_>> {
        let mut forms = [self, self.other].into_iter();
        let form = forms.find(|form| form.api_version == version)?;
        described(form.api_version, form.kind).schema
    }
}

// === impl ConversionError ===

impl ConversionError {
    /// Says in which step the conversion has failed.
    pub(crate) fn during(self, step: &str) -> Self {
        match self {
            Self::Failed(why) => Self::Failed(format!("{step}: {why}")),
            other => other,
        }
    }
}

// === impl KindDescription ===

impl<'a> KindDescription<'a> {
    /// Converts `object` from one version to another one. Of a kind whose versions are not described, all are the same.
    pub(crate) fn in_version<'v>(
        &self,
        object: &'v Value,
        from: &str,
        to: &str,
    ) -> Result<Versioned<'v, 'a>, ConversionError> {
        let Some(versions) = self.versions else {
            return Ok((Cow::Borrowed(object), self.schema));
        };
        if from == to {
            return Ok((Cow::Borrowed(object), versions.schema(to).or(self.schema)));
        }
        let converted = versions.convert(object, from, to)?;
        let schema = versions.schema(to);
        check_typed(&converted, schema).map_err(ConversionError::Failed)?;
        Ok((Cow::Owned(converted), schema))
    }
}
