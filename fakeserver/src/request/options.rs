//! The options of each verb, and which of them go together.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Query;
use crate::status::{FieldError, Status};

const FIELD_MANAGER_MAX_BYTES: usize = 128;
const VERSION_MATCH: &str = "resourceVersionMatch";

/// The options of a list or a watch.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions {
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
    pub(crate) is_watch: bool,
    pub(crate) allow_bookmarks: bool,
    pub(crate) resource_version: String,
    pub(crate) version_match: String,
    pub(crate) send_initial_events: Option<bool>,
    pub(crate) timeout: Option<Duration>,
    /// More than nothing, if there is a limit.
    pub(crate) limit: Option<usize>,
    pub(crate) continue_token: String,
}

/// The options of a create, an update or a patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    pub(crate) is_dry_run: bool,
    /// Empty for the default, which follows from the user agent.
    pub(crate) field_manager: String,
    pub(crate) field_validation: FieldValidation,
    /// Whether an apply takes what others own.
    pub(crate) is_forced: bool,
}

/// What happens to unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// The options of a delete or a deletecollection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeleteOptions {
    pub(crate) is_dry_run: bool,
    pub(crate) grace_period_seconds: Option<i64>,
    pub(crate) preconditions: Preconditions,
    pub(crate) propagation: Option<Propagation>,
    /// It was asked for in the old way that what the object owns should go, too.
    pub(crate) is_cascading: bool,
}

/// What must be true of an object for a delete to go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Preconditions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

/// What happens to the objects that a deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    Background,
    Foreground,
    Orphan,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireDeleteOptions {
    dry_run: Vec<String>,
    grace_period_seconds: Option<i64>,
    preconditions: Option<Preconditions>,
    propagation_policy: Option<String>,
    orphan_dependents: Option<bool>,
}

// === impl ListOptions ===

impl ListOptions {
    /// Reads the parameters and refuses those that do not go together.
    pub(crate) fn parse(query: &Query) -> Result<Self, Status> {
        let limit = query.integer("limit")?.unwrap_or_default();
        let timeout = query.integer("timeoutSeconds")?.unwrap_or_default();
        let options = Self {
            label_selector: query.text("labelSelector"),
            field_selector: query.text("fieldSelector"),
            is_watch: query.bool("watch").unwrap_or_default(),
            allow_bookmarks: query.bool("allowWatchBookmarks").unwrap_or_default(),
            resource_version: query.text("resourceVersion"),
            version_match: query.text(VERSION_MATCH),
            send_initial_events: query.bool("sendInitialEvents"),
            timeout: u64::try_from(timeout)
                .ok()
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
            limit: usize::try_from(limit).ok().filter(|limit| *limit > 0),
            continue_token: query.text("continue"),
        };
        Ok(options)
    }

    /// Refuses what does not go together.
    pub(crate) fn validate(&self) -> Result<(), Status> {
        let errors = if self.is_watch {
            self.watch_errors()
        } else {
            self.list_errors()
        };
        checked("ListOptions", &errors)
    }

    fn list_errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let matching = self.version_match.as_str();
        if !matching.is_empty() {
            if self.resource_version.is_empty() {
                errors.push(forbidden_match(
                    "is forbidden unless resourceVersion is provided",
                ));
            }
            if !self.continue_token.is_empty() {
                errors.push(forbidden_match("is forbidden when continue is provided"));
            }
            if !matches!(matching, "Exact" | "NotOlderThan") {
                let supported = ["Exact", "NotOlderThan", ""];
                errors.push(FieldError::not_supported(
                    VERSION_MATCH,
                    &json!(matching),
                    &supported,
                ));
            }
            if matching == "Exact" && self.resource_version == "0" {
                errors.push(forbidden_match(
                    "\"exact\" is forbidden for resourceVersion \"0\"",
                ));
            }
        }
        if self.send_initial_events.is_some() {
            errors.push(FieldError::forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            ));
        }
        errors
    }

    fn watch_errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let matching = self.version_match.as_str();
        if self.send_initial_events.is_some() && matching != "NotOlderThan" {
            errors.push(FieldError::forbidden(
                VERSION_MATCH,
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ));
        }
        // A watch from no version counts as one that asks for the state first.
        let is_legacy = matching.is_empty()
            && self.send_initial_events.is_none()
            && matches!(self.resource_version.as_str(), "" | "0");
        if !matching.is_empty() {
            if self.send_initial_events.is_none() {
                errors.push(forbidden_match(
                    "is forbidden for watch unless sendInitialEvents is provided",
                ));
            }
            if matching != "NotOlderThan" {
                errors.push(FieldError::not_supported(
                    VERSION_MATCH,
                    &json!(matching),
                    &["NotOlderThan"],
                ));
            }
        }
        if (is_legacy || !matching.is_empty()) && !self.continue_token.is_empty() {
            errors.push(forbidden_match("is forbidden when continue is provided"));
        }
        errors
    }
}

fn forbidden_match(why: &str) -> FieldError {
    FieldError::forbidden(VERSION_MATCH, &format!("{VERSION_MATCH} {why}"))
}

// === impl WriteOptions ===

