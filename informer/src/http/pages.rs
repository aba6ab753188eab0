//! The pages of a list: each is decoded while it arrives, on as many threads as there are, and the next is asked for
//! meanwhile.

use std::{collections::VecDeque, pin::pin, sync::Arc};

use bytes::Bytes;
use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, Either, pending, ready, select},
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Answer, response::Chunks};
use crate::{
    decode::{Decoder, Form, ListReader, Making},
    encoding::Encoding,
    known::Known,
    list_watch::{Arrived, ListPage, ListWatchError},
    shard::ShardFilter,
    sync::{Mutex, lock},
    task::{TaskSet, has_threads},
};

/// The number of items that one task decodes.
const CHUNK_LEN: usize = 64;
/// The largest number of tasks: a body that arrives faster than it is decoded waits.
const CHUNKS_MAX: usize = 16;

pub(super) type Ordered = BoxFuture<'static, Result<Answer<Bytes>, ListWatchError>>;

/// The page after the one that was asked for last, on its way.
#[derive(Default)]
pub(super) struct NextPage(Mutex<Option<(String, Ordered)>>);

/// Makes objects from their bytes, shared by the tasks that do so.
pub(super) struct Maker<K> {
    pub(super) decoder: Arc<Decoder>,
    pub(super) known: Arc<dyn Known<K>>,
    pub(super) form: Arc<dyn Form<K>>,
    pub(super) shard: Option<Arc<ShardFilter>>,
}

/// The page after the one that is being decoded, once it is known where that begins.
#[derive(Default)]
struct Following {
    asked: Option<(String, Ordered)>,
    /// The answer, if it has arrived.
    brought: Option<Result<Answer<Bytes>, ListWatchError>>,
}

/// The items of a page, decoded in the order in which they came. Dropped, it ends what it began.
struct Decoding<'a, K> {
    maker: &'a Maker<K>,
    encoding: Encoding,
    /// The tasks that decode, if there are other threads.
    tasks: Option<TaskSet>,
    /// Too few for a task.
    waiting: Vec<Bytes>,
    /// Of each task, what it will have decoded.
    decoded: VecDeque<oneshot::Receiver<Result<Vec<Arrived<K>>, ListWatchError>>>,
    items: Vec<Arrived<K>>,
}

// === impl NextPage ===

impl NextPage {
    /// The page that begins at `token`, if it is the one on its way. What else was is given up.
    pub(super) fn take(&self, token: Option<&str>) -> Option<Ordered> {
        let (own, body) = lock(&self.0).take()?;
        (Some(&*own) == token).then_some(body)
    }

    fn put(&self, token: String, body: Ordered) {
        *lock(&self.0) = Some((token, body));
    }
}

// === impl Maker ===

impl<K: Send + Sync + 'static> Maker<K> {
    pub(super) fn making(&self) -> Making<'_, K> {
        Making {
            known: Some(&*self.known),
            form: &*self.form,
            shard: self.shard.as_deref(),
        }
    }

    /// Decodes a page while it arrives, and has the next one brought by `ask` meanwhile, which `next` then keeps. If the page breaks
    /// off, and the next one was refused with a time to wait, that refusal is the error.
    pub(super) async fn page(
        &self,
        answer: Answer<Chunks>,
        next: &NextPage,
        ask: impl Fn(&str) -> Ordered,
    ) -> Result<ListPage<K>, ListWatchError> {
        let mut following = Following::default();
        match self.read(answer, &mut following, ask).await {
            Ok(page) => {
                if let Some((token, body)) = following.into_page() {
                    next.put(token, body);
                }
                Ok(page)
            }
            // For one that cannot be read the caller goes back to JSON.
            Err(error @ ListWatchError::Protocol { .. }) => Err(error),
            Err(error) => Err(following.into_refusal().unwrap_or(error)),
        }
    }

    async fn read(
        &self,
        mut answer: Answer<Chunks>,
        following: &mut Following,
        ask: impl Fn(&str) -> Ordered,
    ) -> Result<ListPage<K>, ListWatchError> {
        let mut list = ListReader::new(answer.encoding);
        let mut decoding = Decoding::new(self, answer.encoding);
        let mut cut = Vec::new();
        while let Some(chunk) = following.beside(answer.body.next()).await {
            list.push(&chunk?, |item| cut.push(item));
            // Asked first, since a small page is decoded at once.
            let token = list.take_token(&self.decoder);
            following.begin(token, &ask).await;
            for item in cut.drain(..) {
                following.beside(decoding.push(item)).await?;
            }
        }
        let end = list.finish(&self.decoder, |item| cut.push(item))?;
        if let Some(shard) = &self.shard {
            end.check_shard(shard)?;
        }
        // The continue token may come after the items.
        following.begin(end.continue_token.clone(), &ask).await;
        for item in cut {
            following.beside(decoding.push(item)).await?;
        }
        let items = following.beside(decoding.finish()).await?;
        Ok(end.into_page(items))
    }

    fn chunk(
        &self,
        encoding: Encoding,
        chunk: &[Bytes],
        stop: &CancellationToken,
    ) -> Result<Vec<Arrived<K>>, ListWatchError> {
        let items = chunk.iter().take_while(|_| !stop.is_cancelled());
        items
            .filter_map(|item| {
                let made = self.decoder.item(encoding, item, &self.making());
                made.transpose()
            })
            .collect()
    }
}

