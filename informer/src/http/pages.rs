//! The pages of a list: each is decoded while it arrives, on as many threads as there are, and the next is requested
//! meanwhile.
//!
//! Nothing here depends on the type of the objects but [`ObjectDecoder`], which makes them: all else is compiled once.

use std::{any::Any, collections::VecDeque, pin::pin, slice, sync::Arc};

use bytes::Bytes;
use futures::{
    FutureExt, StreamExt,
    future::{BoxFuture, Either, pending, ready, select},
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{Answer, response::Chunks};
use crate::{
    decode::{Decoder, Form, ItemContext, ListEnd, ListReader},
    encoding::Encoding,
    held_objects::HeldObjects,
    list_watch::{ArrivedObject, ListWatchError},
    shard::ShardFilter,
    sync::{Mutex, lock},
    task::{TaskSet, has_threads},
};

/// The number of items that one task decodes.
const CHUNK_LEN: usize = 64;
/// The largest number of tasks: a body that arrives faster than it is decoded waits.
const CHUNKS_MAX: usize = 16;

pub(super) type Ordered = BoxFuture<'static, Result<Answer<Bytes>, ListWatchError>>;

/// A function that requests the page that begins at a token. Nothing is sent before its result is polled.
pub(super) type RequestPage<'a> = dyn Fn(&str) -> Ordered + Send + Sync + 'a;

/// The page after the one that was requested last, on its way.
#[derive(Default)]
pub(super) struct NextPage(Mutex<Option<(String, Ordered)>>);

/// Makes objects from their bytes, shared by the tasks that do so.
pub(super) struct ObjectDecoder<K> {
    pub(super) decoder: Arc<Decoder>,
    pub(super) held: Arc<dyn HeldObjects<K>>,
    pub(super) form: Arc<dyn Form<K>>,
    pub(super) shard: Option<Arc<ShardFilter>>,
}

/// Decodes the items of a list, whatever the type of its objects is.
pub(super) trait DecodeItems: Send + Sync {
    fn decoder(&self) -> &Decoder;

    fn shard(&self) -> Option<&ShardFilter>;

    /// Returns no items.
    fn none(&self) -> Items;

    /// Decodes `items` in order, until `stop` if there is one, and adds them to `decoded`.
    fn decode(
        &self,
        encoding: Encoding,
        items: &[Bytes],
        stop: Option<&CancellationToken>,
        decoded: &mut Items,
    ) -> Result<(), ListWatchError>;

    /// Adds `more` to `decoded`.
    fn append(&self, decoded: &mut Items, more: Items);
}

/// Decoded items, for the [`ObjectDecoder`] that made them.
pub(super) struct Items(Box<dyn Any + Send>);

/// The page after the one that is being decoded, once it is known where that begins.
#[derive(Default)]
struct FollowingPage {
    request: Option<(String, Ordered)>,
    /// The answer, if it has arrived.
    answer: Option<Result<Answer<Bytes>, ListWatchError>>,
}

/// The items of a page, decoded in the order in which they came. Dropped, it ends what it began.
struct Decoding<'a> {
    maker: &'a Arc<dyn DecodeItems>,
    encoding: Encoding,
    /// The tasks that decode, if there are other threads.
    tasks: Option<TaskSet>,
    /// Too few for a task.
    waiting: Vec<Bytes>,
    /// Of each task, what it will have decoded.
    decoded: VecDeque<oneshot::Receiver<Result<Items, ListWatchError>>>,
    items: Items,
}

/// Decodes a page while it arrives, and has the next one requested by `request` meanwhile, which `next` then keeps. If the page
/// breaks off, and the next one was refused with a time to wait, that refusal is the error.
pub(super) async fn read_page(
    maker: &Arc<dyn DecodeItems>,
    answer: Answer<Chunks>,
    next: &NextPage,
    request: &RequestPage<'_>,
) -> Result<(ListEnd, Items), ListWatchError> {
    let mut following = FollowingPage::default();
    match read(maker, answer, &mut following, request).await {
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
    maker: &Arc<dyn DecodeItems>,
    mut answer: Answer<Chunks>,
    following: &mut FollowingPage,
    request: &RequestPage<'_>,
) -> Result<(ListEnd, Items), ListWatchError> {
    let mut list = ListReader::new(answer.encoding);
    let mut decoding = Decoding::new(maker, answer.encoding);
    let mut cut = Vec::new();
    while let Some(chunk) = following.beside(answer.body.next()).await {
        list.push(&chunk?, |item| cut.push(item));
        // Requested before the items are decoded, since a small page is decoded at once.
        let token = list.take_token(maker.decoder());
        following.begin(token, request).await;
        for item in cut.drain(..) {
            following.beside(decoding.push(item)).await?;
        }
    }
    let end = list.finish(maker.decoder(), |item| cut.push(item))?;
    if let Some(shard) = maker.shard() {
        end.check_shard(shard)?;
    }
    // The continue token may come after the items.
    following.begin(end.continue_token.clone(), request).await;
    for item in cut {
        following.beside(decoding.push(item)).await?;
    }
    let items = following.beside(decoding.finish()).await?;
    Ok((end, items))
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

// === impl ObjectDecoder ===

impl<K: Send + Sync + 'static> ObjectDecoder<K> {
    pub(super) fn making(&self) -> ItemContext<'_, K> {
        ItemContext {
            held: Some(&*self.held),
            form: &*self.form,
            shard: self.shard.as_deref(),
        }
    }
}

