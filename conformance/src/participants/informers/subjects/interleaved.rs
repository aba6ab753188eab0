//! The seam between an informer's client and its store, at which tasks may yield.

use std::sync::Arc;

use futures::{StreamExt, stream::BoxStream};
use informer::list_watch::{
    HeldObjects, ListPage, ListRequest, ListWatch, ListWatchError, WatchEvent, WatchRequest,
};

use crate::interleave::{Seam, Yields};

/// A [`ListWatch`] that may yield before its pages and events.
#[derive(Debug)]
pub(super) struct Interleaved<L> {
    inner: L,
    yields: Yields,
}

// === impl Interleaved ===

impl<L> Interleaved<L> {
    pub(super) fn new(inner: L, yields: Yields) -> Self {
        Self { inner, yields }
    }
}

impl<K, L> ListWatch<K> for Interleaved<L>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
{
    type Stream = BoxStream<'static, Result<WatchEvent<K>, ListWatchError>>;

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request.
    async fn list(
        &self,
        request: &ListRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<ListPage<K>, ListWatchError> {
        let page = self.inner.list(request, held).await;
        self.yields.pass(Seam::Store).await;
        page
    }

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request.
    async fn watch(
        &self,
        request: &WatchRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<Self::Stream, ListWatchError> {
        let events = self.inner.watch(request, held).await?;
        let yields = self.yields.clone();
        let interleaved = events.then(move |event| {
            let yields = yields.clone();
            async move {
                yields.pass(Seam::Store).await;
                event
            }
        });
        Ok(interleaved.boxed())
    }

    fn resource(&self) -> Option<&str> {
        self.inner.resource()
    }
}
