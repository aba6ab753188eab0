//! Options of writes and deletions.

use serde::Deserialize;
use serde_json::{Value, json};

/// The options of a create, an update or a patch.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    pub is_dry_run: bool,
    /// Empty for the default, which follows from the user agent.
    pub field_manager: String,
    /// The treatment of unknown and duplicate fields, if the client has chosen one.
    pub field_validation: Option<FieldValidation>,
    /// True if an apply takes fields that other managers own.
    pub is_forced: bool,
}

/// The treatment of unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// The options of a delete or a deletecollection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    pub is_dry_run: bool,
    pub grace_period_seconds: Option<i64>,
    pub preconditions: Preconditions,
    pub propagation_policy: Option<Propagation>,
    /// The deprecated form of the propagation policy. A request names at most one of the two.
    pub orphan_dependents: Option<bool>,
}

/// The conditions under which an object is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preconditions {
    pub uid: Option<String>,
    pub resource_version: Option<String>,
}

/// The fate of the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    Background,
    Foreground,
    Orphan,
}

/// Options as webhooks see them.
pub trait AdmissionOptions {
    fn is_dry_run(&self) -> bool;

    /// Returns the options as JSON, without kind and version.
    fn to_json(&self) -> Value;
}

// === impl WriteOptions ===

impl WriteOptions {
    /// Returns the treatment of unknown and duplicate fields.
    pub fn validation(&self) -> FieldValidation {
        self.field_validation.unwrap_or_default()
    }
}

impl AdmissionOptions for WriteOptions {
    fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    fn to_json(&self) -> Value {
        let mut options = json!({});
        if self.is_dry_run {
            options["dryRun"] = json!(["All"]);
        }
        if !self.field_manager.is_empty() {
            options["fieldManager"] = json!(self.field_manager);
        }
        if let Some(validation) = self.field_validation {
            options["fieldValidation"] = json!(validation.name());
        }
        options
    }
}

// === impl FieldValidation ===

impl FieldValidation {
    /// All treatments.
    pub const ALL: [Self; 3] = [Self::Ignore, Self::Strict, Self::Warn];

    /// Returns the value of the parameter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ignore => "Ignore",
            Self::Warn => "Warn",
            Self::Strict => "Strict",
        }
    }
}

// === impl DeleteOptions ===

impl DeleteOptions {
    /// Returns the fate of the dependents, in whichever form the request names it.
    pub fn propagation(&self) -> Option<Propagation> {
        let deprecated = self.orphan_dependents.map(|is_orphaning| {
            if is_orphaning {
                Propagation::Orphan
            } else {
                Propagation::Background
            }
        });
        self.propagation_policy.or(deprecated)
    }
}

impl AdmissionOptions for DeleteOptions {
    fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }

    fn to_json(&self) -> Value {
        let mut options = json!({});
        if let Some(seconds) = self.grace_period_seconds {
            options["gracePeriodSeconds"] = json!(seconds);
        }
        if let Some(uid) = &self.preconditions.uid {
            options["preconditions"]["uid"] = json!(uid);
        }
        if let Some(version) = &self.preconditions.resource_version {
            options["preconditions"]["resourceVersion"] = json!(version);
        }
        if let Some(is_orphaning) = self.orphan_dependents {
            options["orphanDependents"] = json!(is_orphaning);
        }
        if let Some(policy) = self.propagation_policy {
            options["propagationPolicy"] = json!(policy.name());
        }
        if self.is_dry_run {
            options["dryRun"] = json!(["All"]);
        }
        options
    }
}

// === impl Propagation ===

impl Propagation {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Foreground, Self::Background, Self::Orphan];

    /// Returns the value of `propagationPolicy`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}
