//! Everybody who watches, and the changes that are queued for each.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::{EventKind, Selection};
use crate::storage::{Change, ChangeSink, GroupResource};

/// The open watches of a server.
#[derive(Debug)]
pub(crate) struct Watchers {
    table: Mutex<Table>,
    buffer: usize,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    watchers: BTreeMap<GroupResource, BTreeMap<u64, Entry>>,
}

#[derive(Debug)]
struct Entry {
    selection: Arc<Selection>,
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

    /// Queues every change of `resource` from now on that is in `selection`.
    ///
    /// To know exactly which ones these are, call it in a view of the store.
    pub(crate) fn register(
        self: &Arc<Self>,
        resource: &GroupResource,
        selection: Arc<Selection>,
    ) -> (Watcher, mpsc::Receiver<Queued>) {
        let (sender, receiver) = mpsc::channel(self.buffer);
        let cut = CancellationToken::new();
        let mut table = self.lock();
        let id = table.next;
        table.next += 1;
        table.watchers.entry(resource.clone()).or_default().insert(
            id,
            Entry {
                selection,
                sender: Some(sender),
                cut: cut.clone(),
            },
        );
        drop(table);
        let watcher = Watcher {
            watchers: Arc::clone(self),
            resource: resource.clone(),
            id,
            cut,
        };
        (watcher, receiver)
    }

    /// Ends every open watch, without what is queued for it.
    pub(crate) fn disconnect(&self) {
        let table = self.lock();
        for entry in table.watchers.values().flat_map(BTreeMap::values) {
            entry.cut.cancel();
        }
    }

    /// Ends the open watches of `resource`, with what is queued for them.
    pub(crate) fn end(&self, resource: &GroupResource) {
        let mut table = self.lock();
        let watchers = table.watchers.get_mut(resource).into_iter();
        for entry in watchers.flat_map(BTreeMap::values_mut) {
            entry.sender = None;
        }
    }

    /// How many watches are open.
    pub(crate) fn len(&self) -> usize {
        self.lock().watchers.values().map(BTreeMap::len).sum()
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
        for entry in watchers.values_mut() {
            let Some(sender) = &entry.sender else {
                continue;
            };
            let Some(kind) = entry.selection.event(change) else {
                continue;
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
                entry.sender = None;
            }
        }
    }

    fn reset(&self) {
        // The watches of before must not see the changes of after: they end, and nothing is queued for them any more.
        let mut table = self.lock();
        for entry in table.watchers.values_mut().flat_map(BTreeMap::values_mut) {
            entry.sender = None;
            entry.cut.cancel();
        }
    }
}

// === impl Queued ===

impl Queued {
    /// Those of `changes` that are events to somebody who sees `selection`.
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
        if let Some(entry) = watchers.and_then(|watchers| watchers.get_mut(&self.id)) {
            entry.sender = None;
        }
    }

    /// Queues nothing more for this watch, and counts it no more.
    pub(crate) fn close(&self) {
        let mut table = self.watchers.lock();
        if let Some(watchers) = table.watchers.get_mut(&self.resource) {
            watchers.remove(&self.id);
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
