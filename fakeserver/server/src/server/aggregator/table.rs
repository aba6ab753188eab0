//! The APIs of other servers, by the names of their API services.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fakeserver_kinds::apiregistration::{
    api_service::AUTO_MANAGED,
    remote::{self, RemoteApi},
};

use super::api_documents::ApiDocuments;

use crate::store::StoredObject;

/// The aggregated APIs, and the names of those to check.
#[derive(Debug)]
pub(super) struct Table {
    apis: BTreeMap<String, AggregatedApi>,
    dirty: BTreeSet<String>,
    /// True if the store was reset, so that the table has to be rebuilt.
    is_stale: bool,
}

/// An API of another server.
#[derive(Clone, Debug)]
pub(in super::super) struct AggregatedApi {
    pub(in super::super) api: Arc<RemoteApi>,
    /// True if the condition `Available` of the API service is true.
    pub(in super::super) is_available: bool,
    pub(in super::super) documents: ApiDocuments,
}

// === impl AggregatedApi ===

impl AggregatedApi {
    /// Returns whether its server has a document of version 3 of OpenAPI at a path, such as `apis/g/v1`.
    pub(in super::super) fn has_document(&self, path: &str) -> bool {
        self.documents.index_entry.is_some() && self.api.path().trim_start_matches('/') == path
    }
}

// === impl Table ===

impl Table {
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    pub(super) fn is_empty(&self) -> bool {
        self.apis.is_empty()
    }

    /// Returns the API whose server answers requests for `path`.
    pub(super) fn find(&mut self, path: &str) -> Option<AggregatedApi> {
        let mut all = self.apis.values();
        all.find(|aggregated| aggregated.api.serves(path)).cloned()
    }

    pub(super) fn all(&mut self) -> Vec<AggregatedApi> {
        self.apis.values().cloned().collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<&AggregatedApi> {
        self.apis.get(name)
    }

    /// Takes the names of the API services that have to be checked.
    pub(super) fn take_dirty(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.dirty)
    }

    /// Clears the table, and marks it for a rebuild.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Begins with the stored API services.
    pub(super) fn rebuild<'a>(&mut self, stored: impl Iterator<Item = &'a StoredObject>) {
        *self = Self {
            is_stale: false,
            ..Self::default()
        };
        for stored in stored {
            self.observe(stored.name(), Some(stored));
        }
    }

    /// Takes in what an API service is after a change; returns whether something has to be checked.
    pub(super) fn observe(&mut self, name: &str, after: Option<&StoredObject>) -> bool {
        if self.is_stale {
            return false;
        }
        let Some(after) = after else {
            self.apis.remove(name);
            self.dirty.remove(name);
            return false;
        };
        // The server creates its own API services with their condition.
        let is_managed = after.labels().get(AUTO_MANAGED).is_some();
        let is_remote = remote::may_be_remote(&after.json());
        if is_managed && !is_remote && !self.apis.contains_key(name) {
            return false;
        }
        let object = after.to_value();
        let Some(api) = RemoteApi::parse(&object) else {
            let was_remote = self.apis.remove(name).is_some();
            let is_new = !is_managed && !remote::is_available(&object);
            if was_remote || is_new {
                self.dirty.insert(name.to_owned());
            }
            return was_remote || is_new;
        };
        let is_available = remote::is_available(&object);
        if let Some(aggregated) = self.apis.get_mut(name)
            && *aggregated.api == api
        {
            aggregated.is_available = is_available;
            return false;
        }
        let aggregated = AggregatedApi {
            api: Arc::new(api),
            is_available,
            documents: ApiDocuments::default(),
        };
        self.apis.insert(name.to_owned(), aggregated);
        self.dirty.insert(name.to_owned());
        true
    }

    /// Takes in that a service or its endpoints have changed; returns whether something has to be checked.
    pub(super) fn observe_service(&mut self, namespace: &str, name: &str) -> bool {
        let concerned = self.apis.values().filter(|aggregated| {
            let service = &aggregated.api.service;
            service.namespace == namespace && service.name == name
        });
        let names: Vec<String> = concerned
            .map(|aggregated| aggregated.api.name.clone())
            .collect();
        let is_dirty = !names.is_empty();
        self.dirty.extend(names);
        is_dirty
    }

    /// Notes what a server has told of an API, unless the API is another one by now.
    pub(super) fn learn(&mut self, api: &RemoteApi, change: impl FnOnce(&mut ApiDocuments)) {
        if let Some(aggregated) = self.apis.get_mut(&api.name)
            && *aggregated.api == *api
        {
            change(&mut aggregated.documents);
        }
    }
}

impl Default for Table {
    fn default() -> Self {
        Self {
            apis: BTreeMap::new(),
            dirty: BTreeSet::new(),
            is_stale: true,
        }
    }
}
