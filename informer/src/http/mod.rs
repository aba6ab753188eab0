//! `ListWatch` over a `kube::Client`: kubeconfig, in-cluster configuration, TLS, authentication and proxies are kube's.

mod client;
#[cfg(feature = "compact")]
mod compact;
mod pages;
mod request;
mod response;
pub(crate) mod scope;
mod stream;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures::{FutureExt, StreamExt};
use kube::Resource;
use serde::de::DeserializeOwned;

use self::pages::{Body, Maker, NextPage};
use crate::{
    decode::{Decoder, Form, Typed},
    field_path::{FieldPath, ParseFieldPathError},
    known::Known,
    list_watch::{ListPage, ListRequest, ListWatch, ListWatchError, WatchRequest},
};

pub(crate) use self::scope::Scope;
pub use self::{client::client, stream::HttpWatchStream};

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
    client: kube::Client,
    target: request::Target,
    decoder: Arc<Decoder>,
    form: Arc<dyn Form<K>>,
    next_page: NextPage,
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
        Self {
            client,
            target: request::Target {
                path: K::url_path(dynamic_type, namespace),
                plural: K::plural(dynamic_type).into_owned(),
                scope,
                labels: String::new(),
                fields: String::new(),
                form,
            },
            decoder: Arc::new(decoder),
            form: Arc::new(Typed),
            next_page: NextPage::default(),
        }
    }
}

impl<K> HttpListWatch<K> {
    /// Only objects that match this label selector, as in `app=web,tier in (a,b)`. The server checks it.
    #[must_use]
    pub fn with_labels(mut self, selector: impl Into<String>) -> Self {
        self.target.labels = selector.into();
        self
    }

    /// Only objects that match this field selector, as in `spec.nodeName=node-1`. The server checks it.
    #[must_use]
    pub fn with_fields(mut self, selector: impl Into<String>) -> Self {
        self.target.fields = selector.into();
        self
    }

    /// Objects come without what these paths lead to, as in `.metadata.managedFields` or `.spec.template`.
    ///
    /// It is skipped while an object is decoded, and never takes memory; the server sends it all the same. A field that the
    /// type needs must stay. Key, uid, version, labels and owners of the [handle](crate::Object) are read in any case.
    ///
    /// # Errors
    ///
    /// A text is not a path; the error names the place. See [`FieldPath`].
    pub fn without_fields<'a>(
        mut self,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, ParseFieldPathError> {
        let paths: Result<Vec<FieldPath>, _> = paths.into_iter().map(str::parse).collect();
        let decoder = Arc::unwrap_or_clone(self.decoder);
        self.decoder = Arc::new(decoder.without_fields(paths?));
        self.form = self.form.for_decoder(&self.decoder);
        Ok(self)
    }

    /// The resource's name in paths, as in `pods`.
    pub fn plural(&self) -> &str {
        &self.target.plural
    }

    fn maker(&self, known: &Arc<dyn Known<K>>) -> Maker<K> {
        Maker {
            decoder: Arc::clone(&self.decoder),
            known: Arc::clone(known),
            form: Arc::clone(&self.form),
        }
    }

    /// The body of a page. Nothing is asked before it is polled.
    fn fetch(&self, request: &ListRequest) -> Body {
        let (client, request) = (self.client.clone(), self.target.list(request));
        async move { response::whole_body(send(&client, request?).await?).await }.boxed()
    }
}

async fn send(
    client: &kube::Client,
    request: http::Request<kube::client::Body>,
) -> Result<http::Response<kube::client::Body>, ListWatchError> {
    let response = client
        .send(request)
        .await
        .map_err(response::transport_error)?;
    if response.status().is_success() {
        Ok(response)
    } else {
        Err(response::failure(response).await.into())
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
        known: &Arc<dyn Known<K>>,
    ) -> Result<ListPage<K>, ListWatchError> {
        let body = match self.next_page.take(request.continue_token.as_deref()) {
            Some(on_its_way) => on_its_way.into_stream().boxed(),
            None => response::chunks(send(&self.client, self.target.list(request)?).await?),
        };
        let ask = |token: &str| self.fetch(&request.next_page(token));
        self.maker(known).page(body, &self.next_page, ask).await
    }

    /// # Cancel safety
    ///
    /// Dropping the future gives up the request, dropping the stream ends the watch.
    async fn watch(
        &self,
        request: &WatchRequest,
        known: &Arc<dyn Known<K>>,
    ) -> Result<HttpWatchStream<K>, ListWatchError> {
        drop(self.next_page.take(None));
        let response = send(&self.client, self.target.watch(request)?).await?;
        let body = response.into_body();
        Ok(HttpWatchStream::new(body, self.maker(known)))
    }

    fn resource(&self) -> Option<&str> {
        Some(self.plural())
    }
}

impl<K> Clone for HttpListWatch<K> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            target: self.target.clone(),
            decoder: Arc::clone(&self.decoder),
            form: Arc::clone(&self.form),
            next_page: NextPage::default(),
        }
    }
}

impl<K> std::fmt::Debug for HttpListWatch<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpListWatch")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
