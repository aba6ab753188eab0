//! The only writer: takes batches from the queue, publishes them in the cache, and then notifies the handlers.

use std::sync::Arc;

use tokio::{
    sync::{mpsc, oneshot},
    task::yield_now,
    time::{Instant, sleep_until},
};

use super::{
    SharedInformer, apply::apply, deletion_log::DeletionLog, metrics::ApplyMetrics,
    snapshot_iter::snapshot_iter, state::State, sync::EndGuard,
};
use crate::{
    delta_fifo::{Batch, DeltaFifo},
    indexer::{IndexFn, IndexerError, IndexerWriter},
    processor::{Listener, Processor},
    store::Delta,
    task::Spawner,
};

/// Adds or removes an index.
pub(super) enum IndexEdit<K> {
    Add(Arc<str>, IndexFn<K>),
    Remove(Arc<str>),
}

/// A command to the writer.
///
/// The channel is not bounded: each command is a handler or an index that its caller wants to keep.
pub(super) enum Command<K> {
    AddListener(Listener<K>),
    EditIndices {
        edit: IndexEdit<K>,
        reply: oneshot::Sender<Result<(), IndexerError>>,
    },
}

/// Owns all that is written. Dropping it ends the informer.
pub(super) struct Runner<K> {
    pub(super) fifo: DeltaFifo<K>,
    pub(super) writer: IndexerWriter<K>,
    pub(super) processor: Processor<K>,
    pub(super) commands: mpsc::UnboundedReceiver<Command<K>>,
    pub(super) deletions: DeletionLog,
    pub(super) state: State,
    /// The informer whose cache this one takes over, until it has ended.
    pub(super) previous: Option<SharedInformer<K>>,
    /// The last field, so that a task that it wakes finds everything ended.
    pub(super) _end: EndGuard,
}

// === impl Runner ===

impl<K: Send + Sync + 'static> Runner<K> {
    /// Runs until the queue is closed and empty, then until all handlers have received everything; or until the spawner's tasks
    /// are to stop, and then no longer.
    pub(super) async fn run(mut self, spawner: Spawner) {
        let stop = spawner.stop_token().clone();
        if let Some(previous) = self.previous.take() {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = previous.shutdown() => {}
            }
            // What the cache does not hold was absent at its version.
            let version = self.writer.reader().resource_version();
            self.deletions.settle(&version);
        }
        // Only now, so that no handler is called by two informers at once.
        self.processor.start(&spawner, Instant::now());
        loop {
            let resync = self.processor.next_resync();
            let resync_due = async {
                match resync {
                    Some(next) => sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                // First what ends everything; then what few ask for and may wait behind a long queue; then the queue.
                () = stop.cancelled() => return,
                Some(command) = self.commands.recv() => self.on_command(command),
                () = resync_due => self.on_resync(Instant::now()),
                batch = self.fifo.pop() => match batch {
                    Some(batch) => self.on_batch(batch),
                    None => break,
                },
            }
            // A queue that is never empty must not keep the thread from others.
            yield_now().await;
        }
        // Commands first: a handler that came too late ends unregistered, and is not waited for below. Callers that are still
        // waiting receive an error.
        self.commands.close();
        while self.commands.try_recv().is_ok() {}
        self.processor.close();
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = self.processor.ended() => {}
        }
    }

    /// Adds a listener that receives the objects that are held now, as a part of the initial state, and then every change.
    pub(super) fn attach(&mut self, listener: Listener<K>) {
        let present = snapshot_iter(self.writer.reader().snapshot());
        self.processor.attach(listener, present, Instant::now());
    }

    pub(super) fn edit_indices(&mut self, edit: IndexEdit<K>) -> Result<(), IndexerError> {
        match edit {
            IndexEdit::Add(name, function) => self.writer.add_index(name, function),
            IndexEdit::Remove(name) => self.writer.remove_index(&name),
        }
    }

    /// Adds a listener that has received the objects that are held now: it receives every later change.
    pub(super) fn resume(&mut self, listener: Listener<K>) {
        let nothing = Box::new(std::iter::empty());
        self.processor.attach(listener, nothing, Instant::now());
    }

    fn on_command(&mut self, command: Command<K>) {
        match command {
            Command::AddListener(listener) => self.attach(listener),
            Command::EditIndices { edit, reply } => {
                // The caller may have stopped waiting.
                let _ = reply.send(self.edit_indices(edit));
            }
        }
    }

    fn on_resync(&mut self, now: Instant) {
        let reader = self.writer.reader();
        self.processor
            .resync(now, || snapshot_iter(reader.snapshot()));
    }

    fn on_batch(&mut self, batch: Batch<K>) {
        let began = Instant::now();
        let is_live = !batch.is_initial;
        let is_replacement = matches!(batch.deltas[..], [Delta::ReplacedAll(_)]);
        let deletions = &mut self.deletions;
        let applied = self.writer.write(|draft| apply(draft, deletions, batch));
        if is_replacement {
            self.state.stats.replacements.increment();
        }
        // The cache shows it: now others may be notified.
        self.state.progress.advance();
        if applied.stale_count > 0 {
            self.state.stats.stale_versions.add(applied.stale_count);
            tracing::warn!(count = applied.stale_count, "older versions ignored");
        }
        if applied.gone_back_count > 0 {
            self.state
                .stats
                .gone_back_versions
                .add(applied.gone_back_count);
            tracing::warn!(count = applied.gone_back_count, "versions went back");
        }
        self.processor.distribute(applied.notifications, is_live);
        // Finished after the handlers' queues have it: who sees an empty queue may rely on that.
        self.fifo.finish();
        let snapshot = self.writer.reader().snapshot();
        self.state.metrics.note_applied(ApplyMetrics {
            took: began.elapsed(),
            queued_items: self.fifo.queued_items().get(),
            objects: snapshot.len(),
            version: snapshot.resource_version(),
            out_of_shard: self.state.out_of_shard(),
        });
        if self.fifo.has_synced() && !self.state.sync.has_synced() {
            // The mark of the listeners first: after `wait_for_cache_sync`, each one's initial state is known to be complete.
            self.processor.mark_synced();
            self.state.sync.mark_synced();
            tracing::info!(
                rv = %self.writer.reader().resource_version(),
                "informer synced",
            );
        }
    }
}
