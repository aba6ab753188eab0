//! Which objects of a resource are wanted.

use std::fmt;

use crate::lister::LabelSelector;

/// Which objects of a resource the server is asked for: those that match both selectors, which select all if empty.
#[doc(alias = "TweakListOptionsFunc")]
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Selection {
    labels: String,
    fields: String,
}

// === impl Selection ===

impl Selection {
    /// Everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Only objects whose labels match.
    #[must_use]
    pub fn with_labels(mut self, selector: &LabelSelector) -> Self {
        self.labels = selector.to_string();
        self
    }

    /// Only objects whose fields match, as in `spec.nodeName=node-1`.
    ///
    /// Which fields there are depends on the resource; the server refuses a selector that it does not know, and the
    /// informer's status then says so.
    #[must_use]
    pub fn with_fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = selector.into();
        self
    }

    /// The label selector, as it is sent.
    pub fn labels(&self) -> &str {
        &self.labels
    }

    /// The field selector, as it is sent.
    pub fn fields(&self) -> &str {
        &self.fields
    }
}

impl fmt::Display for Selection {
    /// As it follows a resource's name: nothing for everything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.labels.is_empty() {
            write!(f, " with labels {:?}", self.labels)?;
        }
        if !self.fields.is_empty() {
            write!(f, " with fields {:?}", self.fields)?;
        }
        Ok(())
    }
}
