//! Handlers and streams of an informer's changes.

use super::SharedInformer;
use crate::{
    handler::{AsyncEventHandler, EventHandler},
    processor::{HandlerOptions, HandlerRegistration, Listener, NotificationStream},
};

// === impl SharedInformer ===

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// Adds a handler, at any time. It first receives the objects that are already held, with `in_initial_list`.
    ///
    /// The handler stays for as long as the registration is kept. If the informer has stopped, it receives nothing, and its
    /// registration says so.
    #[doc(alias = "AddEventHandler")]
    pub fn add_handler(&self, handler: impl EventHandler<K>) -> HandlerRegistration {
        self.add_handler_with(handler, HandlerOptions::default())
    }

    /// Adds a handler that is served as `options` say: a name, a resync period, a buffer, a thread that it may block.
    #[doc(alias = "AddEventHandlerWithResyncPeriod")]
    #[doc(alias = "AddEventHandlerWithOptions")]
    pub fn add_handler_with(
        &self,
        handler: impl EventHandler<K>,
        options: HandlerOptions,
    ) -> HandlerRegistration {
        let (listener, registration) = Listener::new(handler, options);
        self.attach(listener);
        registration
    }

    /// Adds a handler whose calls are awaited, one after another: an [`AsyncEventHandler`], or a closure that takes a
    /// [`Notification`](crate::Notification) and returns a future. Else as [`add_handler`](Self::add_handler).
    pub fn add_async_handler(&self, handler: impl AsyncEventHandler<K>) -> HandlerRegistration {
        self.add_async_handler_with(handler, HandlerOptions::default())
    }

    /// The same for a handler that is served as `options` say.
    pub fn add_async_handler_with(
        &self,
        handler: impl AsyncEventHandler<K>,
        options: HandlerOptions,
    ) -> HandlerRegistration {
        let (listener, registration) = Listener::new_async(handler, options);
        self.attach(listener);
        registration
    }

    /// Returns the notifications of a handler as a stream: first the objects that are held, then every change. Dropping
    /// it removes the handler.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures::StreamExt;
    /// use informer::{Notification, SharedInformer};
    /// use k8s_openapi::api::core::v1::Pod;
    ///
    /// async fn print(pods: &SharedInformer<Pod>) {
    ///     let mut changes = pods.stream();
    ///     while let Some(change) = changes.next().await {
    ///         println!("{} {:?}", change.key(), change.cause());
    ///     }
    /// }
    /// ```
    pub fn stream(&self) -> NotificationStream<K> {
        self.stream_with(HandlerOptions::default())
    }

    /// The same for a reader that is served as `options` say: a name, a resync period, a buffer.
    pub fn stream_with(&self, options: HandlerOptions) -> NotificationStream<K> {
        let (listener, stream) = Listener::stream(options);
        self.attach(listener);
        stream
    }
}
