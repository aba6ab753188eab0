//! `ResourceQuota`: a write is charged to the quotas of its namespace, in one transaction, and rejected if it exceeds one.
//!
//! The limits are those in the status of a quota, to which the controller copies the spec.

use std::sync::Arc;

use fakeserver_kinds::{
    Kind, ResourceType,
    core::{persistent_volume_claim, pod, resource_quota, service},
    resource::resource_claim,
    usage::{Amounts, Change, Evaluator, Quota, UsageContext, charge, is_terminating},
};
use fakeserver_value::{
    managed_fields::{self, Manager, described_in},
    resource::GroupResource,
    status::Status,
};
use fakeserver_versions::KubernetesVersion;
use jiff::Timestamp;
use serde_json::Value;

use crate::{
    store::{ObjectKey, Transaction},
    write::{Attempt, AttemptError, Write, admission::Operation, chain::Step},
};

pub(in crate::write) const STEP: Step = Step::validating("ResourceQuota", admit);

/// The server writes the usage of quotas.
const MANAGER: Manager<'_> = Manager {
    name: "kube-apiserver",
    api_version: "v1",
    subresource: "status",
};

/// The objects of a transaction, at a time.
pub struct TransactionView<'a, 't> {
    pub tx: &'a Transaction<'t>,
    pub now: Timestamp,
}

fn admit(write: &Write<'_>, attempt: &mut Attempt<'_, '_>) -> Result<(), AttemptError> {
    // A write with a generated name is validated once for each name: the charges of the name before do not count.
    attempt.set_companions(Vec::new());
    if write.is_import() || !is_counted(write) {
        return Ok(());
    }
    let target = write.target;
    let place = (&*target.resource, target.path.namespace.as_deref());
    let old = (write.operation() == Operation::Update).then_some(&write.old);
    let is_limited = target.subresource() != "status";
    let around = TransactionView {
        tx: attempt,
        now: attempt.now(),
    };
    let charges = charges(
        place,
        &write.new,
        old,
        is_limited,
        &around,
        attempt.now_text(),
    );
    let charges = charges.map_err(|why| Status::forbidden(write.named(), &why, Vec::new()))?;
    // Not written here: the write may still fail, and a charge without its object would stay until the next count.
    attempt.set_companions(charges);
    Ok(())
}

/// Returns whether a write may change the usage of an object, by its operation, its kind and its subresource.
fn is_counted(write: &Write<'_>) -> bool {
    let rules = write.target.rules();
    match (write.operation(), write.target.subresource()) {
        (Operation::Create, "") => true,
        (Operation::Update, "") if rules.is(&pod::KIND) => {
            is_terminating(&write.old) != is_terminating(&write.new)
        }
        (Operation::Update, "") => {
            rules.is(&service::KIND)
                || rules.is(&persistent_volume_claim::KIND)
                || rules.is(&resource_claim::KIND)
        }
        (Operation::Update, "resize") => rules.is(&pod::KIND),
        (Operation::Update, "status") => rules.is(&persistent_volume_claim::KIND),
        _ => false,
    }
}

/// Returns the quotas of a namespace with the charges of the object `new`.
///
/// # Errors
///
/// A quota is exceeded; the text follows `is forbidden: `.
pub(super) fn charges(
    (resource, namespace): (&ResourceType, Option<&str>),
    new: &Value,
    old: Option<&Value>,
    is_limited: bool,
    around: &TransactionView<'_, '_>,
    now: &str,
) -> Result<Vec<(ObjectKey, Value)>, String> {
    if namespace.is_none() {
        return Ok(Vec::new());
    }
    let stored = around.tx.list(resource_quota::KIND.storage(), namespace);
    if stored.is_empty() {
        return Ok(Vec::new());
    }
    let kubernetes = resource.kubernetes;
    let resource = GroupResource::new(Arc::clone(&resource.group), Arc::clone(&resource.plural));
    let Some(evaluator) = Evaluator::of(&resource) else {
        return Ok(Vec::new());
    };
    let objects: Vec<Value> = stored.iter().map(|quota| quota.to_value()).collect();
    let quotas: Vec<Quota> = objects.iter().map(Quota::in_force).collect();
    let change = Change {
        evaluator: &evaluator,
        new,
        old,
        is_limited,
    };
    let used = charge(&quotas, change, around)?;
    let charged = stored.iter().zip(objects).zip(used);
    let charged = charged.filter_map(|((stored, object), used)| {
        Some((
            stored.key().clone(),
            with_usage(kubernetes, &object, &used?, now),
        ))
    });
    Ok(charged.collect())
}

/// Returns a quota with another usage, which the server has written.
fn with_usage(kubernetes: KubernetesVersion, quota: &Value, used: &Amounts, now: &str) -> Value {
    let mut charged = quota.clone();
    charged["status"]["used"] = used.to_json();
    let kind = described_in(kubernetes, MANAGER.api_version, "ResourceQuota");
    managed_fields::record_update(Some(quota), &mut charged, kind, &MANAGER, now);
    charged
}

// === impl TransactionView ===

impl UsageContext for TransactionView<'_, '_> {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn list(&self, kind: &'static Kind, namespace: Option<&str>) -> Vec<Value> {
        let stored = self.tx.list(kind.storage(), namespace);
        let values = stored.iter().map(|stored| stored.to_value());
        values.collect()
    }
}
