//! The async shell: one end that waits for room, one that waits for items.

use std::sync::Arc;

use tokio::sync::{Notify, Semaphore};

use super::{Batch, DeltaFifoOptions, queue::Queue};
use crate::{
    counter::Gauge,
    store::{Delta, ReflectorStore, StoreClosed},
    sync::{Mutex, MutexGuard},
};

/// The end that changes are taken from. There is one.
///
/// Dropping it closes the queue and drops what is in it.
#[doc(alias = "RealFIFO")]
#[doc(alias = "DeltaFIFO")]
#[doc(alias = "QueueWithBatch")]
#[derive(Debug)]
pub struct DeltaFifo<K> {
    shared: Arc<Shared<K>>,
    batch_max: usize,
}

/// The end that a reflector writes to. There is one.
///
/// Dropping it closes the queue; what is in it can still be taken.
#[derive(Debug)]
pub struct DeltaFifoProducer<K> {
    shared: Arc<Shared<K>>,
}

#[derive(Debug)]
struct Shared<K> {
    queue: Mutex<Queue<K>>,
    /// One permit for each item that there is room for. Closed with the queue, which ends the waiting.
    room: Semaphore,
    /// Wakes the consumer: there is an item, or the queue was closed.
    changed: Notify,
    queued_items: Gauge,
}

// === impl DeltaFifo ===

impl<K> DeltaFifo<K> {
    /// The two ends of a new queue.
    pub fn channel(options: &DeltaFifoOptions) -> (DeltaFifoProducer<K>, Self) {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue::new()),
            room: Semaphore::new(options.capacity.clamp(1, Semaphore::MAX_PERMITS)),
            changed: Notify::new(),
            queued_items: Gauge::default(),
        });
        let producer = DeltaFifoProducer {
            shared: Arc::clone(&shared),
        };
        let batch_max = options.batch_max.max(1);
        (producer, Self { shared, batch_max })
    }

    /// Waits for the next batch; `None` once the queue is closed and empty.
    ///
    /// Asking for the next says that the last one has been processed, as [`finish`](Self::finish) does.
    ///
    /// # Cancel safety
    ///
    /// A call that was dropped has taken nothing.
    pub async fn pop(&mut self) -> Option<Batch<K>> {
        loop {
            // Looked up first: what was queued before the queue was closed is still taken.
            let is_closed = self.shared.queue().is_closed();
            if let Some(batch) = self.try_pop() {
                return Some(batch);
            }
            if is_closed {
                return None;
            }
            // A change between the look and the wait leaves a permit, so it is not missed.
            self.shared.changed.notified().await;
        }
    }

    /// The next batch, if there is one now.
    pub fn try_pop(&mut self) -> Option<Batch<K>> {
        let mut queue = self.shared.queue();
        let batch = queue.pop(self.batch_max)?;
        self.shared.queued_items.set(queue.len());
        drop(queue);
        self.shared.room.add_permits(batch.deltas.len());
        Some(batch)
    }

    /// Marks the last popped item as processed: the cache shows it, and the handlers' queues have it.
    pub fn finish(&mut self) {
        self.shared.queue().finish();
    }

    /// Refuses more; what is queued can still be taken.
    pub fn close(&mut self) {
        self.shared.close();
    }

    /// Returns whether the first replacement has been processed, not merely taken.
    #[doc(alias = "HasSynced")]
    pub fn has_synced(&self) -> bool {
        self.shared.queue().has_synced()
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.shared.queue().len()
    }

    /// Returns whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length as a metric, `informer_queued_items`, readable from anywhere.
    pub(crate) fn queued_items(&self) -> Gauge {
        self.shared.queued_items.clone()
    }
}

impl<K> Drop for DeltaFifo<K> {
    fn drop(&mut self) {
        self.shared.close();
        while self.try_pop().is_some() {}
    }
}

// === impl DeltaFifoProducer ===

impl<K: Send + Sync + 'static> ReflectorStore<K> for DeltaFifoProducer<K> {
    /// Queues `delta` when there is room.
    ///
    /// # Cancel safety
    ///
    /// A call that was dropped before it resolved has queued nothing.
    async fn write(&mut self, delta: Delta<K>) -> Result<(), StoreClosed> {
        let permit = self.shared.room.acquire().await.map_err(|_| StoreClosed)?;
        let mut queue = self.shared.queue();
        if queue.is_closed() {
            return Err(StoreClosed);
        }
        // The room comes back when the item is popped.
        permit.forget();
        queue.push(delta);
        self.shared.queued_items.set(queue.len());
        drop(queue);
        // After the lock is released: the consumer that wakes takes it at once.
        self.shared.changed.notify_one();
        Ok(())
    }
}

impl<K> Drop for DeltaFifoProducer<K> {
    fn drop(&mut self) {
        self.shared.close();
    }
}

// === impl Shared ===

impl<K> Shared<K> {
    fn close(&self) {
        // The queue before the room: a producer that gets a permit meanwhile finds it closed.
        self.queue().close();
        self.room.close();
        self.changed.notify_one();
    }

    fn queue(&self) -> MutexGuard<'_, Queue<K>> {
        self.queue
            .lock()
            .expect("nothing panics while it holds the queue")
    }
}
