//! The objects that the containers of a pod see, as they are stored now.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use fakeserver_kinds::core::{config_map, secret, service};
use fakeserver_server::{
    store::{ObjectKey, Range},
    verbs::{
        Api,
        subresources::token::{self, Account},
    },
};
use fakeserver_value::resource::GroupResource;
use serde_json::Value;

use crate::containers::{Entries, PodSources};

/// The objects near one pod.
pub(super) struct StoredSources<'a> {
    api: &'a Api,
    namespace: &'a str,
    pod: &'a Value,
}

// === impl StoredSources ===

impl<'a> StoredSources<'a> {
    pub(super) fn new(api: &'a Api, namespace: &'a str, pod: &'a Value) -> Self {
        Self {
            api,
            namespace,
            pod,
        }
    }

    fn get(&self, resource: &GroupResource, name: &str) -> Option<Value> {
        let key = ObjectKey::namespaced(resource.clone(), self.namespace, name);
        let stored = self
            .api
            .backend
            .storage
            .view(|view| view.get(&key).cloned());
        Some(stored?.to_value())
    }
}

impl PodSources for StoredSources<'_> {
    fn config_map(&self, name: &str) -> Option<Entries> {
        let object = self.get(config_map::KIND.storage(), name)?;
        let mut entries = decoded(&object["binaryData"]);
        let texts = object["data"].as_object().into_iter().flatten();
        entries.extend(
            texts.filter_map(|(name, value)| {
                Some((name.clone(), value.as_str()?.as_bytes().to_vec()))
            }),
        );
        Some(entries)
    }

    fn secret(&self, name: &str) -> Option<Entries> {
        let object = self.get(secret::KIND.storage(), name)?;
        Some(decoded(&object["data"]))
    }

    fn services(&self) -> Vec<Value> {
        let snapshot = self
            .api
            .backend
            .storage
            .view(|view| view.snapshot(service::KIND.storage()));
        let is_near = |service: &Value| {
            let metadata = &service["metadata"];
            let is_master = metadata["namespace"] == "default" && metadata["name"] == "kubernetes";
            let address = service["spec"]["clusterIP"].as_str().unwrap_or_default();
            (is_master || metadata["namespace"] == self.namespace)
                && !matches!(address, "" | "None")
        };
        let all = snapshot.objects(&Range::All, None);
        all.map(|service| service.to_value())
            .filter(is_near)
            .collect()
    }

    fn token(&self, audience: &str, seconds: i64) -> Option<String> {
        let account = Account {
            namespace: self.namespace,
            name: self.pod["spec"]["serviceAccountName"].as_str()?,
        };
        token::of_pod(self.api, account, self.pod, audience, seconds)
    }
}

/// Returns the entries of a map of base64. Invalid base64 is left out.
fn decoded(map: &Value) -> Entries {
    let entries = map.as_object().into_iter().flatten();
    let decoded = entries.filter_map(|(name, value)| {
        let bytes = STANDARD.decode(value.as_str()?).ok()?;
        Some((name.clone(), bytes))
    });
    decoded.collect()
}
