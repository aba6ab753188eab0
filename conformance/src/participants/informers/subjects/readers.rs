//! The readers of a cache, each compared with a scan of its objects.

use std::{cell::Cell, sync::Arc};

use informer::{
    LabelSelector, Labels, Lister, ListerError, NamespacedLister, Object, ObjectKey,
    SharedInformer, Snapshot, Store,
};

use super::{indices::TIER, plain_reads};
use crate::{
    plan::{LABEL, NAMESPACES, SLOT, SPOILED},
    trace::{Observation, Part, Recorder},
};

/// The number of selectors that are compared at each observation.
const SELECTORS_AT_ONCE: usize = 3;

/// A selector, and what it selects.
type Case = (&'static str, fn(&Labels) -> bool);

/// A selector with each operator, and some with several requirements.
const SELECTORS: [Case; 13] = [
    ("", |_| true),
    ("tier", |labels| labels.get(LABEL).is_some()),
    ("!tier", |labels| labels.get(LABEL).is_none()),
    ("tier=web", |labels| labels.get(LABEL) == Some("web")),
    ("tier==db", |labels| labels.get(LABEL) == Some("db")),
    ("tier!=web", |labels| labels.get(LABEL) != Some("web")),
    ("tier in (db,web)", |labels| labels.get(LABEL).is_some()),
    ("tier in (db)", |labels| labels.get(LABEL) == Some("db")),
    ("tier notin (db,cache)", |labels| {
        labels.get(LABEL) != Some("db")
    }),
    ("slot>2", |labels| slot(labels).is_some_and(|slot| slot > 2)),
    ("slot<3", |labels| slot(labels).is_some_and(|slot| slot < 3)),
    ("tier=web,!conformance/spoiled", |labels| {
        labels.get(LABEL) == Some("web") && labels.get(SPOILED).is_none()
    }),
    ("slot notin (1),slot>0,tier!=db", |labels| {
        labels.get(LABEL) != Some("db") && slot(labels).is_some_and(|slot| slot > 1)
    }),
];

fn slot(labels: &Labels) -> Option<i64> {
    labels.get(SLOT).and_then(|slot| slot.parse().ok())
}

/// The readers of one informer.
pub(super) struct Readers<K> {
    informer: usize,
    lister: Lister<K>,
    store: Arc<dyn Store<K>>,
    recorder: Recorder,
    /// The selector that is compared next.
    next: Cell<usize>,
    /// The number of selectors that were not compared with the present snapshot yet.
    left: Cell<usize>,
}

// === impl Readers ===

impl<K: Send + Sync + 'static> Readers<K> {
    /// Creates the readers of an informer that was not started, and asks them in vain.
    pub(super) fn new(place: usize, informer: &SharedInformer<K>, recorder: Recorder) -> Self {
        let readers = Self {
            informer: place,
            lister: informer.lister(),
            store: informer.store(),
            recorder,
            next: Cell::new(0),
            left: Cell::new(0),
        };
        let listed = readers.lister.list(&LabelSelector::everything());
        if !matches!(listed, Err(ListerError::NotStarted { .. })) {
            readers.differ("before the start", "a lister lists".to_owned());
        }
        readers
    }

    /// Compares what they find with a scan of `snapshot`, if that is what `informer` still shows afterwards: by a few selectors each
    /// time, until each was compared with it, and by all else if it `is_new`.
    pub(super) fn observe(
        &self,
        informer: &SharedInformer<K>,
        snapshot: &Arc<Snapshot<K>>,
        is_new: bool,
    ) {
        let mut differences = Vec::new();
        if is_new {
            self.left.set(SELECTORS.len());
            differences.extend(self.compare_names(snapshot));
            differences.extend(self.compare_store(snapshot));
        }
        let count = self.left.get().min(SELECTORS_AT_ONCE);
        // Once in a round of the selectors.
        if count > 0 && self.next.get() < SELECTORS_AT_ONCE {
            differences.extend(plain_reads::compare(&informer.indexer(), snapshot));
            let lister = self.lister.namespaced(NAMESPACES[0]);
            differences.extend(plain_reads::ask_in_vain(&lister));
        }
        self.left.set(self.left.get() - count);
        for _ in 0..count {
            let case = self.next.get();
            self.next.set((case + 1) % SELECTORS.len());
            differences.extend(self.compare_selector(SELECTORS[case], snapshot));
        }
        // Other threads may change the cache meanwhile.
        if Arc::ptr_eq(snapshot, &informer.indexer().snapshot()) {
            for (name, text) in differences {
                self.differ(&name, text);
            }
        }
    }

    /// Compares what is selected of all namespaces, and of each.
    fn compare_selector(
        &self,
        (text, is_selected): Case,
        snapshot: &Snapshot<K>,
    ) -> Vec<(String, String)> {
        let selector: LabelSelector = match text.parse() {
            Ok(selector) => selector,
            Err(error) => return vec![(text.to_owned(), format!("does not parse: {error}"))],
        };
        let scan = |namespace: Option<&str>| {
            let objects = snapshot.iter();
            let objects = objects
                .filter(|object| namespace.is_none_or(|of| object.key().namespace() == of))
                .filter(|object| is_selected(object.labels()));
            versions(objects)
        };
        let mut differences = Vec::new();
        let mut compare = |of: Option<&str>, got: Result<Vec<Object<K>>, ListerError>| {
            let (want, got) = (scan(of), got.map(|found| versions(found.iter())));
            if got.as_ref().ok() != Some(&want) {
                let name = format!("`{text}` in {}", of.unwrap_or("all namespaces"));
                differences.push((name, format!("want {want:?}, got {got:?}")));
            }
        };
        compare(None, self.lister.list(&selector));
        for namespace in NAMESPACES {
            let lister = self.lister.namespaced(namespace);
            compare(Some(namespace), lister.list(&selector));
        }
        differences
    }

    /// Compares what is found under the names that are held, under one that is not, and under an index value.
    fn compare_names(&self, snapshot: &Snapshot<K>) -> Vec<(String, String)> {
        let mut differences = Vec::new();
        for object in snapshot.iter() {
            let key = object.key();
            let found = if key.namespace().is_empty() {
                self.lister.get(key.name())
            } else {
                self.lister.namespaced(key.namespace()).get(key.name())
            };
            let want = Some(version(object));
            let got = found.as_ref().ok().map(version);
            if got != want {
                differences.push((key.to_string(), format!("want {want:?}, got {got:?}")));
            }
        }
        let lister: NamespacedLister<K> = self.lister.namespaced(NAMESPACES[0]);
        if !lister
            .get("nobody")
            .is_err_and(|error| error.is_not_found())
        {
            differences.push(("nobody".to_owned(), "is found".to_owned()));
        }
        let objects = snapshot.iter();
        let want = versions(objects.filter(|object| object.labels().get(LABEL) == Some("db")));
        let got = self.lister.by_index(TIER, "db");
        let got = got.map(|found| versions(found.iter()));
        if got.as_ref().ok() != Some(&want) {
            differences.push((
                "db by index".to_owned(),
                format!("want {want:?}, got {got:?}"),
            ));
        }
        differences
    }

    /// Compares the store, and the pages of the snapshot from its middle on.
    fn compare_store(&self, snapshot: &Snapshot<K>) -> Vec<(String, String)> {
        let mut differences = Vec::new();
        let (want, got) = (
            versions(snapshot.iter()),
            versions(self.store.list().iter()),
        );
        if want != got || want.len() != snapshot.len() {
            differences.push(("store".to_owned(), format!("want {want:?}, got {got:?}")));
        }
        let (cached, stored) = (snapshot.resource_version(), self.store.resource_version());
        if *cached != stored {
            differences.push((
                "version of the store".to_owned(),
                format!("want {cached}, got {stored}"),
            ));
        }
        let middle = snapshot.iter().nth(want.len() / 2).map(Object::key);
        let later = versions(snapshot.iter_after(middle));
        let skipped = middle.map_or(0, |_| want.len() / 2 + 1);
        if want[skipped..] != later {
            differences.push((
                "second half".to_owned(),
                format!("want {want:?}, got {later:?}"),
            ));
        }
        differences
    }

    fn differ(&self, name: &str, text: String) {
        self.recorder.record(Observation::Differs {
            informer: self.informer,
            part: Part::Reader,
            name: name.to_owned(),
            text,
        });
    }
}

pub(super) fn version<K>(object: &Object<K>) -> (ObjectKey, String) {
    (object.key().clone(), object.resource_version().to_string())
}

pub(super) fn versions<'a, K: 'a>(
    objects: impl Iterator<Item = &'a Object<K>>,
) -> Vec<(ObjectKey, String)> {
    objects.map(version).collect()
}
