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
    /// Conversion of an object to another version.
    Conversion {
        by: Arc<Conversion>,
        /// True for a conversion to the version of the request, false for one to the stored version.
        is_for_request: bool,
        object: Value,
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
                is_for_request: true,
                object,
            } => {
                let objects = converter
                    .convert_for_request(by, vec![object.clone()])
                    .await?;
                (objects.into_iter().next(), Vec::new())
            }
            Self::Conversion { by, object, .. } => {
                let stored = converter.store(by, object.clone()).await?;
                (Some(stored), Vec::new())
            }
        };
        Ok(MutationResult { object, warnings })
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
                    is_for_request,
                    object,
                },
                Self::Conversion {
                    by: by_too,
                    is_for_request: is_for_request_too,
                    object: object_too,
                },
            ) => {
                Arc::ptr_eq(by, by_too)
                    && is_for_request == is_for_request_too
                    && object == object_too
            }
            _ => false,
        }
    }
}
