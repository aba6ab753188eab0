//! Keys to reconcile, each at most once at a time: delaying, rate limited, by priority.
//!
//! There is one queue type, and options. client-go has a family (base, delaying, rate limited) whose members wrap each
//! other, and controller-runtime another one with priorities; but a base queue is a queue in which no item is delayed
//! and all priorities are equal, so that the family is one table with three columns, and only a single owner of that
//! table can say when a drain is over, merge a delayed item with a queued one, or give an item back to its place.
//! [`WorkQueueOptions::new`] keeps client-go's rules, [`WorkQueueOptions::controller_runtime`] those of its priority
//! queue.
//!
//! # Examples
//!
//! ```
//! use std::time::Duration;
//!
//! use informer::{ObjectKey, workqueue::{Action, WorkQueue, WorkQueueOptions, Workers, WorkersOptions}};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let queue = WorkQueue::with_options(WorkQueueOptions::new().with_name("pods"));
//! let workers = Workers::start(&queue, WorkersOptions::new(2), async |key: ObjectKey| {
//!     println!("make the world as {key} wants it");
//!     Ok::<_, std::io::Error>(Action::RequeueAfter(Duration::from_mins(10)))
//! });
//! queue.add(ObjectKey::new("default", "web-0"));
//! workers.shutdown().await;
//! # }
//! ```
//!
//! Or by hand, which is what [`Workers`] do:
//!
//! ```
//! # use informer::workqueue::WorkQueue;
//! # async fn reconcile(_: &str) -> Result<(), ()> { Ok(()) }
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! # let queue = WorkQueue::new();
//! # queue.add("default/web-0");
//! # queue.shut_down();
//! while let Some(item) = queue.get().await {
//!     match reconcile(&item).await {
//!         Ok(()) => queue.forget(&item),
//!         Err(()) => queue.add_rate_limited(*item),
//!     }
//!     // Dropping the item is `Done`.
//! }
//! # }
//! ```
//!
//! # What it promises
//!
//! - An item is in one worker's hands at a time.
//! - An add is never lost: after it, the item is handed out; an item that is in flight is handed out again afterwards.
//! - Any number of adds are at most one item in the queue and one in flight.
//! - Items of one priority are handed out in the order of their first add; an item that is queued again goes to the end.
//!   An item that became due is ahead of what was added after that moment.
//! - Items of a higher priority are handed out first, but no item waits for ever: every so often it is the turn of the
//!   oldest ([`WorkQueueOptions::with_fair_share`]).
//! - A delayed item is not handed out before its time.
//! - After a shutdown, nothing new is taken in, and what is in the queue is still handed out.
//!
//! # Items
//!
//! An item is any `Ord + Clone + Send + 'static` value, and should be cheap to clone, as
//! [`ObjectKey`](crate::ObjectKey) is. `Ord`, because the tables are ordered trees: the same calls give the same order
//! in every run, which hashing at random would not, and adversarial keys cost no more than others. `Clone`, because the
//! queue and the worker both hold it. Its `Ord`, `Clone` and `Drop` run under the queue's lock, so they must not panic
//! and must not call the queue.
//!
//! # Traps of client-go that are avoided
//!
//! | there | here |
//! |---|---|
//! | a drain returns when nothing is being processed, even with items in the queue that no worker has taken yet | it waits for the queue too |
//! | while a dirty item is in flight, other workers see the queue as ended, and may leave the item behind | [`get`](WorkQueue::get) waits for an item that will be queued again |
//! | `Done` of an item that one does not hold queues it twice | `Done` is the drop of a [`WorkItem`], which only its holder has |
//! | a worker that panics or returns early never calls `Done`; the item is stuck, and a drain hangs | dropping is `Done`, also in a panic or a cancellation |
//! | a drainer and a getter share one signal, and may take each other's wake-up | each item is put aside for the one that waited longest, and wakes that one |
//! | an item that is sent to a reader who has gone is lost (a trap of channels) | it gets its place back |
//! | `AddAfter` blocks once 1,000 delayed items were not picked up | it never blocks |
//! | a task looks at the delayed items every 10 s, and lives on for as long after a shutdown | there is no task: a waiting getter keeps the timer |
//! | delayed items can neither be seen nor cancelled | [`delayed`](WorkQueue::delayed), [`delayed_until`](WorkQueue::delayed_until), [`cancel_delayed`](WorkQueue::cancel_delayed) |
//! | an add does not cancel a delayed one | the same by default; [`DelayedItems::Merged`] makes them one |
//! | failures of an item that is never forgotten stay in memory for ever | they are forgotten when they are old |
//! | failures are counted after a shutdown, for a retry that will not come | they are not |
//! | the depth leaves out what became due while all workers are busy, until one looks | the refresh of metrics looks |
//! | a queue that went away leaves its last values in the gauges | it takes them back |
//! | (controller-runtime) a shutdown drops what is queued, a drain does too, a second shutdown panics | three shutdowns that do what they say, as often as you like |
//! | (controller-runtime) low priorities starve while higher ones come | they have a share, unless [priorities are strict](WorkQueueOptions::with_strict_priority) |
//!
//! A pluggable queue order (client-go's `Queue` with `Touch`) is not offered: priorities are what it was used for, and an
//! add that raises one is the touch.

pub mod limiters;
mod priority;
mod waiting;
mod ready;
mod queue;
mod getters;
mod driver;
pub mod metrics;
mod options;
mod work_item;
mod work_queue;
mod workers;
mod parallelize;
mod enqueue;
#[cfg(all(test, not(feature = "_shuttle")))]
mod tests;

pub use self::{
    enqueue::{Enqueue, OwnerKind},
    limiters::RateLimiter,
    options::{AddOptions, DelayedItems, WorkQueueOptions},
    parallelize::parallelize_until,
    priority::Priority,
    work_item::WorkItem,
    work_queue::{DrainResult, WorkQueue},
    workers::{Action, Workers, WorkersOptions},
};
