//! Errors of server-side apply, in the API server's words.

use std::fmt::Write as _;

use serde_json::Value;

use crate::{
    managed_fields::{ConversionError, Entry, FieldSet, UPDATE},
    status::{Cause, Status},
};

/// The reason why a configuration is not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The configuration has no kind or version, or not those of the path.
    #[error("invalid object type: {found}")]
    WrongKind {
        /// The kind as in `apps/v1, Kind=Deployment`.
        found: String,
    },
    /// The configuration has `managedFields`, which only the server sets.
    #[error("metadata.managedFields must be nil")]
    ManagersGiven,
    /// The configuration does not fit the schema of its kind.
    #[error("failed to create typed patch object ({object}): {why}")]
    Untyped {
        /// Namespace, name, version and kind.
        object: String,
        /// Each finding with its path.
        why: String,
    },
    /// The object in the store does not fit the schema of its kind, which may have changed.
    #[error("failed to create typed live object ({object}): {why}")]
    UntypedLive {
        /// Namespace, name, version and kind.
        object: String,
        /// Each finding with its path.
        why: String,
    },
    /// The object cannot be converted to the version of one of its managers.
    #[error(transparent)]
    Unconverted(#[from] ConversionError),
    /// Other managers own fields that the configuration would change. Leave the fields out, or force the apply.
    #[error("{}", conflict_message(.0))]
    Conflicts(Vec<Conflict>),
}

/// A conflict: fields that one manager owns and the configuration would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The manager as messages print it: with its subresource, and with its version if its operation is `Update`.
    pub(super) manager: String,
    pub(super) fields: FieldSet,
}

// === impl ApplyError ===

impl ApplyError {
    pub(super) fn wrong_kind(api_version: &str, kind: &str) -> Self {
        Self::WrongKind {
            found: print_kind(api_version, kind),
        }
    }

    pub(super) fn untyped(config: &Value, why: &str) -> Self {
        Self::Untyped {
            object: print_object(config),
            why: why.to_owned(),
        }
    }

    pub(super) fn untyped_live(live: &Value, why: &str) -> Self {
        Self::UntypedLive {
            object: print_object(live),
            why: why.to_owned(),
        }
    }

    /// The conflicts that are left without those about `allowed`, if any are.
    pub(super) fn without(conflicts: Vec<Conflict>, allowed: &FieldSet) -> Option<Self> {
        let mut left = conflicts;
        for conflict in &mut left {
            conflict.fields.subtract(allowed);
        }
        left.retain(|conflict| !conflict.fields.is_empty());
        (!left.is_empty()).then_some(Self::Conflicts(left))
    }
}

impl From<ApplyError> for Status {
    fn from(error: ApplyError) -> Self {
        let message = error.to_string();
        match error {
            ApplyError::WrongKind { .. } | ApplyError::ManagersGiven => Self::bad_request(message),
            ApplyError::Untyped { .. }
            | ApplyError::UntypedLive { .. }
            | ApplyError::Unconverted(_) => Self::unclassified(message),
            ApplyError::Conflicts(conflicts) => {
                let causes = conflicts.iter().flat_map(Conflict::causes).collect();
                Self::apply_conflict(message, causes)
            }
        }
    }
}

// === impl Conflict ===

impl Conflict {
    pub(super) fn new(entry: &Entry, fields: FieldSet) -> Self {
        let mut manager = format!("{:?}", entry.manager);
        if !entry.subresource.is_empty() {
            write!(manager, " with subresource {:?}", entry.subresource)
                .expect("a string takes all text");
        }
        if entry.operation == UPDATE {
            write!(manager, " using {}", entry.api_version).expect("a string takes all text");
        }
        Self { manager, fields }
    }

    fn causes(&self) -> Vec<Cause> {
        let message = format!("conflict with {}", self.manager);
        let paths = self.fields.printed().into_iter();
        paths
            .map(|field| Cause {
                field,
                ..Cause::new("FieldManagerConflict", message.clone())
            })
            .collect()
    }
}

fn conflict_message(conflicts: &[Conflict]) -> String {
    let paths: Vec<(&str, Vec<String>)> = conflicts
        .iter()
        .map(|conflict| (conflict.manager.as_str(), conflict.fields.printed()))
        .collect();
    let count: usize = paths.iter().map(|(_, paths)| paths.len()).sum();
    if let [(manager, only)] = paths.as_slice()
        && let [path] = only.as_slice()
    {
        return format!("Apply failed with 1 conflict: conflict with {manager}: {path}");
    }
    let lines: Vec<String> = paths
        .iter()
        .flat_map(|(manager, paths)| {
            let head = format!("conflicts with {manager}:");
            std::iter::once(head).chain(paths.iter().map(|path| format!("- {path}")))
        })
        .collect();
    format!("Apply failed with {count} conflicts: {}", lines.join("\n"))
}

/// Returns the answer to a configuration whose values do not fit the type of its kind.
pub fn inconvertible(config: &Value, why: &str) -> Status {
    let text = |field: &str| config[field].as_str().unwrap_or_default();
    Status::unclassified(format!(
        "failed to convert new object ({}) to proper version: unable to convert unstructured object to {}: {why}",
        print_object(config),
        print_kind(text("apiVersion"), text("kind")),
    ))
}

/// An object as errors about it begin.
fn print_object(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    format!(
        "{}/{}; {}",
        text(&object["metadata"]["namespace"]),
        text(&object["metadata"]["name"]),
        print_kind(&text(&object["apiVersion"]), &text(&object["kind"])),
    )
}

/// A kind as errors print it: the group may be empty, its slash never is left out.
fn print_kind(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}