// === impl Following ===

impl Following {
    /// Requests the page that begins at `token`, if there is one and it was not requested yet.
    async fn begin(&mut self, token: Option<String>, ask: impl Fn(&str) -> Ordered) {
        let Some(token) = token.filter(|_| self.asked.is_none()) else {
            return;
        };
        let body = ask(&token);
        self.asked = Some((token, body));
        self.beside(ready(())).await;
    }

    /// Waits for `work`, and lets the page come meanwhile.
    async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let on_its_way = self.asked.as_mut().filter(|_| self.brought.is_none());
        let Some((_, body)) = on_its_way else {
            return work.await;
        };
        match select(body, pin!(work)).await {
            Either::Left((brought, work)) => {
                self.brought = Some(brought);
                work.await
            }
            Either::Right((done, _)) => done,
        }
    }

    fn into_page(self) -> Option<(String, Ordered)> {
        let (token, body) = self.asked?;
        let body = match self.brought {
            Some(brought) => ready(brought).boxed(),
            None => body,
        };
        Some((token, body))
    }

    /// Returns the refusal of the page, if it has arrived and names a time to wait: that time holds even though nobody takes the page.
    fn into_refusal(self) -> Option<ListWatchError> {
        let refusal = self.brought?.err()?;
        refusal.retry_after().is_some().then_some(refusal)
    }
}

// === impl Decoding ===

impl<'a, K: Send + Sync + 'static> Decoding<'a, K> {
    fn new(maker: &'a Maker<K>, encoding: Encoding) -> Self {
        Self {
            maker,
            encoding,
            tasks: has_threads().then(TaskSet::new),
            waiting: Vec::new(),
            decoded: VecDeque::new(),
            items: Vec::new(),
        }
    }

    /// Decodes an item, or has it decoded with others.
    async fn push(&mut self, item: Bytes) -> Result<(), ListWatchError> {
        let Some(tasks) = &self.tasks else {
            let making = self.maker.making();
            let item = self.maker.decoder.item(self.encoding, &item, &making)?;
            self.items.extend(item);
            // A list of the whole cluster takes seconds to decode: others on this thread are let in between.
            tokio::task::consume_budget().await;
            return Ok(());
        };
        self.waiting.push(item);
        if self.waiting.len() < CHUNK_LEN {
            return Ok(());
        }
        let chunk = std::mem::take(&mut self.waiting);
        let (done, decoded) = oneshot::channel();
        let (maker, stop) = (self.maker.clone(), tasks.stop_token().clone());
        let encoding = self.encoding;
        tasks.spawn(async move {
            // The receiver may have been dropped.
            let _ = done.send(maker.chunk(encoding, &chunk, &stop));
        });
        self.decoded.push_back(decoded);
        if self.decoded.len() > CHUNKS_MAX {
            self.collect().await?;
        }
        Ok(())
    }

    /// Returns all items, in the order of the list, on whichever thread each was decoded.
    async fn finish(mut self) -> Result<Vec<Arrived<K>>, ListWatchError> {
        let stop = CancellationToken::new();
        let last = self.maker.chunk(self.encoding, &self.waiting, &stop);
        while !self.decoded.is_empty() {
            self.collect().await?;
        }
        self.items.extend(last?);
        Ok(self.items)
    }

    /// Waits for those that were given away first.
    async fn collect(&mut self) -> Result<(), ListWatchError> {
        let Some(decoded) = self.decoded.pop_front() else {
            return Ok(());
        };
        match decoded.await {
            Ok(chunk) => {
                self.items.extend(chunk?);
                Ok(())
            }
            // The runtime shuts down: no caller reads the answer any more.
            Err(_) => pending().await,
        }
    }
}

impl<K> Clone for Maker<K> {
    fn clone(&self) -> Self {
        Self {
            decoder: Arc::clone(&self.decoder),
            known: Arc::clone(&self.known),
            form: Arc::clone(&self.form),
            shard: self.shard.clone(),
        }
    }
}
