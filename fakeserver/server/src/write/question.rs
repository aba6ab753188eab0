//! Questions to webhooks that a write depends on.

use std::sync::Arc;

use fakeserver_kinds::custom_resources::Conversion;
use fakeserver_value::status::Status;
use serde_json::Value;

use super::{
    admission::{Attributes, Dispatcher, Hooks, Mutated, Phase},
    conversion::Converter,
};

/// A question whose answer an attempt needs.
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
        /// True if the version is that of the request, and not the stored one.
        is_shown: bool,
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
    pub(super) async fn put_to(&self, dispatcher: Dispatcher<'_>) -> Result<Mutated, Status> {
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
                is_shown: true,
                object,
            } => {
                let shown = converter.show(by, vec![object.clone()]).await?;
                (shown.into_iter().next(), Vec::new())
            }
            Self::Conversion { by, object, .. } => {
                let stored = converter.store(by, object.clone()).await?;
                (Some(stored), Vec::new())
            }
        };
        Ok(Mutated { object, warnings })
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
                    is_shown,
                    object,
                },
                Self::Conversion {
                    by: by_too,
                    is_shown: is_shown_too,
                    object: object_too,
                },
            ) => Arc::ptr_eq(by, by_too) && is_shown == is_shown_too && object == object_too,
            _ => false,
        }
    }
}
