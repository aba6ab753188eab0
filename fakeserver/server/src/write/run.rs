//! The phases of a write: admission, the kind's preparation and validation, admission again, the store.

use std::sync::Arc;

use fakeserver_kinds::{Kind, Verdict};
use fakeserver_value::{
    edit::{EmptyMember, with_empty},
    managed_fields,
    resource::GroupVersionKind,
    status::{Named, Status},
};
use serde_json::Value;

use super::{
    Attempt, AttemptError, Author, Target,
    admission::Operation,
    chain,
    create::{self, ImportedFields},
    deletion::{self, Wanted},
    update::{self, Existing, Part},
};
use crate::store::{Change, StoredObject};

/// A write that a verb has made, and that [`run`] carries out.
#[derive(Clone)]
pub struct Draft<'a> {
    pub(super) write: Write<'a>,
    pub(super) action: Action<'a>,
}

/// A write as admission sees it.
#[derive(Clone)]
pub struct Write<'a> {
    pub target: &'a Target,
    pub author: Author<'a>,
    pub(super) source: Source,
    pub(super) operation: Operation,
    /// The object as it is to be, in the version of the request; null in a deletion.
    pub(super) new: Value,
    /// The object as it is; null in a creation.
    pub(super) old: Value,
    /// The lists and maps without items that the client sent: findings show them.
    pub(super) empty: Vec<EmptyMember>,
    /// The text of the data of a controller revision, unless it is what the object prints.
    pub(super) data_text: Option<String>,
    /// True if `new` is stored, and not a part of the object or one that is never stored.
    pub(super) is_stored: bool,
}

/// The origin of the object that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A client sent the whole object. Its uid is a precondition.
    Sent,
    /// A client sent a patch.
    Patch,
    /// A client applied a configuration. The managers of the fields are known.
    Apply,
    /// The object was loaded from behind the API, and may come from another server.
    Import,
}

/// The change that a write makes to the store.
#[derive(Clone)]
pub(super) enum Action<'a> {
    Create {
        imported: ImportedFields,
    },
    Update {
        existing: Existing,
        /// The part of the object that is written, if it is not the whole.
        part: Option<&'a dyn Part>,
    },
    Delete {
        stored: Arc<StoredObject>,
        wanted: Wanted,
    },
}

/// The result of a write.
#[derive(Debug)]
pub enum Outcome {
    Stored(Arc<StoredObject>),
    /// The object as it would be stored, or as it was stored in another version.
    Shown(Value),
    /// The last state of an object that was deleted.
    Deleted(Value),
}

/// Writes an object: puts it through the admission plugins that mutate, lets its kind prepare and validate it, puts it
/// through the plugins that validate, and stores it.
///
/// # Errors
///
/// The write is rejected, or has to be tried again when a webhook has answered.
pub fn run(attempt: &mut Attempt<'_, '_>, draft: Draft<'_>) -> Result<Outcome, AttemptError> {
    let Draft { mut write, action } = draft;
    chain::mutate(&mut write, attempt)?;
    match action {
        Action::Create { imported } => create::store(attempt, write, imported),
        Action::Update { existing, part } => update::store(attempt, write, existing, part),
        Action::Delete { stored, wanted } => {
            chain::validate(&write, attempt)?;
            Ok(deletion::store(attempt, &write, wanted, &stored))
        }
    }
}

/// Puts an object of the kind `kind` that is created and not stored, such as an eviction, to admission. Returns what
/// admission has made of it.
///
/// # Errors
///
/// Those of [`run`].
pub fn admit(
    attempt: &mut Attempt<'_, '_>,
    target: &Target,
    author: Author<'_>,
    kind: &GroupVersionKind,
    mut object: Value,
) -> Result<Value, AttemptError> {
    author.record_kind(target, kind, None, &mut object, attempt.now_text());
    let mut write = Write {
        new: object,
        is_stored: false,
        ..Write::new(target, author, Operation::Create)
    };
    chain::mutate(&mut write, attempt)?;
    chain::validate(&write, attempt)?;
    Ok(write.new)
}

