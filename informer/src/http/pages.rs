//! The pages of a list: the next is asked for while the present one is decoded, on as many threads as there are.

use std::{pin::pin, sync::Arc};

use bytes::Bytes;
use futures::{
    FutureExt,
    future::{BoxFuture, Either, ready, select},
};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::{
    compact::Packer,
    decode::{Decoder, ListBody, Making},
    known::Known,
    list_watch::{Arrived, ListPage, ListWatchError},
    sync::{Mutex, lock},
    task::{TaskSet, has_threads},
};

/// How many items one task decodes.
const CHUNK_LEN: usize = 64;

pub(super) type Body = BoxFuture<'static, Result<Bytes, ListWatchError>>;

/// The page after the one that was asked for last, on its way.
#[derive(Default)]
pub(super) struct NextPage(Mutex<Option<(String, Body)>>);

/// What makes objects of JSON, shared by those who do.
pub(super) struct Maker<K> {
    pub(super) decoder: Arc<Decoder>,
    pub(super) known: Arc<dyn Known<K>>,
    pub(super) packer: Option<Arc<Packer<K>>>,
}

// === impl NextPage ===

impl NextPage {
    /// The page that begins at `token`, if it is the one on its way. What else was is given up.
    pub(super) fn take(&self, token: Option<&str>) -> Option<Body> {
        let (own, body) = lock(&self.0).take()?;
        (Some(&*own) == token).then_some(body)
    }

    fn put(&self, token: String, body: Body) {
        *lock(&self.0) = Some((token, body));
    }
}

// === impl Maker ===

impl<K: DeserializeOwned + Send + Sync + 'static> Maker<K> {
    pub(super) fn making(&self) -> Making<'_, K> {
        Making {
            known: Some(&*self.known),
            packer: self.packer.as_ref(),
        }
    }

    /// Decodes a page, and has the next one brought by `ask` meanwhile, which `next` then keeps.
    pub(super) async fn page(
        &self,
        body: &Bytes,
        next: &NextPage,
        ask: impl FnOnce(&str) -> Body,
    ) -> Result<ListPage<K>, ListWatchError> {
        let mut list = self.decoder.list_body(body)?;
        let Some(token) = list.continue_token().map(str::to_owned) else {
            let items = self.items(body, &mut list).await?;
            return Ok(list.into_page(items));
        };
        let asked = ask(&token);
        let (items, asked) = {
            let items = pin!(self.items(body, &mut list));
            // Asked first, since a small page is decoded at once.
            match select(asked, items).await {
                Either::Left((brought, items)) => (items.await?, ready(brought).boxed()),
                Either::Right((items, asked)) => (items?, asked),
            }
        };
        next.put(token, asked);
        Ok(list.into_page(items))
    }

    async fn items(
        &self,
        body: &Bytes,
        list: &mut ListBody<'_>,
    ) -> Result<Vec<Arrived<K>>, ListWatchError> {
        if list.len() > CHUNK_LEN && has_threads() {
            return self.items_in_parallel(body, list).await;
        }
        let mut items = Vec::with_capacity(list.len());
        while let Some(json) = list.next_json() {
            items.push(self.decoder.object(json, &self.making())?);
            // A list of the whole cluster takes seconds to decode: others on this thread are let in between.
            tokio::task::consume_budget().await;
        }
        Ok(items)
    }

    /// In the order of the list, whoever decodes what. Dropped, it ends what it began.
    async fn items_in_parallel(
        &self,
        body: &Bytes,
        list: &mut ListBody<'_>,
    ) -> Result<Vec<Arrived<K>>, ListWatchError> {
        let len = list.len();
        let tasks = TaskSet::new();
        let mut chunks = Vec::with_capacity(len.div_ceil(CHUNK_LEN));
        while !list.is_empty() {
            let items = std::iter::from_fn(|| list.next_json());
            let items = items.map(|json| body.slice_ref(json.as_bytes()));
            let chunk: Vec<Bytes> = items.take(CHUNK_LEN).collect();
            let (done, decoded) = oneshot::channel();
            let (maker, stop) = (self.clone(), tasks.stop_token().clone());
            tasks.spawn(async move {
                // Whoever waits for it may have gone.
                let _ = done.send(maker.chunk(&chunk, &stop));
            });
            chunks.push(decoded);
        }
        let mut items = Vec::with_capacity(len);
        for decoded in chunks {
            match decoded.await {
                Ok(chunk) => items.extend(chunk?),
                // The runtime goes down: nobody reads the answer any more.
                Err(_) => return std::future::pending().await,
            }
        }
        Ok(items)
    }

    fn chunk(
        &self,
        chunk: &[Bytes],
        stop: &CancellationToken,
    ) -> Result<Vec<Arrived<K>>, ListWatchError> {
        let items = chunk.iter().take_while(|_| !stop.is_cancelled());
        items
            .map(|json| {
                let json = str::from_utf8(json).expect("it was checked with the list");
                self.decoder.object(json, &self.making())
            })
            .collect()
    }
}

impl<K> Clone for Maker<K> {
    fn clone(&self) -> Self {
        Self {
            decoder: Arc::clone(&self.decoder),
            known: Arc::clone(&self.known),
            packer: self.packer.clone(),
        }
    }
}
