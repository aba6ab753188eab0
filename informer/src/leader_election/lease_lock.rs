//! The Lease object that the candidates share.

use std::collections::BTreeMap;

use kube::{
    Api,
    api::PostParams,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::Value;

use super::record::Record;

/// The Lease object that the candidates share, by namespace and name. It is made by the first of them.
///
/// The candidate needs the rights to `get`, `create` and `update` leases of `coordination.k8s.io` in that namespace.
#[derive(Clone, Debug)]
pub struct LeaseLock {
    api: Api<DynamicObject>,
    resource: ApiResource,
    namespace: String,
    name: String,
    /// The labels of a lease that is made.
    labels: BTreeMap<String, String>,
}

/// The lease as it was read or written last. Fields that an election does not know are sent back unchanged.
#[derive(Clone, Debug)]
pub(crate) struct HeldLease(DynamicObject);

// === impl LeaseLock ===

impl LeaseLock {
    /// The lease `name` in `namespace`.
    pub fn new(
        client: kube::Client,
        namespace: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        let namespace = namespace.into();
        let kind = GroupVersionKind::gvk("coordination.k8s.io", "v1", "Lease");
        let resource = ApiResource::from_gvk(&kind);
        Self {
            api: Api::namespaced_with(client, &namespace, &resource),
            resource,
            namespace,
            name: name.into(),
            labels: BTreeMap::new(),
        }
    }

    /// Makes the lease with these labels, if there is none.
    pub(crate) fn with_labels(mut self, labels: BTreeMap<String, String>) -> Self {
        self.labels = labels;
        self
    }

    /// Returns the client, the namespace and the name.
    pub(super) fn parts(&self) -> (kube::Client, &str, &str) {
        (self.api.clone().into_client(), &self.namespace, &self.name)
    }

    /// The name, as in `namespace/name`, for logs.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    pub(crate) async fn get(&self) -> Result<Option<(Record, HeldLease)>, kube::Error> {
        let Some(lease) = self.api.get_opt(&self.name).await? else {
            return Ok(None);
        };
        Ok(Some((record_of(&lease), HeldLease(lease))))
    }

    /// Writes `record` in the place of what `held` says, which must still be so; a new lease if there was none.
    pub(crate) async fn write(
        &self,
        held: Option<&HeldLease>,
        record: &Record,
    ) -> Result<HeldLease, kube::Error> {
        let params = PostParams::default();
        let written = if let Some(HeldLease(lease)) = held {
            let mut lease = lease.clone();
            put(&mut lease, record);
            self.api.replace(&self.name, &params, &lease).await?
        } else {
            let mut lease = DynamicObject::new(&self.name, &self.resource).within(&self.namespace);
            lease.metadata.labels = Some(self.labels.clone()).filter(|labels| !labels.is_empty());
            put(&mut lease, record);
            self.api.create(&params, &lease).await?
        };
        Ok(HeldLease(written))
    }
}

/// Returns the record of a lease. A spec that cannot be read counts as one without a holder.
pub(crate) fn record_of(lease: &DynamicObject) -> Record {
    let spec = lease.data.get("spec").cloned().unwrap_or_default();
    serde_json::from_value(spec).unwrap_or_default()
}

fn put(lease: &mut DynamicObject, record: &Record) {
    let record = serde_json::to_value(record).expect("a record has nothing that JSON cannot say");
    let Value::Object(record) = record else {
        return;
    };
    if !lease.data.is_object() {
        lease.data = Value::Object(serde_json::Map::new());
    }
    let spec = &mut lease.data["spec"];
    match spec {
        Value::Object(spec) => {
            // Nothing is to be handed over any more.
            if !record.contains_key("preferredHolder") {
                spec.remove("preferredHolder");
            }
            spec.extend(record);
        }
        other => *other = Value::Object(record),
    }
}
