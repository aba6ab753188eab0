//! All open watches, and the changes that are queued for each.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

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
    watchers: BTreeMap<GroupResource, OfResource>,
}

/// By when they came.
type Entries = BTreeMap<u64, Entry>;

/// The watches of one resource.
#[derive(Debug, Default)]
struct OfResource {
    /// Those that are asked about every change.
    asked: Entries,
    /// By a field and the value that it must have: those that are only asked about changes that have it.
    indexed: BTreeMap<&'static str, BTreeMap<Box<str>, Entries>>,
}

/// The fields by which watches are found: a kubelet asks for the pods of its node, many ask for one object.
const INDEXED: [&str; 2] = ["spec.nodeName", "metadata.name"];

/// A field, and the value that it must have.
type Place = (&'static str, Box<str>);

#[derive(Debug)]
struct Entry {
    selection: Arc<Selection>,
    /// The user agent up to the first `/`.
    client: Box<str>,
    /// Gone once the watcher was too slow.
    sender: Option<mpsc::Sender<Queued>>,
    cut: CancellationToken,
}

/// A change, and what it is to the watcher.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) kind: EventKind,
    pub(crate) change: Arc<Change>,
}

/// One open watch. It is counted until it is [closed](Self::close) or dropped.
#[derive(Debug)]
pub(crate) struct Watcher {
    watchers: Arc<Watchers>,
    resource: GroupResource,
    id: u64,
    /// Its place in the index.
    place: Option<Place>,
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

    /// Queues every change of `resource` from now on that is in `selection`, for a client of this name.
    ///
    /// To know exactly which ones these are, call it in a view of the store.
    pub(crate) fn register(
        self: &Arc<Self>,
        resource: &GroupResource,
        selection: Arc<Selection>,
        client: &str,
    ) -> (Watcher, mpsc::Receiver<Queued>) {
        let (sender, receiver) = mpsc::channel(self.buffer);
        let cut = CancellationToken::new();
        let mut table = self.lock();
        let id = table.next;
        table.next += 1;
        let place = INDEXED.iter().find_map(|field| {
            let value = selection.fields.required(field)?;
            Some((*field, Box::from(value)))
        });
        let entry = Entry {
            selection,
            client: client.into(),
            sender: Some(sender),
            cut: cut.clone(),
        };
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
        for entry in table.watchers.values().flat_map(OfResource::all) {
            entry.cut.cancel();
        }
    }

    /// Ends the open watches of `resource`, with what is queued for them.
    pub(crate) fn end(&self, resource: &GroupResource) {
        let mut table = self.lock();
        let watchers = table.watchers.get_mut(resource).into_iter();
        for entry in watchers.flat_map(OfResource::all_mut) {
            entry.sender = None;
        }
    }

    /// Returns the number of open watches.
    pub(crate) fn len(&self) -> usize {
        let table = self.lock();
        let all = table.watchers.values().flat_map(OfResource::all);
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
        // The watches of before must not see the changes of after: they end, and nothing is queued for them any more.
        let mut table = self.lock();
        for entry in table.watchers.values_mut().flat_map(OfResource::all_mut) {
            entry.sender = None;
            entry.cut.cancel();
        }
    }
}

// === impl Entry ===

impl Entry {
    /// Queues `change` if it is in the selection. A watcher that is too slow for that gets nothing more.
    fn offer(&mut self, change: &Arc<Change>) {
        let Some(sender) = &self.sender else { return };
        let Some(kind) = self.selection.event(change) else {
            return;
        };
        let queued = Queued {
            kind,
            change: Arc::clone(change),
        };
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

// === impl OfResource ===

impl OfResource {
    fn all(&self) -> impl Iterator<Item = &Entry> {
        let indexed = self.indexed.values().flat_map(BTreeMap::values);
        let entries = [&self.asked].into_iter().chain(indexed);
        entries.flat_map(BTreeMap::values)
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        let indexed = self.indexed.values_mut().flat_map(BTreeMap::values_mut);
        let entries = [&mut self.asked].into_iter().chain(indexed);
        entries.flat_map(BTreeMap::values_mut)
    }

    /// Has those asked that may see a change.
    fn for_each_concerned(&mut self, change: &Change, mut ask: impl FnMut(&mut Entry)) {
        self.asked.values_mut().for_each(&mut ask);
        for (field, values) in &mut self.indexed {
            let sides = [change.before(), change.after()];
            let [before, after] = sides.map(|side| side.map(|side| side.field(field)));
            let found = before.and_then(|value| values.get_mut(value));
            found
                .into_iter()
                .flat_map(BTreeMap::values_mut)
                .for_each(&mut ask);
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
    fn at(&mut self, place: Option<&Place>) -> &mut Entries {
        match place {
            None => &mut self.asked,
            Some((field, value)) => {
                let values = self.indexed.entry(field).or_default();
                values.entry(value.clone()).or_default()
            }
        }
    }

    fn get_mut(&mut self, id: u64, place: Option<&Place>) -> Option<&mut Entry> {
        let entries = match place {
            None => &mut self.asked,
            Some((field, value)) => self.indexed.get_mut(field)?.get_mut(value)?,
        };
        entries.get_mut(&id)
    }

    fn remove(&mut self, id: u64, place: Option<&Place>) {
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
        self.asked.is_empty() && self.indexed.is_empty()
    }
}

// === impl Queued ===

impl Queued {
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

    /// Queues nothing more for this watch, and counts it no more.
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
