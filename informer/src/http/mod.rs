//! `ListWatch` over a `kube::Client`: kubeconfig, in-cluster configuration, TLS, authentication and proxies are kube's.

mod client;
#[cfg(feature = "compact")]
mod compact;
mod gzip;
mod negotiation;
mod pages;
mod request;
mod response;
pub(crate) mod scope;
mod stream;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures::{FutureExt, StreamExt, future};
use kube::{Resource, client::Body};
use serde::de::DeserializeOwned;

use self::{
    negotiation::{Negotiation, Preference},
    pages::{DecodeItems, Items, NextPage, ObjectDecoder, Ordered, read_page},
    response::Chunks,
};
use crate::{
    decode::{Decoder, Form, ListEnd, TypedForm},
    field_path::{FieldPath, ParseFieldPathError},
    held_objects::HeldObjects,
    list_watch::{ListPage, ListRequest, ListWatch, ListWatchError, WatchRequest},
    shard::{Shard, ShardFilter},
};

pub(crate) use self::scope::Scope;
pub use self::{client::client, stream::HttpWatchStream};
pub use crate::encoding::Encoding;

/// The path of the fields' managers, which a server may leave out.
const MANAGED_FIELDS: &str = ".metadata.managedFields";

/// Lists and watches one resource through a [`kube::Client`].
///
/// Works for every type that can be decoded: those of `k8s-openapi`, `DynamicObject`, `PartialObjectMeta<K>` (the server then
/// sends metadata only), and slim types of the user's own.
///
/// Use a client made by [`client()`]: one with kube's own retry layer hides an outage for minutes, and one with a read timeout
/// ends every quiet watch at that age.
///
/// # Examples
///
/// ```
/// use informer::{Scope, http::HttpListWatch};
/// use k8s_openapi::api::core::v1::Pod;
///
/// # fn example(client: kube::Client) {
/// let pods = HttpListWatch::<Pod>::new(client, Scope::Namespace("default".into())).with_labels("app=web");
/// # }
/// ```
pub struct HttpListWatch<K> {
    source: Source,
    decoder: Arc<Decoder>,
    form: Arc<dyn Form<K>>,
    /// The filter of the shard, if it is of one.
    shard: Option<Arc<ShardFilter>>,
}

/// The requests, which do not depend on the type of the objects.
struct Source {
    client: kube::Client,
    target: request::Target,
    negotiation: Arc<Negotiation>,
    next_page: NextPage,
}

/// A function that makes a request for answers in a form.
type MakeRequest<'a> =
    dyn Fn(Preference) -> Result<http::Request<Body>, ListWatchError> + Send + Sync + 'a;

/// An answer: its body, in the encoding that it has.
struct Answer<B> {
    encoding: Encoding,
    body: B,
}

// === impl HttpListWatch ===

impl<K> HttpListWatch<K>
where
    K: Resource<DynamicType: Default> + DeserializeOwned + 'static,
{
    /// Lists and watches the objects of type `K` in `scope`.
    pub fn new(client: kube::Client, scope: Scope) -> Self {
        Self::new_with(client, scope, &K::DynamicType::default())
    }
}

impl<K: Resource + DeserializeOwned + 'static> HttpListWatch<K> {
    /// The same for a type that is known only at run time, such as `DynamicObject`.
    pub fn new_with(client: kube::Client, scope: Scope, dynamic_type: &K::DynamicType) -> Self {
        let decoder = Decoder::new(K::api_version(dynamic_type), K::kind(dynamic_type));
        let (decoder, form) = if K::metadata_api() {
            (decoder.metadata_only(), request::Form::MetadataOnly)
        } else {
            (decoder, request::Form::Whole)
        };
        let namespace = match &scope {
            Scope::All => None,
            Scope::Namespace(namespace) => Some(namespace.as_str()),
        };
        let target = request::Target {
            path: K::url_path(dynamic_type, namespace),
            plural: K::plural(dynamic_type).into_owned(),
            scope,
            labels: String::new(),
            fields: String::new(),
            shard: String::new(),
            form,
        };
        Self {
            source: Source {
                client,
                target,
                negotiation: Arc::default(),
                next_page: NextPage::default(),
            },
            decoder: Arc::new(decoder),
            form: Arc::new(TypedForm),
            shard: None,
        }
    }
}

impl<K> HttpListWatch<K> {
    /// Only objects that match this label selector, as in `app=web,tier in (a,b)`. The server checks it.
    #[must_use]
    pub fn with_labels(mut self, selector: impl Into<String>) -> Self {
        self.source.target.labels = selector.into();
        self
    }

    /// Only objects that match this field selector, as in `spec.nodeName=node-1`. The server checks it.
    #[must_use]
    pub fn with_fields(mut self, selector: impl Into<String>) -> Self {
        self.source.target.fields = selector.into();
        self
    }

