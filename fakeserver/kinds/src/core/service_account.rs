//! Service accounts.

use fakeserver_value::{edit::each, field::Field};
use serde_json::{Value, json};

use crate::{AcceptedObject, Habits, Kind, MetadataRechecks, Validation};

/// The annotation of accounts whose pods use no other secrets than those of the account.
pub const ENFORCES_SECRETS: &str = "kubernetes.io/enforce-mountable-secrets";

/// The account of pods that name none. Every namespace has one.
pub const DEFAULT: &str = "default";

/// Service accounts.
pub static KIND: Kind = Kind::new("", "serviceaccounts")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .prepare(keep_names)
    .prepare_update(|_, account| keep_names(account))
    .warnings(warn)
    .validation(Validation::METADATA);

/// Leaves the names of secrets only.
fn keep_names(account: &mut Value) {
    for secret in each(account, "secrets") {
        *secret = match &secret["name"] {
            Value::Null => json!({}),
            name => json!({"name": name}),
        };
    }
}

/// Warns of the annotation, unless the account has had it before.
fn warn(accepted: &AcceptedObject<'_>, warnings: &mut Vec<String>) {
    let has_annotation = |account: &Field<'_>| {
        let annotations = account.at("metadata").at("annotations");
        annotations.key(ENFORCES_SECRETS).is_set()
    };
    if has_annotation(&accepted.object) && !has_annotation(&accepted.old) {
        warnings.push(format!(
            "metadata.annotations[{ENFORCES_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access \
             to mounted secrets"
        ));
    }
}
