//! Lists and watches of compact objects.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::HttpListWatch;
use crate::{
    compact::{Compact, CompactOptions},
    decode::PackedForm,
};

// === impl HttpListWatch ===

impl<K> HttpListWatch<K> {
    /// Holds objects as compressed bytes, which are decoded when they are read: see [`compact`](crate::compact).
    ///
    /// Clones of this share the dictionary of the objects.
    ///
    /// # Examples
    ///
    /// ```
    /// use informer::{Scope, SharedInformer, compact::{Compact, CompactOptions}, http::HttpListWatch};
    /// use k8s_openapi::api::core::v1::Pod;
    ///
    /// # fn example(client: kube::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let pods = HttpListWatch::<Pod>::new(client, Scope::All).compact(CompactOptions::default());
    /// let informer: SharedInformer<Compact<Pod>> = SharedInformer::builder(pods).build()?;
    /// for pod in informer.indexer().list() {
    ///     println!("{:?}", pod.decode()?.spec);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn compact(self, options: CompactOptions) -> HttpListWatch<Compact<K>>
    where
        K: DeserializeOwned + Send + Sync + 'static,
    {
        HttpListWatch {
            form: Arc::new(PackedForm::new(&self.decoder, options)),
            source: self.source,
            decoder: self.decoder,
            shard: self.shard,
        }
    }
}
