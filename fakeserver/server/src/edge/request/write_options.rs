//! Reads the options of writes and deletions.

use fakeserver_value::{
    go_text::is_print,
    status::{FieldError, Status},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Query, options::checked};
use crate::write::{DeleteOptions, FieldValidation, Preconditions, Propagation, WriteOptions};

const FIELD_MANAGER_MAX_BYTES: usize = 128;

/// `DeleteOptions` as clients send them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireDeleteOptions {
    dry_run: Vec<String>,
    grace_period_seconds: Option<i64>,
    preconditions: Option<Preconditions>,
    propagation_policy: Option<String>,
    orphan_dependents: Option<bool>,
}

/// Reads the options of a write from its parameters. `kind` names them in errors, as in `CreateOptions`.
pub(crate) fn write_options(query: &Query, kind: &str) -> Result<WriteOptions, Status> {
    let mut errors = Vec::new();
    if kind == "PatchOptions" && query.bool("force").is_some() {
        errors.push(FieldError::forbidden(
            "force",
            "may not be specified for non-apply patch",
        ));
    }
    read(query, kind, errors)
}

/// Reads the options of an apply from its parameters. They name the manager.
pub(crate) fn apply_options(query: &Query) -> Result<WriteOptions, Status> {
    let mut errors = Vec::new();
    if query.text("fieldManager").is_empty() {
        errors.push(FieldError::required(
            "fieldManager",
            "is required for apply patch",
        ));
    }
    let options = read(query, "PatchOptions", errors)?;
    Ok(WriteOptions {
        is_forced: query.bool("force").unwrap_or_default(),
        ..options
    })
}

/// Reads the options of a deletion from its body, or without one from its parameters.
pub(crate) fn delete_options(query: &Query, body: Option<&Value>) -> Result<DeleteOptions, Status> {
    let wire = match body {
        Some(body) => WireDeleteOptions::deserialize(body)
            .map_err(|error| Status::bad_request(error.to_string()))?,
        None => WireDeleteOptions {
            dry_run: query.all("dryRun").map(str::to_owned).collect(),
            grace_period_seconds: query.integer("gracePeriodSeconds")?,
            preconditions: Some(Preconditions {
                uid: nonempty(query, "uid"),
                resource_version: nonempty(query, "resourceVersion"),
            }),
            propagation_policy: query.get("propagationPolicy").map(str::to_owned),
            orphan_dependents: query.bool("orphanDependents"),
        },
    };
    wire.validate()
}

/// Returns a parameter that counts as absent if it is empty.
fn nonempty(query: &Query, name: &str) -> Option<String> {
    let value = query.get(name).filter(|value| !value.is_empty());
    value.map(str::to_owned)
}

fn read(query: &Query, kind: &str, mut errors: Vec<FieldError>) -> Result<WriteOptions, Status> {
    let field_manager = query.text("fieldManager");
    check_field_manager(&field_manager, &mut errors);
    let dry_run: Vec<&str> = query.all("dryRun").collect();
    let is_dry_run = read_dry_run(&dry_run, &mut errors);
    let value = query.text("fieldValidation");
    let mut modes = FieldValidation::ALL.into_iter();
    let field_validation = modes.find(|validation| validation.name() == value);
    if field_validation.is_none() && !value.is_empty() {
        errors.push(FieldError::not_supported(
            "fieldValidation",
            &json!(value),
            &["", "Ignore", "Strict", "Warn"],
        ));
    }
    checked(kind, &errors)?;
    Ok(WriteOptions {
        is_dry_run,
        field_manager,
        field_validation,
        is_forced: false,
    })
}

fn check_field_manager(manager: &str, errors: &mut Vec<FieldError>) {
    if manager.len() > FIELD_MANAGER_MAX_BYTES {
        errors.push(FieldError::too_long(
            "fieldManager",
            FIELD_MANAGER_MAX_BYTES,
        ));
    }
    let unprintable = manager.char_indices().filter(|(_, c)| !is_print(*c));
    for (position, c) in unprintable {
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

/// Returns whether the write is a dry run. `All` is the only value.
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
        let propagation_policy = policy.and_then(|value| {
            let mut policies = Propagation::ALL.into_iter();
            let policy = policies.find(|propagation| propagation.name() == value);
            if policy.is_none() {
                errors.push(FieldError::not_supported(
                    "propagationPolicy",
                    &json!(value),
                    &["Foreground", "Background", "Orphan", "nil"],
                ));
            }
            policy
        });
        let dry_run: Vec<&str> = self.dry_run.iter().map(String::as_str).collect();
        let is_dry_run = read_dry_run(&dry_run, &mut errors);
        checked("DeleteOptions", &errors)?;
        Ok(DeleteOptions {
            is_dry_run,
            grace_period_seconds: self.grace_period_seconds,
            preconditions: self.preconditions.unwrap_or_default(),
            propagation_policy,
            orphan_dependents: self.orphan_dependents,
        })
    }
}
