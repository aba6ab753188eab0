//! All open watches, and the changes that are queued for each.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use fakeserver_kinds::{ResourceType, registry::Registry};
use fakeserver_value::resource::GroupResource;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::{EventKind, Selection};
use crate::store::{Change, ChangeSink};

/// The open watches of a server.
#[derive(Debug)]
pub(crate) struct Watchers {
    table: Mutex<Table>,
    buffer: usize,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    watchers: BTreeMap<GroupResource, ResourceWatchers>,
}

/// By when they came.
type Entries = BTreeMap<u64, Entry>;

/// The watches of one resource.
#[derive(Debug, Default)]
struct ResourceWatchers {
    /// The watches that have to check every change.
    unindexed: Entries,
    /// The watches of a required field value: they only check changes with that value.
    indexed: BTreeMap<&'static str, BTreeMap<Box<str>, Entries>>,
}

/// The indexed fields: a kubelet selects the pods of its node, and many clients select a single object.
const INDEXED: [&str; 2] = ["spec.nodeName", "metadata.name"];

/// An indexed field, with its required value.
type FieldValue = (&'static str, Box<str>);

#[derive(Debug)]
struct Entry {
    selection: Arc<Selection>,
    /// The type in which it is served.
    served: Arc<ResourceType>,
    /// The user agent up to the first `/`.
    client: Box<str>,
    /// Gone once the watcher was too slow.
    sender: Option<mpsc::Sender<QueuedChange>>,
    cut: CancellationToken,
}

/// A change, with its event type for the watcher.
#[derive(Debug)]
pub(crate) struct QueuedChange {
    pub(crate) kind: EventKind,
    pub(crate) change: Arc<Change>,
}

/// An open watch. It counts until it is [closed](Self::close) or dropped.
#[derive(Debug)]
pub(crate) struct Watcher {
    watchers: Arc<Watchers>,
    resource: GroupResource,
    id: u64,
    /// The required field value by which the watch is indexed.
    place: Option<FieldValue>,
    cut: CancellationToken,
}

// === impl Watchers ===

impl Watchers {
    /// Every watcher can be `buffer` changes behind.
    pub(crate) fn new(buffer: usize) -> Self {
        Self {
            table: Mutex::default(),
            buffer: buffer.max(1),
        }
    }

    /// Queues every change of the resource of `served` from now on that is in `selection`, for a client of this name.
    ///
    /// Call it in a view of the store, so that the first queued change is well-defined.
    pub(crate) fn register(
        self: &Arc<Self>,
        served: &Arc<ResourceType>,
        selection: Arc<Selection>,
        client: &str,
    ) -> (Watcher, mpsc::Receiver<QueuedChange>) {
        let (sender, receiver) = mpsc::channel(self.buffer);
        let cut = CancellationToken::new();
        let mut table = self.lock();
        let id = table.next;
        table.next += 1;
        // By the first indexed field that the selection requires: a watch is in the index once, so that no change is
        // offered twice.
        let place = INDEXED.iter().find_map(|field| {
            let value = selection.fields.required(field)?;
            Some((*field, Box::from(value)))
        });
        let entry = Entry {
            selection,
            served: Arc::clone(served),
            client: client.into(),
            sender: Some(sender),
            cut: cut.clone(),
        };
        let resource = served.rules.storage();
        let watchers = table.watchers.entry(resource.clone()).or_default();
        watchers.at(place.as_ref()).insert(id, entry);
        drop(table);
        let watcher = Watcher {
            watchers: Arc::clone(self),
            resource: resource.clone(),
            id,
            place,
            cut,
        };
        (watcher, receiver)
    }

    /// Ends every open watch, without what is queued for it.
    pub(crate) fn disconnect(&self) {
        let table = self.lock();
        // The senders stay: a watch that ends at once needs no end of its queue.
        for entry in table.watchers.values().flat_map(ResourceWatchers::all) {
            entry.cut.cancel();
        }
    }

    /// Ends the open watches of `resource`, with what is queued for them.
    pub(crate) fn end(&self, resource: &GroupResource) {
        let mut table = self.lock();
        let watchers = table.watchers.get_mut(resource).into_iter();
        for entry in watchers.flat_map(ResourceWatchers::all_mut) {
            entry.sender = None;
        }
    }

    /// Ends the open watches of types that `registry` does not have, with what is queued for them.
    pub(crate) fn end_unserved(&self, registry: &Registry) {
        let mut table = self.lock();
        let watchers = table.watchers.values_mut();
        for entry in watchers.flat_map(ResourceWatchers::all_mut) {
            if !registry.serves(&entry.served) {
                entry.sender = None;
            }
        }
    }

    /// Returns the number of open watches.
    pub(crate) fn len(&self) -> usize {
        let table = self.lock();
        let all = table.watchers.values().flat_map(ResourceWatchers::all);
        all.count()
    }

    /// Returns the number of open watches of each client and resource.
    pub(crate) fn by_client(&self) -> BTreeMap<(Box<str>, GroupResource), usize> {
        let table = self.lock();
        let mut counts: BTreeMap<(Box<str>, GroupResource), usize> = BTreeMap::new();
        for (resource, watchers) in &table.watchers {
            let mut clients: BTreeMap<&str, usize> = BTreeMap::new();
            for entry in watchers.all() {
                *clients.entry(&entry.client).or_default() += 1;
            }
            let named = clients.into_iter();
            counts.extend(named.map(|(client, count)| ((client.into(), resource.clone()), count)));
        }
        counts
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeSink for Watchers {
    fn changed(&self, change: &Arc<Change>) {
        let mut table = self.lock();
        let Some(watchers) = table.watchers.get_mut(change.resource()) else {
            return;
        };
        watchers.for_each_concerned(change, |entry| entry.offer(change));
    }

    fn reset(&self) {
        // Watches from before a reset must not see later changes: they end, and their queues are closed.
        let mut table = self.lock();
        for entry in table
            .watchers
            .values_mut()
            .flat_map(ResourceWatchers::all_mut)
        {
            entry.sender = None;
            entry.cut.cancel();
        }
    }
}

// === impl Entry ===

impl Entry {
    /// Queues `change` if it is in the selection. A watcher whose buffer is full is evicted.
    fn offer(&mut self, change: &Arc<Change>) {
        let Some(sender) = &self.sender else { return };
        let Some(kind) = self.selection.event(change) else {
            return;
        };
        let queued = QueuedChange {
            kind,
            change: Arc::clone(change),
        };
        // Never waits: this runs under the store's lock, and one slow client must not stop all writes. Upstream's watch
        // cache evicts the watcher, too.
        if let Err(mpsc::error::TrySendError::Full(_)) = sender.try_send(queued) {
            debug!(
                resource = %change.resource(),
                rv = change.revision(),
                "slow watcher cut off"
            );
            self.sender = None;
        }
    }
}

// === impl ResourceWatchers ===

impl ResourceWatchers {
    fn all(&self) -> impl Iterator<Item = &Entry> {
        let indexed = self.indexed.values().flat_map(BTreeMap::values);
        let entries = [&self.unindexed].into_iter().chain(indexed);
        entries.flat_map(BTreeMap::values)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        let indexed = self.indexed.values_mut().flat_map(BTreeMap::values_mut);
        let entries = [&mut self.unindexed].into_iter().chain(indexed);
        entries.flat_map(BTreeMap::values_mut)
    }

    /// Offers a change to the watches that may select it.
    fn for_each_concerned(&mut self, change: &Change, mut ask: impl FnMut(&mut Entry)) {
        self.unindexed.values_mut().for_each(&mut ask);
        for (field, values) in &mut self.indexed {
            let sides = [change.before(), change.after()];
            let [before, after] = sides.map(|side| side.map(|side| side.field(field)));
            let found = before.and_then(|value| values.get_mut(value));
            found
                .into_iter()
                .flat_map(BTreeMap::values_mut)
                .for_each(&mut ask);
            // Offered on both sides: an object that leaves the required value is a deletion for its watchers, one that
            // enters it an addition. Not twice if the value stays.
            if after != before {
                let found = after.and_then(|value| values.get_mut(value));
                found
                    .into_iter()
                    .flat_map(BTreeMap::values_mut)
                    .for_each(&mut ask);
            }
        }
    }

    /// The watches of one place.
    fn at(&mut self, place: Option<&FieldValue>) -> &mut Entries {
        match place {
            None => &mut self.unindexed,
            Some((field, value)) => {
                let values = self.indexed.entry(field).or_default();
                values.entry(value.clone()).or_default()
            }
        }
    }

    fn get_mut(&mut self, id: u64, place: Option<&FieldValue>) -> Option<&mut Entry> {
        let entries = match place {
            None => &mut self.unindexed,
            Some((field, value)) => self.indexed.get_mut(field)?.get_mut(value)?,
        };
        entries.get_mut(&id)
    }

    fn remove(&mut self, id: u64, place: Option<&FieldValue>) {
        let entries = self.at(place);
        entries.remove(&id);
        if let Some((field, value)) = place
            && entries.is_empty()
            && let Some(values) = self.indexed.get_mut(field)
        {
            values.remove(value);
            if values.is_empty() {
                self.indexed.remove(field);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.unindexed.is_empty() && self.indexed.is_empty()
    }
}

// === impl QueuedChange ===

impl QueuedChange {
    /// Returns those of `changes` that are events to a watch of `selection`.
    pub(crate) fn all(changes: Vec<Arc<Change>>, selection: &Selection) -> Vec<Self> {
        changes
            .into_iter()
            .filter_map(|change| {
                let kind = selection.event(&change)?;
                Some(Self { kind, change })
            })
            .collect()
    }
}

// === impl Watcher ===

impl Watcher {
    /// Fires when the watch is to end at once.
    pub(crate) fn cut(&self) -> &CancellationToken {
        &self.cut
    }

    /// Queues nothing more for this watch; what is queued is still sent.
    pub(crate) fn cut_off(&self) {
        let mut table = self.watchers.lock();
        let watchers = table.watchers.get_mut(&self.resource);
        let place = self.place.as_ref();
        if let Some(entry) = watchers.and_then(|watchers| watchers.get_mut(self.id, place)) {
            entry.sender = None;
        }
    }

    /// Stops queueing changes for this watch, and uncounts it.
    pub(crate) fn close(&self) {
        let mut table = self.watchers.lock();
        if let Some(watchers) = table.watchers.get_mut(&self.resource) {
            watchers.remove(self.id, self.place.as_ref());
            if watchers.is_empty() {
                table.watchers.remove(&self.resource);
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.close();
    }
}
