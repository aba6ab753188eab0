//! Seam to the server: one page of a list, one stream of watch events, and what can go wrong with them.

mod error;
mod request;

use std::sync::Arc;

use futures::Stream;

use crate::{
    object::{DecodeError, Object, ResourceVersion},
    shard::ShardFilter,
};

pub use self::{
    error::{ListWatchError, Status, StatusCause},
    request::{ListRequest, VersionMatch, WatchRequest},
};
pub use crate::held_objects::{HeldObjects, NoHeldObjects};

/// Lists and watches one selection of one resource: the only way from the informer to a server.
///
/// Implementations translate; they do not retry, wait or decide. Time limits are the caller's.
///
/// # Cancel safety
///
/// Dropping a future or a stream gives up the request.
#[doc(alias = "ListerWatcher")]
#[doc(alias = "ListerWatcherWithContext")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not list and watch `{K}`",
    label = "no `ListWatch<{K}>`",
    note = "with a `kube::Client` there is `SharedInformer::new(client, Scope::All)` (feature `http`); tests have `informer::testing` (feature `testing`)"
)]
pub trait ListWatch<K>: Send + Sync + 'static {
    /// The events of one watch.
    ///
    /// Ends when the server ends the response in good order; an error is the last item.
    type Stream: Stream<Item = Result<WatchEvent<K>, ListWatchError>> + Send + Unpin + 'static;

    /// Asks for one page.
    fn list(
        &self,
        request: &ListRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> impl Future<Output = Result<ListPage<K>, ListWatchError>> + Send;

    /// Opens a watch; resolves when the response's headers are there.
    fn watch(
        &self,
        request: &WatchRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> impl Future<Output = Result<Self::Stream, ListWatchError>> + Send;

    /// The name of what is listed, as in `pods`, for logs, metrics and errors; `None` to go by the type's name.
    fn resource(&self) -> Option<&str> {
        None
    }

    /// The filter of the shard that is listed and watched; `None` if that is everything.
    fn shard_filter(&self) -> Option<Arc<ShardFilter>> {
        None
    }
}

/// Shared by those who ask.
impl<K, L: ListWatch<K>> ListWatch<K> for Arc<L> {
    type Stream = L::Stream;

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request.
    async fn list(
        &self,
        request: &ListRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<ListPage<K>, ListWatchError> {
        (**self).list(request, held).await
    }

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request.
    async fn watch(
        &self,
        request: &WatchRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<L::Stream, ListWatchError> {
        (**self).watch(request, held).await
    }

    fn resource(&self) -> Option<&str> {
        (**self).resource()
    }

    fn shard_filter(&self) -> Option<Arc<ShardFilter>> {
        (**self).shard_filter()
    }
}

/// An object that arrived, or the reason why it could not be decoded. The others are delivered either way.
pub type ArrivedObject<K> = Result<Object<K>, DecodeError>;

/// One page of a list.
#[derive(Debug)]
pub struct ListPage<K> {
    /// The objects in the order of the server: by namespace, then name.
    pub items: Vec<ArrivedObject<K>>,
    /// The version at which the whole list, with all its pages, is exact.
    pub resource_version: ResourceVersion,
    /// The start of the next page; `None` on the last.
    pub continue_token: Option<String>,
}

/// One event of a watch, in the words of the wire.
#[derive(Debug)]
#[non_exhaustive]
pub enum WatchEvent<K> {
    /// The object is new in the selection.
    Added(ArrivedObject<K>),
    /// The object changed within the selection.
    Modified(ArrivedObject<K>),
    /// The object left the selection; its version is that of the change which took it out.
    Deleted(ArrivedObject<K>),
    /// All changes up to this version have been sent.
    Bookmark {
        /// The version.
        resource_version: ResourceVersion,
        /// True if it ends the initial events of a streaming list (`k8s.io/initial-events-end`).
        is_end_of_initial_events: bool,
    },
    /// The watch failed; nothing follows.
    Error(Status),
}
