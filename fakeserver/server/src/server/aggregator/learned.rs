//! The answers of servers about their APIs.

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

/// The time after which a server is asked again.
const PERIOD: Duration = Duration::from_mins(1);
/// The media types of a document about all groups.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
     application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const JSON: &str = "application/json";

/// The documents of a server about one API.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Learned {
    /// The resources of the version, as they were told last.
    pub(in super::super) resources: Arc<Vec<Value>>,
    /// True if they were told when the server was asked last.
    is_told: bool,
    /// The entry of the index of version 3 of OpenAPI, if the server has one.
    pub(in super::super) index_entry: Option<Value>,
    /// The part of the document of version 2 of OpenAPI, with the tag of the whole.
    pub(in super::super) spec: Option<Arc<RemoteSpec>>,
    spec_tag: Option<HeaderValue>,
    /// The time at which the server was asked last.
    asked: Option<Instant>,
}

// === impl Learned ===

impl Learned {
    /// Returns whether the server is to be asked at `now`.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        !self.is_told || self.asked.is_none_or(|asked| now >= asked + PERIOD)
    }

    /// Returns whether the resources are those that the server has now, as far as is known.
    pub(in super::super) fn is_told(&self) -> bool {
        self.is_told
    }

    /// Notes that the server is away: what it has told is kept.
    pub(super) fn grow_stale(&mut self) {
        self.is_told = false;
    }

    /// Takes in what another one has learned of discovery and version 3 of OpenAPI.
    pub(super) fn adopt_discovery(&mut self, other: &Self) {
        self.resources = Arc::clone(&other.resources);
        self.is_told = other.is_told;
        self.index_entry.clone_from(&other.index_entry);
        self.asked = other.asked;
    }

    /// Takes in what another one has learned of version 2 of OpenAPI.
    pub(super) fn adopt_spec(&mut self, other: &Self) {
        self.spec.clone_from(&other.spec);
        self.spec_tag.clone_from(&other.spec_tag);
    }

    /// Asks a server for the resources of an API, and for the index of version 3 of OpenAPI.
    ///
    /// # Cancel safety
    ///
    /// If dropped, nothing was learned.
    pub(super) async fn ask_discovery(&mut self, source: &Source<'_>, api: &RemoteApi) {
        self.asked = Some(Instant::now());
        match resources(source, api).await {
            Some(resources) => {
                self.is_told = true;
                self.resources = Arc::new(resources);
            }
            None => self.is_told = false,
        }
        let index = source.get("/openapi/v3", &[(header::ACCEPT, JSON)]).await;
        if let Ok(index) = index {
            let found = json_of(&index);
            self.index_entry = found.and_then(|index| index_entry(&index, &api.path()));
        }
    }

    /// Asks a server for the document of version 2 of OpenAPI, unless it is as it was.
    ///
    /// # Cancel safety
    ///
    /// If dropped, nothing was learned.
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

/// Asks a server for the resources of an API: in one document of all groups, or else in one of the version.
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

/// Returns a document that was answered, if it is JSON.
fn json_of(document: &Document) -> Option<Value> {
    if document.code != StatusCode::OK {
        return None;
    }
    serde_json::from_slice(&document.body).ok()
}
