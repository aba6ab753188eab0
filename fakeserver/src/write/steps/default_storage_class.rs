//! `DefaultStorageClass`: a claim without a class gets the default one.

use serde_json::Value;

use super::list;
use crate::{
    kinds::{core::persistent_volume_claim, storage::storage_class},
    store::Transaction,
    write::{Attempt, Write, chain::Step},
};

pub(in crate::write) const STEP: Step = Step::mutating("DefaultStorageClass", |write, attempt| {
    admit(write, attempt);
    Ok(())
});

const IS_DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

fn admit(write: &mut Write<'_>, attempt: &Attempt<'_, '_>) {
    if write.creates(&persistent_volume_claim::KIND) && !write.is_import() {
        let class = &write.new["spec"]["storageClassName"];
        if class.is_null()
            && let Some(class) = default_class(attempt)
        {
            write.new["spec"]["storageClassName"] = class["metadata"]["name"].clone();
        }
    }
}

/// Returns the default class: of several, the newest.
fn default_class(tx: &Transaction<'_>) -> Option<Value> {
    let classes = list(tx, &storage_class::KIND).into_iter();
    classes
        .filter(|class| class["metadata"]["annotations"][IS_DEFAULT] == "true")
        .max_by_key(|class| {
            let created = class["metadata"]["creationTimestamp"].as_str();
            created.unwrap_or_default().to_owned()
        })
}
