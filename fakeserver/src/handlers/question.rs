//! What a write has to know of webhooks before it can be done.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    admission::{Attributes, Dispatcher, Hooks, Mutated, Phase},
    custom_resources::Conversion,
    status::Status,
};

/// What an attempt has to know of webhooks.
#[derive(Debug)]
pub(super) enum Question {
    /// Whether something may be written, and as what.
    Admission {
        phase: Phase,
        hooks: Arc<Hooks>,
        attributes: Box<Attributes>,
    },
    /// What an object is in another version.
    Conversion {
        by: Arc<Conversion>,
        /// Whether it is to be shown, and not to be stored.
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
        let (webhooks, entropy) = (dispatcher.webhooks, dispatcher.entropy);
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
                let shown = by.show(webhooks, entropy, vec![object.clone()]).await?;
                (shown.into_iter().next(), Vec::new())
            }
            Self::Conversion { by, object, .. } => {
                let stored = by.store(webhooks, entropy, object.clone()).await?;
                (Some(stored), Vec::new())
            }
        };
        Ok(Mutated { object, warnings })
    }

    /// Whether the answer to the one is an answer to the other.
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
