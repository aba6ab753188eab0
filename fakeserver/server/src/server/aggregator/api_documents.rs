//! The discovery and OpenAPI documents of aggregated servers.

use std::{sync::Arc, time::Duration};

use fakeserver_kinds::apiregistration::remote::RemoteApi;
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;
use tokio::time::Instant;

use super::download::{Document, Source};
use crate::edge::{
    discovery::{resources_in, resources_of},
    openapi::{RemoteSpec, index_entry},
};

/// The time after which the documents are downloaded again.
const PERIOD: Duration = Duration::from_mins(1);
/// The media types of a document about all groups.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
     application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const JSON: &str = "application/json";

/// The documents of a server about one API.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct ApiDocuments {
    /// The resources of the version, as downloaded last.
    pub(in super::super) resources: Arc<Vec<Value>>,
    /// True if the last download succeeded.
    is_fresh: bool,
    /// The entry of the index of version 3 of OpenAPI, if the server has one.
    pub(in super::super) index_entry: Option<Value>,
    /// The part of the document of version 2 of OpenAPI, with the tag of the whole.
    pub(in super::super) spec: Option<Arc<RemoteSpec>>,
    spec_tag: Option<HeaderValue>,
    /// The time of the last download.
    last_query: Option<Instant>,
}

// === impl ApiDocuments ===

impl ApiDocuments {
    /// Returns whether to download the documents at `now`.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        !self.is_fresh
            || self
                .last_query
                .is_none_or(|last_query| now >= last_query + PERIOD)
    }

    /// Returns whether the last download of the resources succeeded.
    pub(in super::super) fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// Notes that the server is unavailable. Its documents are kept.
    pub(super) fn mark_stale(&mut self) {
        self.is_fresh = false;
    }

    /// Takes over the discovery document and the index of OpenAPI version 3 of `other`.
    pub(super) fn adopt_discovery(&mut self, other: &Self) {
        self.resources = Arc::clone(&other.resources);
        self.is_fresh = other.is_fresh;
        self.index_entry.clone_from(&other.index_entry);
        self.last_query = other.last_query;
    }

    /// Takes over the OpenAPI version 2 of `other`.
    pub(super) fn adopt_spec(&mut self, other: &Self) {
        self.spec.clone_from(&other.spec);
        self.spec_tag.clone_from(&other.spec_tag);
    }

    /// Downloads the resources of an API, and the index of version 3 of OpenAPI.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the documents may be partly updated.
    pub(super) async fn ask_discovery(&mut self, source: &Source<'_>, api: &RemoteApi) {
        self.last_query = Some(Instant::now());
        match resources(source, api).await {
            Some(resources) => {
                self.is_fresh = true;
                self.resources = Arc::new(resources);
            }
            None => self.is_fresh = false,
        }
        let index = source.get("/openapi/v3", &[(header::ACCEPT, JSON)]).await;
        if let Ok(index) = index {
            let found = json_of(&index);
            self.index_entry = found.and_then(|index| index_entry(&index, &api.path()));
        }
    }

    /// Downloads the document of version 2 of OpenAPI, unless its `ETag` is unchanged.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the documents may be partly updated.
    pub(super) async fn ask_spec(&mut self, source: &Source<'_>, api: &RemoteApi) {
        let tag = self.spec_tag.as_ref().and_then(|tag| tag.to_str().ok());
        let mut headers = vec![(header::ACCEPT, JSON)];
        headers.extend(tag.map(|tag| (header::IF_NONE_MATCH, tag)));
        let Ok(document) = source.get("/openapi/v2", &headers).await else {
            return;
        };
        if document.code == StatusCode::NOT_MODIFIED {
            return;
        }
        let whole = json_of(&document);
        let spec = whole.map(|whole| RemoteSpec::of(&whole, &api.path()));
        // A document that is the same is not merged again.
        if spec.as_ref() != self.spec.as_deref() {
            self.spec = spec.map(Arc::new);
        }
        self.spec_tag = document.headers.get(header::ETAG).cloned();
    }
}

/// Downloads the resources of an API: from aggregated discovery, or else from the document of the version.
async fn resources(source: &Source<'_>, api: &RemoteApi) -> Option<Vec<Value>> {
    let root = if api.group.is_empty() {
        "/api"
    } else {
        "/apis"
    };
    let (group, version) = (&*api.group, &*api.version);
    let all = source.get(root, &[(header::ACCEPT, AGGREGATED)]).await;
    if let Some(all) = json_of(&all.ok()?)
        && all["kind"] == "APIGroupDiscoveryList"
    {
        // A server that does not have the version has no resources of it.
        return Some(resources_in(&all, group, version).unwrap_or_default());
    }
    let one = source.get(&api.path(), &[(header::ACCEPT, JSON)]).await;
    resources_of(&json_of(&one.ok()?)?, group, version)
}

/// Parses a downloaded document, if the request succeeded and it is JSON.
fn json_of(document: &Document) -> Option<Value> {
    if document.code != StatusCode::OK {
        return None;
    }
    serde_json::from_slice(&document.body).ok()
}