// === impl Draft ===

impl<'a> Draft<'a> {
    /// Sets the text of the data of a controller revision.
    pub fn with_data_text(mut self, text: Option<String>) -> Self {
        self.write.data_text = text;
        self
    }

    /// Makes a deletion of `existing`.
    pub fn delete(
        target: &'a Target,
        author: Author<'a>,
        existing: Existing,
        wanted: Wanted,
    ) -> Self {
        let write = Write {
            old: existing.shown,
            ..Write::new(target, author, Operation::Delete)
        };
        Self {
            write,
            action: Action::Delete {
                stored: existing.stored,
                wanted,
            },
        }
    }
}

// === impl Write ===

impl<'a> Write<'a> {
    /// Creates a write of what a client sent, without objects.
    pub(super) fn new(target: &'a Target, author: Author<'a>, operation: Operation) -> Self {
        Self {
            target,
            author,
            source: Source::Sent,
            operation,
            new: Value::Null,
            old: Value::Null,
            empty: Vec::new(),
            data_text: None,
            is_stored: true,
        }
    }

    /// Validates the new object by the rules of its kind.
    pub(super) fn verdict(&self, old: Option<&Value>) -> Verdict {
        let shown = with_empty(&self.new, &self.empty);
        let shown = shown.as_ref().unwrap_or(&self.new);
        let target = self.target;
        let subresource = old.map_or("", |_| target.subresource());
        target.rules().verdict(subresource, (&self.new, shown), old)
    }

    pub(super) fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns whether this creates an object of a kind.
    pub(super) fn creates(&self, kind: &'static Kind) -> bool {
        self.is_of(Operation::Create, kind)
    }

    /// Returns whether this updates an object of a kind, and not through a subresource.
    pub(super) fn updates(&self, kind: &'static Kind) -> bool {
        self.is_of(Operation::Update, kind)
    }

    fn is_of(&self, operation: Operation, kind: &'static Kind) -> bool {
        let target = self.target;
        self.operation == operation && target.subresource().is_empty() && target.rules().is(kind)
    }

    /// Returns whether the object is imported, bypassing the API: it keeps its fields, regardless of what exists here.
    pub(super) fn is_import(&self) -> bool {
        self.source == Source::Import
    }

    /// Returns the name of the new object, empty until it is generated.
    pub(super) fn new_name(&self) -> &str {
        self.new["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// Returns the object as rejections call it, by its name or what its name is generated from.
    pub(super) fn named(&self) -> Named<'_> {
        let metadata = &self.new["metadata"];
        let mut said = ["name", "generateName"]
            .into_iter()
            .filter_map(|field| metadata[field].as_str())
            .filter(|text| !text.is_empty());
        let name = match self.target.name() {
            "" => said.next().unwrap_or("Unknown"),
            name => name,
        };
        self.target.named(name)
    }

    /// Takes over what a plugin has made of the new object, with the defaults of what it added.
    ///
    /// # Errors
    ///
    /// The object is no longer in its namespace.
    pub(super) fn replace_new(&mut self, mutated: Value) -> Result<(), Status> {
        self.new = mutated;
        if !self.is_stored {
            return Ok(());
        }
        if self.operation == Operation::Create {
            create::complete(self.target, &mut self.new);
            return self.target.place(&mut self.new);
        }
        let managers = managed_fields::of(&self.new);
        update::complete(self.target, &self.old, &mut self.new);
        managed_fields::set(&mut self.new, managers);
        Ok(())
    }
}

// === impl Outcome ===

impl Outcome {
    /// Returns the same outcome with the object as one of `changes` stored it.
    pub(super) fn made_by(self, changes: &[Arc<Change>]) -> Self {
        let Self::Stored(stored) = &self else {
            return self;
        };
        let mut made = changes.iter().rev().filter_map(|change| change.after());
        match made.find(|made| made.key() == stored.key()) {
            Some(made) => Self::Stored(Arc::clone(made)),
            None => self,
        }
    }
}
