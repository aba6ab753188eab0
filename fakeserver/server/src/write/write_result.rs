//! Results of writes, whose objects get their revisions at commit.

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::Outcome;
use crate::store::{CommittedWrite, StoredObject};

/// The result of a write by a log, which it names the objects of as the transaction has made them.
pub trait WriteResult: Sized {
    /// Returns the result with its objects as they were committed.
    fn committed(self, writes: &[CommittedWrite]) -> Self;
}

impl WriteResult for () {
    fn committed(self, _: &[CommittedWrite]) -> Self {}
}

impl WriteResult for Arc<StoredObject> {
    fn committed(self, writes: &[CommittedWrite]) -> Self {
        let mut made = writes.iter().rev().filter_map(|write| write.change.after());
        let own = made.find(|made| made.key() == self.key());
        own.map_or(self, Arc::clone)
    }
}

impl WriteResult for Value {
    /// Replaces the revision of an object that was derived from a written one.
    fn committed(mut self, writes: &[CommittedWrite]) -> Self {
        let Some(version) = self.pointer_mut("/metadata/resourceVersion") else {
            return self;
        };
        let assumed = version.as_str().and_then(|version| version.parse().ok());
        let own = writes
            .iter()
            .find(|write| Some(write.assumed.get()) == assumed);
        if let Some(own) = own {
            *version = own.change.revision().to_string().into();
        }
        self
    }
}

impl WriteResult for Outcome {
    fn committed(self, writes: &[CommittedWrite]) -> Self {
        match self {
            Self::Stored(stored) => Self::Stored(stored.committed(writes)),
            Self::Object(object) => Self::Object(object.committed(writes)),
            Self::Deleted(object) => Self::Deleted(object),
        }
    }
}

impl WriteResult for (StatusCode, Outcome) {
    fn committed(self, writes: &[CommittedWrite]) -> Self {
        (self.0, self.1.committed(writes))
    }
}

impl WriteResult for (String, Outcome) {
    fn committed(self, writes: &[CommittedWrite]) -> Self {
        (self.0, self.1.committed(writes))
    }
}
