//! The selectors of a request.

use std::fmt;

use crate::{lister::LabelSelector, shard::Shard};

/// The objects of a resource that the server is asked for: those that match both selectors, and are in the shard if there is one.
/// An empty selector matches all.
#[doc(alias = "TweakListOptionsFunc")]
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Selectors {
    labels: String,
    fields: String,
    shard: Option<Shard>,
}

// === impl Selectors ===

impl Selectors {
    /// Selects everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Selects only objects whose labels match.
    #[must_use]
    pub fn with_labels(mut self, selector: &LabelSelector) -> Self {
        self.labels = selector.to_string();
        self
    }

    /// Selects only objects whose fields match, as in `spec.nodeName=node-1`.
    ///
    /// The fields depend on the resource. The server rejects a selector that it does not know, and the informer's status then
    /// says so.
    #[must_use]
    pub fn with_fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = selector.into();
        self
    }

    /// Selects only objects of this shard: see [`shard`](crate::shard).
    #[must_use]
    pub fn with_shard(mut self, shard: Shard) -> Self {
        self.shard = Some(shard);
        self
    }

    /// Returns the label selector in requests.
    pub fn labels(&self) -> &str {
        &self.labels
    }

    /// Returns the field selector in requests.
    pub fn fields(&self) -> &str {
        &self.fields
    }

    /// Returns the shard; `None` for all.
    pub fn shard(&self) -> Option<Shard> {
        self.shard
    }
}

impl fmt::Display for Selectors {
    /// As it follows a resource's name: nothing for everything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.labels.is_empty() {
            write!(f, " with labels {:?}", self.labels)?;
        }
        if !self.fields.is_empty() {
            write!(f, " with fields {:?}", self.fields)?;
        }
        if let Some(shard) = self.shard {
            write!(f, " in {shard}")?;
        }
        Ok(())
    }
}
