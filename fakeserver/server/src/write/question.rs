//! Questions to webhooks that a write depends on.

use std::sync::Arc;

use fakeserver_kinds::custom_resources::Conversion;
use fakeserver_value::status::Status;
use serde_json::Value;

use super::{
    admission::{Attributes, Dispatcher, Hooks, MutationResult, Phase},
    conversion::Converter,
};

/// A call of webhooks whose result an attempt needs.
#[derive(Debug)]
pub enum Question {
    /// Admission of a write.
    Admission {
        phase: Phase,
        hooks: Arc<Hooks>,
        attributes: Box<Attributes>,
    },
    /// Conversion of an object, which has its version, to another one.
    Conversion {
        by: Arc<Conversion>,
        to: String,
        object: Value,
        /// True if the write can go on without the object.
        may_fail: bool,
    },
}

// === impl Question ===

impl Question {
    /// Asks the webhooks.
    ///
    /// # Cancel safety
    ///
    /// If dropped, some webhooks may have been asked about a write that does not take place.
    pub(super) async fn ask(&self, dispatcher: Dispatcher<'_>) -> Result<MutationResult, Status> {
        let converter = Converter::new(dispatcher.webhooks, dispatcher.entropy);
        let (object, warnings) = match self {
            Self::Admission {
                phase,
                hooks,
                attributes,
            } => match phase {
                Phase::Mutating => return dispatcher.mutate(hooks, attributes).await,
                Phase::Validating => (None, dispatcher.validate(hooks, attributes).await?),
            },
            Self::Conversion {
                by,
                to,
                object,
                may_fail,
            } => match converter.convert(by, vec![object.clone()], to).await {
                Ok(objects) => (objects.into_iter().next(), Vec::new()),
                Err(failure) if *may_fail => {
                    return Ok(MutationResult {
                        failure: Some(failure),
                        ..MutationResult::default()
                    });
                }
                Err(failure) => return Err(failure),
            },
        };
        Ok(MutationResult {
            object,
            warnings,
            failure: None,
        })
    }

    /// Returns whether the answer to one question is an answer to the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Admission {
                    phase,
                    hooks,
                    attributes,
                },
                Self::Admission {
                    phase: phase_too,
                    hooks: hooks_too,
                    attributes: attributes_too,
                },
            ) => {
                phase == phase_too && Arc::ptr_eq(hooks, hooks_too) && attributes == attributes_too
            }
            (
                Self::Conversion {
                    by,
                    to,
                    object,
                    may_fail,
                },
                Self::Conversion {
                    by: by_too,
                    to: to_too,
                    object: object_too,
                    may_fail: may_fail_too,
                },
            ) => {
                Arc::ptr_eq(by, by_too)
                    && to == to_too
                    && object == object_too
                    && may_fail == may_fail_too
            }
            _ => false,
        }
    }
}
