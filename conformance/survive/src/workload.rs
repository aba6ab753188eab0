//! The steps of a user, and the rules that hold meanwhile: `survive.yaml`.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::kinds::ObjectRef;

/// The steps of a user, the number of replicas of the subject, and the rules that hold meanwhile.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Workload {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The number of copies of the subject that run at once.
    #[serde(default = "one")]
    pub replicas: usize,
    /// The rules of the user.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// The file of the steps, which errors name.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// A step and its name in reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The name, if the user gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The action.
    pub action: Action,
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Applies objects on the server's side, one after the other.
    Apply(Vec<Value>),
    /// Changes one object.
    Patch {
        /// The object.
        object: ObjectRef,
        /// The media type of the patch.
        media_type: PatchType,
        /// The patch.
        body: Value,
        /// True for the subresource `status`.
        status: bool,
    },
    /// Deletes one object.
    Delete {
        /// The object.
        object: ObjectRef,
        /// `Background`, `Foreground` or `Orphan`.
        propagation: Option<String>,
    },
    /// Waits until an expression is true of an object.
    Wait {
        /// The object.
        object: ObjectRef,
        /// The expression, in CEL; `object` is null as long as there is none.
        until: String,
        /// The longest wait.
        within: Duration,
    },
    /// Waits until the subject has written nothing for so long.
    Quiet(Duration),
}

/// The form of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PatchType {
    /// RFC 7386.
    Merge,
    /// RFC 6902.
    Json,
}

/// A promise of the user's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The name.
    pub name: String,
    /// The times at which it has to be true.
    pub when: When,
    /// The expression, in CEL.
    pub expression: String,
    /// Its file, which errors name.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// The times at which a rule has to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum When {
    /// At every revision.
    Always,
    /// In the end.
    Eventually,
}

/// The failure to read a workload. A retry does not help: the file has to change.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The failure.
        #[source]
        source: io::Error,
    },
    /// A file is no YAML of this form.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The mistake and its place.
        reason: String,
    },
    /// A step or a rule says too little, or too much.
    #[error("{}: {place}: {reason}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The step or rule.
        place: String,
        /// The mistake, and what would be right.
        reason: String,
    },
    /// A file that a step applies cannot be read, or holds something else than objects.
    #[error("{}: step {step}", path.display())]
    Applied {
        /// The file of the workload.
        path: PathBuf,
        /// The number of the step, from 1.
        step: usize,
        /// The failure of the file that it names.
        #[source]
        error: Box<Self>,
    },
}

/// The longest wait for a condition, unless the step tells another.
pub(super) const WITHIN: Duration = Duration::from_mins(1);

pub(super) fn one() -> usize {
    1
}

fn reference(text: &str) -> ObjectRef {
    text.parse().unwrap_or_else(|reason| panic!("{reason}"))
}

// === impl Workload ===

impl Workload {
    /// Returns a workload without steps, to which they are added.
    pub fn new() -> Self {
        Self {
            steps: Vec::new(),
            replicas: one(),
            rules: Vec::new(),
            file: None,
        }
    }

    /// Applies an object.
    ///
    /// # Panics
    ///
    /// If it cannot be written as JSON.
    #[must_use]
    pub fn apply(self, object: &impl Serialize) -> Self {
        let object = serde_json::to_value(object);
        self.step(Action::Apply(vec![object.expect("an object is JSON")]))
    }

    /// Merges a patch into an object, `APIVERSION KIND [NAMESPACE/]NAME`.
    ///
    /// # Panics
    ///
    /// If that is no reference to an object.
    #[must_use]
    pub fn patch(self, object: &str, merge: Value) -> Self {
        self.step(Action::Patch {
            object: reference(object),
            media_type: PatchType::Merge,
            body: merge,
            status: false,
        })
    }

    /// Deletes an object, `APIVERSION KIND [NAMESPACE/]NAME`.
    ///
    /// # Panics
    ///
    /// If that is no reference to an object.
    #[must_use]
    pub fn delete(self, object: &str) -> Self {
        self.step(Action::Delete {
            object: reference(object),
            propagation: None,
        })
    }

    /// Waits for a minute at most until a CEL expression is true of an object, `APIVERSION KIND [NAMESPACE/]NAME`.
    ///
    /// # Panics
    ///
    /// If that is no reference to an object.
    #[must_use]
    pub fn wait(self, object: &str, until: &str) -> Self {
        self.step(Action::Wait {
            object: reference(object),
            until: until.to_owned(),
            within: WITHIN,
        })
    }

    /// Waits until the subject has written nothing for so long.
    #[must_use]
    pub fn quiet(self, time: Duration) -> Self {
        self.step(Action::Quiet(time))
    }

    /// Adds a step.
    #[must_use]
    pub fn step(mut self, action: Action) -> Self {
        self.steps.push(Step { name: None, action });
        self
    }

    /// Adds a rule, in CEL over the whole state.
    #[must_use]
    pub fn rule(mut self, name: &str, when: When, expression: &str) -> Self {
        self.rules.push(Rule {
            name: name.to_owned(),
            when,
            expression: expression.to_owned(),
            file: None,
        });
        self
    }

    /// Sets the number of copies of the subject that run at once.
    #[must_use]
    pub fn with_replicas(mut self, count: usize) -> Self {
        self.replicas = count;
        self
    }

    /// Returns the words for a step, by its place from 0.
    pub(super) fn step_named(&self, place: usize) -> String {
        named(self.file.as_deref(), &format!("step {}", place + 1))
    }

    /// Returns the longest quiet that a step waits for.
    pub(super) fn longest_quiet(&self) -> Option<Duration> {
        let quiets = self.steps.iter().filter_map(|step| match step.action {
            Action::Quiet(time) => Some(time),
            _ => None,
        });
        quiets.max()
    }
}

impl Default for Workload {
    fn default() -> Self {
        Self::new()
    }
}

// === impl Rule ===

impl Rule {
    /// Returns the words for it.
    pub(super) fn named(&self) -> String {
        named(self.file.as_deref(), &format!("rule {:?}", self.name))
    }
}

fn named(file: Option<&Path>, part: &str) -> String {
    match file {
        Some(file) => format!("{}: {part}", file.display()),
        None => part.to_owned(),
    }
}

// === impl PatchType ===

impl PatchType {
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Merge => "application/merge-patch+json",
            Self::Json => "application/json-patch+json",
        }
    }
}

// === impl Action ===

impl Action {
    /// Returns the object that it names, if it names one.
    pub(super) fn object(&self) -> Option<&ObjectRef> {
        match self {
            Self::Patch { object, .. }
            | Self::Delete { object, .. }
            | Self::Wait { object, .. } => Some(object),
            Self::Apply(_) | Self::Quiet(_) => None,
        }
    }

    /// Returns whether it changes the cluster.
    pub fn is_change(&self) -> bool {
        !matches!(self, Self::Wait { .. } | Self::Quiet(_))
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(name) = &self.name {
            return f.write_str(name);
        }
        match &self.action {
            Action::Apply(objects) => {
                f.write_str("apply ")?;
                let names: Vec<String> = objects
                    .iter()
                    .map(|object| ObjectRef::to(object).to_string())
                    .collect();
                f.write_str(&names.join(", "))
            }
            Action::Patch { object, .. } => write!(f, "patch {object}"),
            Action::Delete { object, .. } => write!(f, "delete {object}"),
            Action::Wait { object, until, .. } => write!(f, "wait for {object}: {until}"),
            Action::Quiet(time) => write!(f, "quiet for {time:?}"),
        }
    }
}
