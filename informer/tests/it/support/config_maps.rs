//! Config maps of a fake server, each with one number.

use fakeserver::FakeServer;
use informer::Object;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};

/// The config maps of one namespace, written by a client of another name than the subject of the test.
#[derive(Clone)]
pub(crate) struct ConfigMaps(Api<ConfigMap>);

// === impl ConfigMaps ===

impl ConfigMaps {
    pub(crate) fn of(server: &FakeServer, namespace: &str) -> Self {
        Self(Api::namespaced(server.client_named("test"), namespace))
    }

    /// Makes it, or changes it.
    pub(crate) async fn put(&self, name: &str, number: u64) {
        let params = PostParams::default();
        if let Some(mut object) = self.0.get_opt(name).await.unwrap() {
            object.data = numbered(name, number).data;
            self.0.replace(name, &params, &object).await.unwrap();
        } else {
            let object = numbered(name, number);
            self.0.create(&params, &object).await.unwrap();
        }
    }

    /// Deletes it, if it is there.
    pub(crate) async fn delete(&self, name: &str) {
        if self.0.get_opt(name).await.unwrap().is_some() {
            self.0.delete(name, &DeleteParams::default()).await.unwrap();
        }
    }
}

/// A config map with this number.
pub(crate) fn numbered(name: &str, number: u64) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some([("number".to_owned(), number.to_string())].into()),
        ..ConfigMap::default()
    }
}

/// The number of such a config map.
pub(crate) fn number_of(object: &Object<ConfigMap>) -> u64 {
    let object = object.get();
    object.data.as_ref().unwrap()["number"].parse().unwrap()
}