    /// Only objects of this shard. The server selects them if it can; else they are selected [here](crate::shard).
    ///
    /// Clones share the [status](ShardFilter::status) of the selection.
    #[doc(alias = "shardSelector")]
    #[must_use]
    pub fn with_shard(mut self, shard: Shard) -> Self {
        let filter = ShardFilter::new(shard);
        filter.selector().clone_into(&mut self.source.target.shard);
        self.shard = Some(Arc::new(filter));
        self
    }

    /// Objects come without what these paths lead to, as in `.metadata.managedFields` or `.spec.template`.
    ///
    /// Such a field is skipped while an object is decoded, and never takes memory; the server sends it all the same, but for
    /// `.metadata.managedFields`: a server with the feature gate `ManagedFieldsOptOut` is asked to leave them out of its answers,
    /// and one that does not know that, or refuses it, sends them. A field that the type needs must stay. Key, uid, version, labels
    /// and owners of the [handle](crate::Object) are read in any case.
    ///
    /// # Errors
    ///
    /// A text is not a path; the error names the place. See [`FieldPath`].
    pub fn without_fields<'a>(
        mut self,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ParseFieldPathError> {
        let paths: Result<Vec<FieldPath>, _> = paths.into_iter().map(str::parse).collect();
        let paths = paths?;
        if paths.iter().any(|path| path.to_string() == MANAGED_FIELDS) {
            self.source
                .prefer(|preference| preference.drops_managed_fields = true);
        }
        let decoder = Arc::unwrap_or_clone(self.decoder);
        self.decoder = Arc::new(decoder.without_fields(paths));
        self.form = self.form.for_decoder(&self.decoder);
        Ok(self)
    }

    /// Asks the server for objects in this encoding rather than in JSON, in lists, streaming lists and watches.
    ///
    /// JSON is the second choice in each request, and the only one for a type that the encoding does not have: protobuf has the
    /// built-in types, and the metadata of all. A server that refuses the encoding, or whose answers in it cannot be read, is
    /// asked for JSON from then on. Objects are equal in all encodings; [compact](crate::compact) ones are held in the one in
    /// which they came.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "protobuf")]
    /// # fn example(client: kube::Client) {
    /// use informer::{Scope, http::{Encoding, HttpListWatch}};
    /// use k8s_openapi::api::core::v1::Pod;
    ///
    /// let pods = HttpListWatch::<Pod>::new(client, Scope::All).with_encoding(Encoding::Protobuf);
    /// # }
    /// ```
    #[doc(alias = "ContentType")]
    #[doc(alias = "AcceptContentTypes")]
    #[must_use]
    pub fn with_encoding(mut self, encoding: Encoding) -> Self {
        #[cfg(feature = "protobuf")]
        let encoding = if self.decoder.reads(encoding) {
            encoding
        } else {
            Encoding::Json
        };
        self.source
            .prefer(|preference| preference.encoding = encoding);
        self
    }

    /// Asks the server to compress lists and streaming lists by gzip. By default it is not asked to.
    ///
    /// A server compresses lists of more than 128 KiB, and streaming lists with the feature gate `WatchListCompression`, which is
    /// on from Kubernetes 1.37. A stream is decompressed as it arrives, event by event. If that fails, or if a layer of the
    /// client does the same and fails, as the feature `gzip` of `kube` does, the server is asked for plain answers from then on.
    /// Watches that resume from a version are never compressed.
    ///
    /// It saves traffic, at the price of processor time on both sides. Do without it where a proxy compresses streams by itself:
    /// one that waits until its window is full delays events.
    ///
    /// # Memory
    ///
    /// At most half a megabyte of decompressed bytes waits to be read, whatever the server sends.
    #[doc(alias = "DisableCompression")]
    #[doc(alias = "gzip")]
    #[must_use]
    pub fn with_compression(mut self) -> Self {
        self.source
            .prefer(|preference| preference.accepts_gzip = true);
        self
    }

    /// The resource's name in paths, as in `pods`.
    pub fn plural(&self) -> &str {
        &self.source.target.plural
    }

    fn maker(&self, held: &Arc<dyn HeldObjects<K>>) -> ObjectDecoder<K> {
        ObjectDecoder {
            decoder: Arc::clone(&self.decoder),
            held: Arc::clone(held),
            form: Arc::clone(&self.form),
            shard: self.shard.clone(),
        }
    }
}

// === impl Source ===

impl Source {
    /// Changes the form of answers that is asked for, and forgets what was refused.
    fn prefer(&mut self, change: impl FnOnce(&mut Preference)) {
        let mut wanted = self.negotiation.wanted();
        change(&mut wanted);
        self.negotiation = Arc::new(Negotiation::new(wanted));
    }

