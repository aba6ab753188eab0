//! The versions through which managers have written a custom object.

use std::{cell::RefCell, fmt};

use fakeserver_kinds::custom_resources::CustomType;
use fakeserver_value::{
    managed_fields::{ConversionError, KindDescription, Versions},
    schema::Schema,
};
use serde_json::{Value, json};

use super::{Attempt, AttemptError, Target};

/// The versions of a definition, between which its webhook converts if it has one.
struct DefinedVersions<'x, 'a, 't> {
    custom: &'x CustomType,
    attempt: RefCell<&'x mut Attempt<'a, 't>>,
    /// The conversions of this write, so that none is asked for twice.
    done: RefCell<Vec<Conversion>>,
    /// The reason why the attempt has to end, if it has.
    interruption: RefCell<Option<AttemptError>>,
}

/// A conversion of an object that is done.
struct Conversion {
    object: Value,
    to: String,
    converted: Result<Value, ConversionError>,
}

// === impl Attempt ===

impl Attempt<'_, '_> {
    /// Records managers by `work`, which is given the description of the kind, and the time: of a custom kind with all
    /// versions, since managers own fields of the version through which they wrote.
    ///
    /// # Errors
    ///
    /// A webhook has to convert the object first.
    pub fn with_versions<T>(
        &mut self,
        target: &Target,
        work: impl FnOnce(KindDescription<'_>, &str) -> T,
    ) -> Result<T, AttemptError> {
        let now = self.now_text().to_owned();
        let custom = target.rules().as_custom();
        // A writer behind the API cannot wait for a webhook: it takes all versions for the same.
        let Some(custom) = custom.filter(|custom| self.is_reviewed || custom.webhook().is_none())
        else {
            return Ok(work(target.described(), &now));
        };
        let versions = DefinedVersions {
            custom,
            attempt: RefCell::new(self),
            done: RefCell::default(),
            interruption: RefCell::default(),
        };
        let result = work(target.described().with_versions(&versions), &now);
        match versions.interruption.into_inner() {
            Some(interruption) => Err(interruption),
            None => Ok(result),
        }
    }
}

// === impl DefinedVersions ===

impl DefinedVersions<'_, '_, '_> {
    /// Converts between two versions of which one is that of the request.
    fn convert_once(&self, mut object: Value, to: &str) -> Result<Value, ConversionError> {
        if object["apiVersion"] == to {
            return Ok(object);
        }
        if self.custom.schema_of(to).is_none() {
            return Err(ConversionError::Failed(format!(
                "request to convert CR to an invalid group/version: {to}"
            )));
        }
        let Some(webhook) = self.custom.webhook() else {
            object["apiVersion"] = json!(to);
            return Ok(object);
        };
        let is_same = |done: &&Conversion| done.to == to && done.object == object;
        if let Some(done) = self.done.borrow().iter().find(is_same) {
            return done.converted.clone();
        }
        let mut attempt = self.attempt.borrow_mut();
        let converted = match attempt.converted_or_failed(webhook, object.clone(), to) {
            Ok(answer) => answer.map_err(|status| ConversionError::Failed(status.message)),
            Err(interruption) => {
                self.interruption.replace(Some(interruption));
                return Err(ConversionError::Pending);
            }
        };
        self.done.borrow_mut().push(Conversion {
            object,
            to: to.to_owned(),
            converted: converted.clone(),
        });
        converted
    }
}

impl Versions for DefinedVersions<'_, '_, '_> {
    fn convert(&self, object: &Value, from: &str, to: &str) -> Result<Value, ConversionError> {
        let mut object = object.clone();
        object["apiVersion"] = json!(from);
        // By way of the version of the request, as upstream, which has it in memory.
        let object = self.convert_once(object, self.custom.api_version())?;
        self.convert_once(object, to)
    }

    fn schema(&self, version: &str) -> Option<Schema<'_>> {
        self.custom.schema_of(version)
    }
}

impl fmt::Debug for DefinedVersions<'_, '_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefinedVersions")
            .field("of", &self.custom.api_version())
            .finish_non_exhaustive()
    }
}
