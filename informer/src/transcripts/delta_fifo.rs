//! The queue between a reflector and a cache, with a writer that waits for room.

use tokio::sync::mpsc;

use super::{Command, Outcome, World, clock::Clock, play};
use crate::{
    delta_fifo::{Batch, DeltaFifo, DeltaFifoOptions, DeltaFifoProducer},
    fixtures::{Value, delta, delta_text},
    store::{ReflectorStore, StoreClosed},
    task::TaskSet,
};

struct DeltaFifoWorld {
    fifo: DeltaFifo<Value>,
    /// The items to be written; `None` once the writer is to end.
    feed: Option<mpsc::UnboundedSender<String>>,
    tasks: TaskSet,
    /// Dropped last.
    clock: Clock,
}

// === impl DeltaFifoWorld ===

impl World for DeltaFifoWorld {
    fn new() -> Self {
        let clock = Clock::new();
        let (fifo, feed, tasks) = queue(&clock, &DeltaFifoOptions::default());
        Self {
            fifo,
            feed: Some(feed),
            tasks,
            clock,
        }
    }

    fn run(&mut self, command: &mut Command<'_>) -> Outcome {
        match command.name() {
            "new" => {
                let mut options = DeltaFifoOptions::default();
                if let Some(capacity) = command.value("capacity")? {
                    options = options.with_capacity(capacity);
                }
                if let Some(batch_max) = command.value("batch-max")? {
                    options = options.with_batch_max(batch_max);
                }
                let (fifo, feed, tasks) = queue(&self.clock, &options);
                (self.fifo, self.feed, self.tasks) = (fifo, Some(feed), tasks);
                Ok(self.state())
            }
            "push" => {
                let feed = self.feed.clone().ok_or("the writer has gone")?;
                let (sent, output) = self.clock.act(|| {
                    let mut words = command.words().into_iter();
                    words.try_for_each(|word| feed.send(word))
                });
                sent.map_err(|_| "the writer has ended")?;
                Ok(output)
            }
            "pop" => {
                let (batch, output) = self.clock.act(|| self.fifo.try_pop());
                let batch = batch.map_or("no batch".to_owned(), |batch| batch_text(&batch));
                Ok(if output == "nothing" {
                    batch
                } else {
                    format!("{batch}\n{output}")
                })
            }
            "finish" => {
                self.fifo.finish();
                Ok(self.state())
            }
            "close" => Ok(self.clock.act(|| self.fifo.close()).1),
            "close-writer" => {
                self.feed = None;
                Ok(self.clock.act(|| ()).1)
            }
            "state" => Ok(self.state()),
            _ => Err(command.unknown()),
        }
    }
}

impl DeltaFifoWorld {
    fn state(&self) -> String {
        let synced = if self.fifo.has_synced() { "" } else { "not " };
        let writing = self.tasks.len();
        format!(
            "{} queued, {synced}synced, {writing} writing",
            self.fifo.len()
        )
    }
}

fn queue(
    clock: &Clock,
    options: &DeltaFifoOptions,
) -> (DeltaFifo<Value>, mpsc::UnboundedSender<String>, TaskSet) {
    let (producer, fifo) = DeltaFifo::channel(options);
    let (feed, changes) = mpsc::unbounded_channel();
    let tasks = TaskSet::new();
    let journal = clock.journal().clone();
    clock.act(|| {
        tasks.spawn(async move {
            if let Err(StoreClosed) = write(producer, changes, &journal).await {
                journal.note("the writer was told that the queue is closed");
            }
        });
    });
    (fifo, feed, tasks)
}

/// Writes what is fed, one after the other, and notes what found room.
async fn write(
    mut queue: DeltaFifoProducer<Value>,
    mut changes: mpsc::UnboundedReceiver<String>,
    journal: &super::clock::Journal,
) -> Result<(), StoreClosed> {
    while let Some(word) = changes.recv().await {
        queue.write(delta(&word)).await?;
        journal.note(format!("queued {word}"));
    }
    Ok(())
}

/// The changes of a batch; those of the initial state in parentheses.
fn batch_text(batch: &Batch<Value>) -> String {
    let deltas = batch.deltas.iter().map(delta_text);
    let deltas: Vec<String> = deltas.collect();
    let deltas = deltas.join(" ");
    if batch.is_initial {
        format!("batch ({deltas})")
    } else {
        format!("batch {deltas}")
    }
}

#[test]
fn transcripts() {
    play::<DeltaFifoWorld>("delta_fifo");
}