    /// Lists one page, whose items `maker` decodes.
    async fn list(
        &self,
        request: &ListRequest,
        maker: Arc<dyn DecodeItems>,
    ) -> Result<(ListEnd, Items), ListWatchError> {
        let answer = self.open_list(request).await?;
        let encoding = answer.encoding;
        let next = |token: &str| self.fetch(&request.next_page(token));
        let page = read_page(&maker, answer, &self.next_page, &next).await;
        if let Err(error) = &page {
            self.negotiation.check(encoding, error);
            if response::is_bad_compression(error) {
                self.negotiation.refuse_gzip();
            }
        }
        page
    }

    /// Returns the page on its way, if it is the one that is requested, or requests it.
    async fn open_list(&self, request: &ListRequest) -> Result<Answer<Chunks>, ListWatchError> {
        if let Some(on_its_way) = self.next_page.take(request.continue_token.as_deref()) {
            let Answer { encoding, body } = on_its_way.await?;
            let body = future::ready(Ok(body)).into_stream().boxed();
            return Ok(Answer { encoding, body });
        }
        let make = |preference| self.target.list(request, preference);
        let Answer { encoding, body } = send(&self.client, &self.negotiation, &make).await?;
        let body = response::chunks(body);
        Ok(Answer { encoding, body })
    }

    async fn open_watch(
        &self,
        request: &WatchRequest,
    ) -> Result<Answer<http::Response<Body>>, ListWatchError> {
        drop(self.next_page.take(None));
        let make = |preference| self.target.watch(request, preference);
        send(&self.client, &self.negotiation, &make).await
    }

    /// The body of a page. Nothing is asked before it is polled.
    fn fetch(&self, request: &ListRequest) -> Ordered {
        let (client, negotiation) = (self.client.clone(), Arc::clone(&self.negotiation));
        let (target, request) = (self.target.clone(), request.clone());
        let ask = async move {
            let make = |preference| target.list(&request, preference);
            let answer = send(&client, &negotiation, &make).await?;
            Ok(Answer {
                encoding: answer.encoding,
                body: response::whole_body(answer.body).await?,
            })
        };
        ask.boxed()
    }
}

/// Sends the request that `make` makes for the form that is asked for; again for a simpler one, if that is not acceptable.
async fn send(
    client: &kube::Client,
    negotiation: &Negotiation,
    make: &MakeRequest<'_>,
) -> Result<Answer<http::Response<Body>>, ListWatchError> {
    loop {
        let response = client
            .send(make(negotiation.preference())?)
            .await
            .map_err(response::transport_error)?;
        if response.status().is_success() {
            let encoding = negotiation.answered(response::media_type(&response));
            return Ok(Answer {
                encoding,
                body: response,
            });
        }
        if !negotiation.concede(response.status()) {
            return Err(response::failure(response).await.into());
        }
    }
}

impl<K> ListWatch<K> for HttpListWatch<K>
where
    K: Send + Sync + 'static,
{
    type Stream = HttpWatchStream<K>;

    /// # Memory
    ///
    /// Holds the decoded objects, what of the page has come and is not decoded yet (about a thousand items at most), and the
    /// body of the next page, which is asked for before this one is decoded.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up the request.
    async fn list(
        &self,
        request: &ListRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<ListPage<K>, ListWatchError> {
        let maker = Arc::new(self.maker(held));
        let (end, items) = self.source.list(request, maker).await?;
        Ok(end.into_page(items.into_vec()))
    }

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request, dropping the stream ends the watch.
    async fn watch(
        &self,
        request: &WatchRequest,
        held: &Arc<dyn HeldObjects<K>>,
    ) -> Result<HttpWatchStream<K>, ListWatchError> {
        let answer = self.source.open_watch(request).await?;
        let negotiation = Arc::clone(&self.source.negotiation);
        // Events that bring the present state are in no order: none of them says how far the stream has come.
        let begins_with_state =
            request.send_initial_events || matches!(request.resource_version.as_str(), "" | "0");
        let maker = self.maker(held);
        Ok(HttpWatchStream::new(
            answer,
            request.send_initial_events,
            maker,
            negotiation,
            begins_with_state,
        ))
    }

    fn resource(&self) -> Option<&str> {
        Some(self.plural())
    }

    fn shard_filter(&self) -> Option<Arc<ShardFilter>> {
        self.shard.clone()
    }
}

impl<K> Clone for HttpListWatch<K> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            decoder: Arc::clone(&self.decoder),
            form: Arc::clone(&self.form),
            shard: self.shard.clone(),
        }
    }
}

impl Clone for Source {
    /// Creates one with the same requests. A page that is on its way stays with the original.
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            target: self.target.clone(),
            negotiation: Arc::clone(&self.negotiation),
            next_page: NextPage::default(),
        }
    }
}

impl<K> std::fmt::Debug for HttpListWatch<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpListWatch")
            .field("target", &self.source.target)
            .finish_non_exhaustive()
    }
}
