//! Events about objects, aggregated and limited: client-go's `tools/record`.
//!
//! An event tells people what a controller did with an object, or why it could not: `kubectl describe` shows it. An
//! [`EventRecorder`] takes events without waiting, and its task writes them as objects of `v1`, in the namespace of the object that
//! they are about, or in `default` if that has none.
//!
//! `correlator`, a pure function of events and their times, decides how an event is written; `driver` writes it.
//!
//! # Examples
//!
//! ```
//! use std::time::Duration;
//!
//! use informer::events::{EventRecorder, EventType};
//! use k8s_openapi::api::core::v1::{Event, Namespace};
//! use kube::{Api, api::ListParams};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let client = fakeserver::FakeServer::builder().build().client();
//! let recorder = EventRecorder::new(client.clone(), "my-controller");
//! let namespace = Api::<Namespace>::all(client.clone()).get("default").await?;
//! for _ in 0..3 {
//!     recorder.event(&namespace, EventType::Warning, "NotReady", "the quota is used up");
//! }
//! recorder.flush(Duration::from_secs(10)).await?;
//!
//! let events: Api<Event> = Api::namespaced(client, "default");
//! let events = events.list(&ListParams::default()).await?;
//! assert_eq!(events.items.len(), 1);
//! assert_eq!(events.items[0].count, Some(3));
//! recorder.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! - Recording an event takes no time and does not fail; an event may be lost, and then it is counted, by
//!   [`EventRecorder::dropped_count`] and by [metrics].
//! - Events that are equal but for their times are one object with a count. So are, from the tenth on, those of one reason and
//!   one type about one object with different messages; that one has the latest message, after "(combined from similar events): ".
//! - Of one type, 25 events about one object are written at once, and one more every five minutes. What is dropped in between shows
//!   in the count of the next one that is equal to it.
//! - A write that fails is tried 12 times in about two minutes, and other events wait meanwhile: they are written in order. One
//!   that the server refuses, as in a namespace that is being deleted, is given up at once. An attempt whose answer is lost is not
//!   written twice.
//! - The names of events, `OBJECT.TIME` with nanoseconds since 1970 in hexadecimal digits, follow from the clock; no two events of
//!   one recorder have the same.
//! - Memory has limits: 1,000 events that wait, and the keys of 4,096 events, groups and objects; a group has nine messages.
//!
//! The limits are [options](EventRecorderOptions). It takes the rights to `create` and `patch` events in the namespaces of the
//! objects.
//!
//! # Where it differs from client-go
//!
//! | there | here |
//! |---|---|
//! | broadcaster, sink and recorder are three values | one |
//! | windows and limits go by the times at which events are written | by those at which they occurred, however slow the server is |
//! | an answer with an error of the server, such as 500 or 429, drops the event | it is tried again |
//! | a message that has an event of its own may be combined later on | it keeps its event |
//! | objects with names that an event cannot have get random names | names from a hash, the same in every run |
//! | two events of one object in the same nanosecond are one too many | the second is named by the next nanosecond |
//! | a shutdown waits for nothing | it waits until what is queued is written, within a limit |
//!
//! Events of `events.k8s.io`, with an action and a series, are not here, and neither are annotations of events.

mod options;
mod error;
pub mod metrics;
mod lru;
mod correlator;
mod driver;
mod event_recorder;
#[cfg(test)]
mod tests;

pub use self::{
    error::FlushError,
    event_recorder::{EventRecorder, EventType, object_reference},
    options::EventRecorderOptions,
};