impl WriteOptions {
    /// Reads the parameters. `kind` names them in errors, as in `CreateOptions`.
    pub(crate) fn parse(query: &Query, kind: &str) -> Result<Self, Status> {
        let mut errors = Vec::new();
        if kind == "PatchOptions" && query.bool("force").is_some() {
            errors.push(FieldError::forbidden(
                "force",
                "may not be specified for non-apply patch",
            ));
        }
        Self::read(query, kind, errors)
    }

    /// Reads the parameters of an apply, which has to say who it is from.
    pub(crate) fn parse_apply(query: &Query) -> Result<Self, Status> {
        let mut errors = Vec::new();
        if query.text("fieldManager").is_empty() {
            errors.push(FieldError::required(
                "fieldManager",
                "is required for apply patch",
            ));
        }
        let options = Self::read(query, "PatchOptions", errors)?;
        Ok(Self {
            is_forced: query.bool("force").unwrap_or_default(),
            ..options
        })
    }

    fn read(query: &Query, kind: &str, mut errors: Vec<FieldError>) -> Result<Self, Status> {
        let field_manager = query.text("fieldManager");
        check_field_manager(&field_manager, &mut errors);
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        let is_dry_run = read_dry_run(&dry_run, &mut errors);
        let field_validation = query.text("fieldValidation");
        let field_validation = match field_validation.as_str() {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                errors.push(FieldError::not_supported(
                    "fieldValidation",
                    &json!(other),
                    &["", "Ignore", "Strict", "Warn"],
                ));
                FieldValidation::Warn
            }
        };
        checked(kind, &errors)?;
        Ok(Self {
            is_dry_run,
            field_manager,
            field_validation,
            is_forced: false,
        })
    }
}

fn check_field_manager(manager: &str, errors: &mut Vec<FieldError>) {
    if manager.len() > FIELD_MANAGER_MAX_BYTES {
        errors.push(FieldError::too_long(
            "fieldManager",
            FIELD_MANAGER_MAX_BYTES,
        ));
    }
    let control = manager.char_indices().filter(|(_, c)| c.is_control());
    for (position, c) in control {
        errors.push(FieldError::invalid(
            "fieldManager",
            &json!(manager),
            &format!(
                "invalid character U+{:04X} (at position {position})",
                u32::from(c)
            ),
        ));
    }
}

/// Whether the write is only tried. The one value there is is `All`.
fn read_dry_run(values: &[&str], errors: &mut Vec<FieldError>) -> bool {
    if values.iter().any(|value| *value != "All") {
        errors.push(FieldError::not_supported(
            "dryRun",
            &json!(values),
            &["All"],
        ));
    }
    !values.is_empty()
}

// === impl DeleteOptions ===

impl DeleteOptions {
    /// Reads the options from the body, or without one from the parameters.
    pub(crate) fn parse(query: &Query, body: Option<&Value>) -> Result<Self, Status> {
        let wire = match body {
            Some(body) => WireDeleteOptions::deserialize(body)
                .map_err(|error| Status::unclassified(error.to_string()))?,
            None => WireDeleteOptions {
                dry_run: query.all("dryRun").map(str::to_owned).collect(),
                grace_period_seconds: query.integer("gracePeriodSeconds")?,
                preconditions: query.get("uid").map(|uid| Preconditions {
                    uid: Some(uid.to_owned()).filter(|uid| !uid.is_empty()),
                    resource_version: None,
                }),
                propagation_policy: query.get("propagationPolicy").map(str::to_owned),
                orphan_dependents: query.bool("orphanDependents"),
            },
        };
        wire.validate()
    }
}

// === impl WireDeleteOptions ===

impl WireDeleteOptions {
    fn validate(self) -> Result<DeleteOptions, Status> {
        let mut errors = Vec::new();
        let policy = self.propagation_policy.as_deref();
        if self.orphan_dependents.is_some() && policy.is_some() {
            errors.push(FieldError::invalid(
                "propagationPolicy",
                &json!(policy),
                "orphanDependents and deletionPropagation cannot be both set",
            ));
        }
        let propagation = match policy {
            None => self.orphan_dependents.map(|is_orphaning| {
                if is_orphaning {
                    Propagation::Orphan
                } else {
                    Propagation::Background
                }
            }),
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some("Orphan") => Some(Propagation::Orphan),
            Some(other) => {
                errors.push(FieldError::not_supported(
                    "propagationPolicy",
                    &json!(other),
                    &["Foreground", "Background", "Orphan", "nil"],
                ));
                None
            }
        };
        let dry_run: Vec<&str> = self.dry_run.iter().map(String::as_str).collect();
        let is_dry_run = read_dry_run(&dry_run, &mut errors);
        checked("DeleteOptions", &errors)?;
        Ok(DeleteOptions {
            is_dry_run,
            grace_period_seconds: self.grace_period_seconds,
            preconditions: self.preconditions.unwrap_or_default(),
            propagation,
            is_cascading: self.orphan_dependents == Some(false),
        })
    }
}

fn checked(kind: &str, errors: &[FieldError]) -> Result<(), Status> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid_options(kind, errors))
}