impl<K: Send + Sync + 'static> DecodeItems for ObjectDecoder<K> {
    fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    fn shard(&self) -> Option<&ShardFilter> {
        self.shard.as_deref()
    }

    fn none(&self) -> Items {
        Items::new(Vec::<ArrivedObject<K>>::new())
    }

    fn decode(
        &self,
        encoding: Encoding,
        items: &[Bytes],
        stop: Option<&CancellationToken>,
        decoded: &mut Items,
    ) -> Result<(), ListWatchError> {
        let (decoded, making) = (decoded.get_mut::<K>(), self.making());
        let is_stopped = || stop.is_some_and(CancellationToken::is_cancelled);
        for item in items.iter().take_while(|_| !is_stopped()) {
            decoded.extend(self.decoder.item(encoding, item, &making)?);
        }
        Ok(())
    }

    fn append(&self, decoded: &mut Items, more: Items) {
        decoded.get_mut::<K>().extend(more.into_vec());
    }
}

// === impl Items ===

impl Items {
    fn new<K: Send + Sync + 'static>(items: Vec<ArrivedObject<K>>) -> Self {
        Self(Box::new(items))
    }

    fn get_mut<K: Send + Sync + 'static>(&mut self) -> &mut Vec<ArrivedObject<K>> {
        let items = self.0.downcast_mut();
        items.expect("items are read by the maker that made them")
    }

    pub(super) fn into_vec<K: Send + Sync + 'static>(self) -> Vec<ArrivedObject<K>> {
        let items = self.0.downcast();
        *items.expect("items are read by the maker that made them")
    }
}

// === impl FollowingPage ===

impl FollowingPage {
    /// Requests the page that begins at `token`, if there is one and it was not requested yet.
    async fn begin(&mut self, token: Option<String>, request: &RequestPage<'_>) {
        let Some(token) = token.filter(|_| self.request.is_none()) else {
            return;
        };
        let body = request(&token);
        self.request = Some((token, body));
        self.beside(ready(())).await;
    }

    /// Waits for `work`, and lets the page come meanwhile.
    async fn beside<T>(&mut self, work: impl Future<Output = T>) -> T {
        let on_its_way = self.request.as_mut().filter(|_| self.answer.is_none());
        let Some((_, body)) = on_its_way else {
            return work.await;
        };
        match select(body, pin!(work)).await {
            Either::Left((answer, work)) => {
                self.answer = Some(answer);
                work.await
            }
            Either::Right((done, _)) => done,
        }
    }

    fn into_page(self) -> Option<(String, Ordered)> {
        let (token, body) = self.request?;
        let body = match self.answer {
            Some(answer) => ready(answer).boxed(),
            None => body,
        };
        Some((token, body))
    }

    /// Returns the refusal of the page, if it has arrived and names a time to wait: that time holds although the page is not taken.
    fn into_refusal(self) -> Option<ListWatchError> {
        let refusal = self.answer?.err()?;
        refusal.retry_after().is_some().then_some(refusal)
    }
}

// === impl Decoding ===

impl<'a> Decoding<'a> {
    fn new(maker: &'a Arc<dyn DecodeItems>, encoding: Encoding) -> Self {
        Self {
            maker,
            encoding,
            tasks: has_threads().then(TaskSet::new),
            waiting: Vec::new(),
            decoded: VecDeque::new(),
            items: maker.none(),
        }
    }

    /// Decodes an item, or has it decoded with others.
    async fn push(&mut self, item: Bytes) -> Result<(), ListWatchError> {
        let Some(tasks) = &self.tasks else {
            let item = slice::from_ref(&item);
            self.maker
                .decode(self.encoding, item, None, &mut self.items)?;
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
        let (maker, stop) = (Arc::clone(self.maker), tasks.stop_token().clone());
        let encoding = self.encoding;
        tasks.spawn(async move {
            let mut items = maker.none();
            let outcome = maker.decode(encoding, &chunk, Some(&stop), &mut items);
            // The receiver may have been dropped.
            let _ = done.send(outcome.map(|()| items));
        });
        self.decoded.push_back(decoded);
        if self.decoded.len() > CHUNKS_MAX {
            self.collect().await?;
        }
        Ok(())
    }

    /// Returns all items, in the order of the list, on whichever thread each was decoded.
    async fn finish(mut self) -> Result<Items, ListWatchError> {
        // While the tasks decode the others.
        let mut last = self.maker.none();
        let outcome = self
            .maker
            .decode(self.encoding, &self.waiting, None, &mut last);
        while !self.decoded.is_empty() {
            self.collect().await?;
        }
        outcome?;
        self.maker.append(&mut self.items, last);
        Ok(self.items)
    }

    /// Waits for those that were given away first.
    async fn collect(&mut self) -> Result<(), ListWatchError> {
        let Some(decoded) = self.decoded.pop_front() else {
            return Ok(());
        };
        match decoded.await {
            Ok(chunk) => {
                self.maker.append(&mut self.items, chunk?);
                Ok(())
            }
            // The runtime shuts down: no caller reads the answer any more.
            Err(_) => pending().await,
        }
    }
}

impl<K> Clone for ObjectDecoder<K> {
    fn clone(&self) -> Self {
        Self {
            decoder: Arc::clone(&self.decoder),
            held: Arc::clone(&self.held),
            form: Arc::clone(&self.form),
            shard: self.shard.clone(),
        }
    }
}
