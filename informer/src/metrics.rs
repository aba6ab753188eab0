//! Names of the metrics that informers and their handlers record through the `metrics` facade: client-go's names where it has
//! any.
//!
//! # Informers
//!
//! Every series has the labels `name` (the informer's identity, see
//! [`SharedInformerBuilder::with_name`](crate::SharedInformerBuilder::with_name)) and `resource`. Informers with equal
//! labels share their series: counts add up, and a gauge shows what was set last. Give them names to distinguish them.
//!
//! | name | kind | unit | what it counts | client-go |
//! |---|---|---|---|---|
//! | [`LISTS_TOTAL`] | counter | requests | pages of lists that were asked for | the same; until 1.32 it counted whole lists |
//! | [`LIST_DURATION_SECONDS`] | histogram | seconds | from the first page to the last of a list | the same |
//! | [`ITEMS_PER_LIST`] | histogram | objects | objects in a list | the same |
//! | [`WATCHES_TOTAL`] | counter | requests | watches that were asked for, streaming lists among them | the same |
//! | [`SHORT_WATCHES_TOTAL`] | counter | streams | watches that ended within a second and brought nothing | the same |
//! | [`WATCH_DURATION_SECONDS`] | histogram | seconds | how long a watch lived | the same |
//! | [`ITEMS_PER_WATCH`] | histogram | events | events and bookmarks of a watch | the same |
//! | [`LAST_RESOURCE_VERSION`] | gauge | | the version of the last whole state | the same |
//! | [`FAILURES_TOTAL`] | counter | failures | requests and streams that failed | none |
//! | [`QUEUED_ITEMS`] | gauge | items | changes that wait to be applied | the same |
//! | [`PROCESSING_LATENCY_SECONDS`] | histogram | seconds | how long it took to apply a batch and to hand it to the handlers | the same, a change at a time |
//! | [`STORE_RESOURCE_VERSION`] | gauge | | the version at which the cache stands | the same |
//! | [`STORE_OBJECTS`] | gauge | objects | objects in the cache | none |
//! | [`OUT_OF_SHARD_TOTAL`] | counter | objects, events | what the server sent although it is outside of the [shard](crate::shard); only informers of a shard have it | none |
//!
//! Of versions the last 15 digits are shown, which is what a gauge can hold exactly. The first eight were taken out of client-go,
//! since each reflector made series of its own; here they are by name and resource.
//!
//! A recorder must be installed before the informer is built. When the informer ends, its gauges go to zero; the facade has no
//! way to take a series out.
//!
//! # Handlers
//!
//! | name | kind | unit | what it counts | client-go |
//! |---|---|---|---|---|
//! | [`PENDING_NOTIFICATIONS`] | gauge | notifications | notifications that a handler has yet to receive | none; wished for in KEP-4346 |
//! | [`NOTIFICATIONS_TOTAL`] | counter | notifications | notifications that a handler has received | none |
//! | [`COALESCED_NOTIFICATIONS_TOTAL`] | counter | notifications | what was merged, since a handler was slow | none |
//! | [`HANDLER_PANICS_TOTAL`] | counter | panics | calls that a handler panicked in | none |
//!
//! The labels are those of the informer, and `handler`, its name. The gauge goes to zero when the handler ends.
//!
//! [Work queues](crate::workqueue::metrics) and [event recorders](crate::events::metrics) have metrics of their own.

pub use crate::{processor::metrics::*, shared_informer::metrics::*};
