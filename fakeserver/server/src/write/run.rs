//! The phases of a write: admission, the kind's preparation and validation, admission again, the store.

use std::sync::Arc;

use fakeserver_kinds::{Kind, Verdict};
use fakeserver_value::{
    edit::{EmptyMember, with_empty},
    managed_fields,
    resource::GroupVersionKind,
    status::{NamedObject, Status},
};
use serde_json::Value;

use super::{
    Attempt, AttemptError, Author, Target,
    admission::Operation,
    chain,
    create::{self, ImportedFields},
    deletion::{self, DeletionParameters},
    update::{self, ExistingObject, Part},
};
use crate::store::{Change, StoredObject};

/// A write drafted by a verb, for [`run`].
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
    /// The new object, in the version of the request; null in a deletion.
    pub(super) new: Value,
    /// The existing object; null in a creation.
    pub(super) old: Value,
    /// The empty lists and maps in the client's object: validation errors include them.
    pub(super) empty: Vec<EmptyMember>,
    /// The text of a controller revision's data, if it differs from the printed object.
    pub(super) data_text: Option<String>,
    /// True if `new` is stored; false for a part of an object, and for objects that are never stored.
    pub(super) is_stored: bool,
}

/// The origin of the object that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A client sent the whole object. Its uid is a precondition.
    Body,
    /// A client sent a patch.
    Patch,
    /// A client applied a configuration, which has recorded the managers already.
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
        existing: ExistingObject,
        /// The part of the object that is written, if it is not the whole.
        part: Option<&'a dyn Part>,
    },
    Delete {
        stored: Arc<StoredObject>,
        parameters: DeletionParameters,
    },
}

/// The result of a write.
#[derive(Debug)]
pub enum Outcome {
    Stored(Arc<StoredObject>),
    /// The object of a dry run, or of a write through another version than the stored one.
    Object(Value),
    /// The last state of an object that was deleted.
    Deleted(Value),
}

/// Runs a write: mutating admission, the kind's preparation and validation, validating admission, and the store.
///
/// # Errors
///
/// The write is rejected, or has to be tried again when a webhook has answered.
pub fn run(attempt: &mut Attempt<'_, '_>, draft: Draft<'_>) -> Result<Outcome, AttemptError> {
    let Draft { mut write, action } = draft;
    // The handler of upstream mutates before it calls the registry, and passes validation to the registry as a
    // callback: plugins that validate see the object that the kind has prepared.
    chain::mutate(&mut write, attempt)?;
    match action {
        Action::Create { imported } => create::store(attempt, write, imported),
        Action::Update { existing, part } => update::store(attempt, write, existing, part),
        Action::Delete { stored, parameters } => {
            chain::validate(&write, attempt)?;
            Ok(deletion::store(attempt, &write, parameters, &stored))
        }
    }
}

/// Runs admission for an object of `kind` that is created but not stored, such as an eviction. Returns the mutated
/// object.
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

    /// Drafts a deletion of `existing`.
    pub fn delete(
        target: &'a Target,
        author: Author<'a>,
        existing: ExistingObject,
        parameters: DeletionParameters,
    ) -> Self {
        let write = Write {
            old: existing.object,
            ..Write::new(target, author, Operation::Delete)
        };
        Self {
            write,
            action: Action::Delete {
                stored: existing.stored,
                parameters,
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
            source: Source::Body,
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
        let with_empty_members = with_empty(&self.new, &self.empty);
        let with_empty_members = with_empty_members.as_ref().unwrap_or(&self.new);
        let target = self.target;
        let subresource = old.map_or("", |_| target.subresource());
        target.rules().verdict(
            self.target.resource.kubernetes,
            subresource,
            (&self.new, with_empty_members),
            old,
        )
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

    /// Returns the object's name for rejections: its name, or its `generateName`.
    pub(super) fn named(&self) -> NamedObject<'_> {
        let metadata = &self.new["metadata"];
        let mut names = ["name", "generateName"]
            .into_iter()
            .filter_map(|field| metadata[field].as_str())
            .filter(|text| !text.is_empty());
        let name = match self.target.name() {
            "" => names.next().unwrap_or("Unknown"),
            name => name,
        };
        self.target.named(name)
    }

    /// Replaces the new object by a plugin's result, and sets the defaults of added fields.
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
            // A mutated object passes defaults and resets again: a plugin must not set what a client may not, and its
            // new containers need defaults.
            create::complete(self.target, &mut self.new);
            return self.target.set_namespace(&mut self.new);
        }
        // The managers of an update were recorded before admission. A plugin may change them, and the reset of metadata
        // would undo that.
        let managers = managed_fields::of(&self.new);
        update::complete(self.target, &self.old, &mut self.new);
        managed_fields::set(&mut self.new, managers);
        Ok(())
    }
}

// === impl Outcome ===

impl Outcome {
    /// Replaces the stored object by that of `changes`, which has its final revision.
    pub(super) fn with_stored_object(self, changes: &[Arc<Change>]) -> Self {
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
