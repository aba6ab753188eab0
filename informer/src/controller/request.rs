//! Requests for objects of a type that is known at compile time, of whatever scope.

use std::marker::PhantomData;

use kube::{
    Client, Resource,
    api::{DeleteParams, GetParams, Patch, PatchParams, PostParams},
    core::PartialObjectMeta,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::object::Metadata;

/// Requests in one namespace; in none, if it is empty.
pub(super) struct Request<'a, K> {
    client: &'a Client,
    at: kube::core::Request,
    kind: PhantomData<fn() -> K>,
}

/// Questions about the error of a write.
pub(super) trait Failure {
    /// Returns true if another write came in between.
    fn is_conflict(&self) -> bool;

    /// Returns true if the object is not there.
    fn is_gone(&self) -> bool;

    /// Returns true if the write may have been carried out all the same.
    fn is_lost(&self) -> bool;
}

// === impl Request ===

impl<'a, K: Resource<DynamicType: Default> + DeserializeOwned> Request<'a, K> {
    pub(super) fn new(client: &'a Client, namespace: &str) -> Self {
        let namespace = Some(namespace).filter(|namespace| !namespace.is_empty());
        let path = K::url_path(&K::DynamicType::default(), namespace);
        Self {
            client,
            at: kube::core::Request::new(path),
            kind: PhantomData,
        }
    }

    pub(super) async fn get(&self, name: &str) -> Result<Option<K>, kube::Error> {
        let request = self.at.get(name, &GetParams::default());
        match self
            .client
            .request(request.map_err(kube::Error::BuildRequest)?)
            .await
        {
            Err(error) if error.is_gone() => Ok(None),
            found => found.map(Some),
        }
    }

    /// Reads the metadata of the object; `None` if there is none.
    pub(super) async fn metadata(&self, name: &str) -> Result<Option<Metadata>, kube::Error> {
        let request = self.at.get_metadata(name, &GetParams::default());
        let request = request.map_err(kube::Error::BuildRequest)?;
        let found = self.client.request::<PartialObjectMeta<K>>(request).await;
        match found {
            Err(error) if error.is_gone() => Ok(None),
            found => found.map(|object| Some(Metadata::of(&object))),
        }
    }

    pub(super) async fn create(&self, params: &PostParams, object: &K) -> Result<K, kube::Error>
    where
        K: Serialize,
    {
        let body = serde_json::to_vec(object).map_err(kube::Error::SerdeError)?;
        let request = self.at.create(params, body);
        self.client
            .request(request.map_err(kube::Error::BuildRequest)?)
            .await
    }

    /// Patches the object or, if it is named, one of its subresources.
    pub(super) async fn patch(
        &self,
        name: &str,
        subresource: Option<&str>,
        params: &PatchParams,
        patch: &Patch<impl Serialize>,
    ) -> Result<K, kube::Error> {
        let request = match subresource {
            Some(subresource) => self.at.patch_subresource(subresource, name, params, patch),
            None => self.at.patch(name, params, patch),
        };
        self.client
            .request(request.map_err(kube::Error::BuildRequest)?)
            .await
    }

    /// Deletes the object; the answer is the object if it stays for its finalizers, or the last state of it.
    pub(super) async fn delete(
        &self,
        name: &str,
        params: &DeleteParams,
    ) -> Result<Option<K>, kube::Error> {
        let request = self.at.delete(name, params);
        let request = request.map_err(kube::Error::BuildRequest)?;
        let answer = self.client.request_status::<K>(request).await?;
        Ok(answer.left())
    }
}

// === impl Failure ===

impl Failure for kube::Error {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Api(status) if status.code == 409 && status.reason == "Conflict")
    }

    fn is_gone(&self) -> bool {
        matches!(self, Self::Api(status) if status.code == 404)
    }

    fn is_lost(&self) -> bool {
        match self {
            // Of a write that was sent twice on its way, the second answer is that the object is there already.
            Self::Api(status) => status.code >= 500 || status.reason == "AlreadyExists",
            Self::BuildRequest(_) | Self::SerdeError(_) | Self::Auth(_) => false,
            _ => true,
        }
    }
}
