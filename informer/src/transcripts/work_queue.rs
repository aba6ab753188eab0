//! A work queue, with workers who hold items or wait for one.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use tokio::time::Instant;

use super::{Command, Outcome, World, clock::Clock, play};
use crate::{
    task::TaskSet,
    workqueue::{
        AddOptions, DelayedItems, WorkItem, WorkQueue, WorkQueueOptions,
        limiters::ItemExponentialFailure,
    },
};

struct WorkQueueWorld {
    queue: WorkQueue<String>,
    held: BTreeMap<String, WorkItem<String>>,
    tasks: TaskSet,
    /// Dropped last.
    clock: Clock,
}

// === impl WorkQueueWorld ===

impl World for WorkQueueWorld {
    fn new() -> Self {
        Self {
            queue: WorkQueue::new(),
            held: BTreeMap::new(),
            tasks: TaskSet::new(),
            clock: Clock::new(),
        }
    }

    fn run(&mut self, command: &mut Command<'_>) -> Outcome {
        match command.name() {
            "new" => {
                // Without the bucket, whose delays are those of all items.
                let mut options =
                    WorkQueueOptions::new().with_rate_limiter(ItemExponentialFailure::default());
                if command.flag("merged")? {
                    options = options.with_delayed_items(DelayedItems::Merged);
                }
                if command.flag("strict")? {
                    options = options.with_strict_priority();
                }
                self.held.clear();
                self.queue = WorkQueue::with_options(options);
                Ok(self.state())
            }
            "add" => self.add(command),
            "get" => Ok(self.get()),
            "wait" => {
                let name = command.word()?;
                Ok(self.wait_for_item(name))
            }
            "done" => {
                let name = command.word()?;
                let item = self.held.remove(&name);
                let item = item.ok_or_else(|| format!("nobody holds {name}"))?;
                let ((), output) = self.clock.act(|| item.done());
                Ok(self.and_state(&output))
            }
            "forget" => {
                let name = command.word()?;
                self.clock.act(|| self.queue.forget(&name));
                Ok(self.state())
            }
            "advance" => {
                let output = self.clock.advance(command.word_of_time()?);
                Ok(self.and_state(&output))
            }
            "shut-down" => {
                let ((), output) = self.clock.act(|| self.queue.shut_down());
                Ok(self.and_state(&output))
            }
            "shut-down-now" => {
                let ((), output) = self.clock.act(|| self.queue.shut_down_now());
                Ok(self.and_state(&output))
            }
            "drain" => Ok(self.drain()),
            "state" => Ok(self.state()),
            _ => Err(command.unknown()),
        }
    }
}

impl WorkQueueWorld {
    /// `add [after=TIME] [limited] [priority=N]` and the items.
    fn add(&mut self, command: &mut Command<'_>) -> Outcome {
        let mut options = AddOptions::new();
        if let Some(after) = command.time("after")? {
            options = options.with_after(after);
        }
        if command.flag("limited")? {
            options = options.with_rate_limit();
        }
        if let Some(priority) = command.value::<i32>("priority")? {
            options = options.with_priority(priority);
        }
        let word = command.word()?;
        let ((), output) = self.clock.act(|| self.queue.add_with(word, options));
        Ok(self.and_state(&output))
    }

    /// Takes the item that is ready, if there is one.
    fn get(&mut self) -> String {
        let (next, _) = self.clock.act(|| now_or_never(self.queue.get()));
        match next {
            None => "nothing is ready".to_owned(),
            Some(None) => "the queue is over".to_owned(),
            Some(Some(item)) => {
                let name = String::clone(&item);
                self.held.insert(name.clone(), item);
                name
            }
        }
    }

    /// Lets a worker wait for an item, which it is done with at once.
    fn wait_for_item(&mut self, name: String) -> String {
        let (queue, journal) = (self.queue.clone(), self.clock.journal().clone());
        let output = self.clock.act(|| {
            self.tasks.spawn(async move {
                match queue.get().await {
                    Some(item) => journal.note(format!("{name} works on {}", *item)),
                    None => journal.note(format!("{name} is told that the queue is over")),
                }
            });
        });
        output.1
    }

    fn drain(&mut self) -> String {
        let (queue, journal) = (self.queue.clone(), self.clock.journal().clone());
        let output = self.clock.act(|| {
            self.tasks.spawn(async move {
                let drained = queue.shut_down_with_drain().await;
                journal.note(format!("drained: {drained:?}"));
            });
        });
        output.1
    }

    fn and_state(&self, output: &str) -> String {
        match output {
            "nothing" => self.state(),
            output => format!("{output}\n{}", self.state()),
        }
    }

    fn state(&self) -> String {
        let look = || {
            let delayed = self.queue.delayed().into_iter().map(|(item, due)| {
                let after = due.saturating_duration_since(Instant::now());
                format!("{item} in {after:?}")
            });
            let mut words = vec![format!("{} queued", self.queue.len())];
            if self.queue.processing_len() > 0 {
                words.push(format!("{} in flight", self.queue.processing_len()));
            }
            words.extend(delayed);
            if self.queue.is_shutting_down() {
                words.push("shutting down".to_owned());
            }
            words.join(", ")
        };
        self.clock.act(look).0
    }
}

/// Returns the output of `future` if it is ready at once.
fn now_or_never<F: Future>(future: F) -> Option<F::Output> {
    let mut cx = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut cx) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

#[test]
fn transcripts() {
    play::<WorkQueueWorld>("work_queue");
}
