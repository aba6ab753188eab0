//! The APIs of other servers, by the names of their API services.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fakeserver_kinds::apiregistration::{
    api_service::AUTO_MANAGED,
    remote::{self, RemoteApi},
};

use super::learned::Learned;

use crate::store::StoredObject;

/// The APIs, and those whose availability has to be checked.
#[derive(Debug)]
pub(super) struct Table {
    apis: BTreeMap<String, Served>,
    dirty: BTreeSet<String>,
    /// True if the store was reset, so that nothing here counts.
    is_stale: bool,
}

/// An API of another server, as it is known now.
#[derive(Clone, Debug)]
pub(in super::super) struct Served {
    pub(in super::super) api: Arc<RemoteApi>,
    /// True if its condition says so.
    pub(in super::super) is_available: bool,
    pub(in super::super) learned: Learned,
}

// === impl Served ===

impl Served {
    /// Returns whether its server has a document of version 3 of OpenAPI at a path, such as `apis/g/v1`.
    pub(in super::super) fn has_document(&self, path: &str) -> bool {
        self.learned.index_entry.is_some() && self.api.path().trim_start_matches('/') == path
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
    pub(super) fn find(&mut self, path: &str) -> Option<Served> {
        let mut all = self.apis.values();
        all.find(|served| served.api.serves(path)).cloned()
    }

    pub(super) fn all(&mut self) -> Vec<Served> {
        self.apis.values().cloned().collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Served> {
        self.apis.get(name)
    }

    /// Takes the names of the API services that have to be checked.
    pub(super) fn take_dirty(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.dirty)
    }

    /// Forgets everything, until it is made anew.
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
        // Those that the server makes have their condition from the beginning.
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
        if let Some(known) = self.apis.get_mut(name)
            && *known.api == api
        {
            known.is_available = is_available;
            return false;
        }
        let served = Served {
            api: Arc::new(api),
            is_available,
            learned: Learned::default(),
        };
        self.apis.insert(name.to_owned(), served);
        self.dirty.insert(name.to_owned());
        true
    }

    /// Takes in that a service or its endpoints have changed; returns whether something has to be checked.
    pub(super) fn observe_service(&mut self, namespace: &str, name: &str) -> bool {
        let concerned = self.apis.values().filter(|served| {
            let service = &served.api.service;
            service.namespace == namespace && service.name == name
        });
        let names: Vec<String> = concerned.map(|served| served.api.name.clone()).collect();
        let is_dirty = !names.is_empty();
        self.dirty.extend(names);
        is_dirty
    }

    /// Notes what a server has told of an API, unless the API is another one by now.
    pub(super) fn learn(&mut self, api: &RemoteApi, change: impl FnOnce(&mut Learned)) {
        if let Some(known) = self.apis.get_mut(&api.name)
            && *known.api == *api
        {
            change(&mut known.learned);
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
