//! The freshness of the cache: waits for versions, the version of the server, and comparisons with it.

use std::{sync::Arc, time::Duration};

use super::{ConsistencyError, ConsistencyReport, SharedInformer, WaitError, progress::Waiter};
#[cfg(feature = "controller")]
use crate::object::ObjectKey;
use crate::object::{Metadata, Object, ResourceVersion};

// === impl SharedInformer ===

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// Waits until the cache shows `version` or a later one, at most for `limit`: to read what was written before.
    ///
    /// The version is that of an object or a list of this resource, as in a write's answer. Everything up to it is visible then,
    /// as far as the informer selects it. Bookmarks count.
    ///
    /// # Errors
    ///
    /// Not within `limit`, or never, since the informer stopped or the versions cannot be compared.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped. Any number of tasks may wait; all of them are woken.
    pub async fn wait_until(
        &self,
        version: &ResourceVersion,
        limit: Duration,
    ) -> Result<(), WaitError> {
        self.waiter().wait_until(version, limit).await
    }

    /// Waits until the cache shows what the server answered to a write, or what came after it, at most for `limit`.
    ///
    /// Gives the object as the cache holds it then, in that version or a later one; `None` if it was deleted since, is not
    /// selected by the informer, or cannot be decoded.
    /// After a deletion, give the object that the server answered with: its version is that of the deletion.
    ///
    /// # Errors
    ///
    /// As of [`wait_until`](Self::wait_until); or another object has the name by now.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped. Any number of tasks may wait; all of them are woken.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::time::Duration;
    /// use informer::SharedInformer;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    ///
    /// # async fn example(
    /// #     api: kube::Api<ConfigMap>,
    /// #     informer: SharedInformer<ConfigMap>,
    /// #     changed: ConfigMap,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let answer = api.replace("settings", &Default::default(), &changed).await?;
    /// let cached = informer.written(&answer, Duration::from_secs(5)).await?;
    /// # let _ = cached;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn written<T: kube::Resource>(
        &self,
        object: &T,
        limit: Duration,
    ) -> Result<Option<Object<K>>, WaitError> {
        self.shows(&Metadata::of(object), limit).await
    }

    /// Does the same for metadata of an object.
    pub(crate) async fn shows(
        &self,
        written: &Metadata,
        limit: Duration,
    ) -> Result<Option<Object<K>>, WaitError> {
        self.waiter().written(written, limit).await
    }

    /// Waits until the cache holds no object of `key`, at most for `limit`.
    #[cfg(feature = "controller")]
    pub(crate) async fn lacks(&self, key: &ObjectKey, limit: Duration) -> Result<(), WaitError> {
        self.waiter().lacks(key, limit).await
    }

    /// Returns the error of a question to the server that was not answered within `limit`.
    #[cfg(feature = "controller")]
    pub(crate) fn not_told_within(&self, limit: Duration) -> ConsistencyError {
        ConsistencyError::Deadline {
            resource: Arc::clone(self.0.state.sync.resource()),
            limit,
        }
    }

    /// Asks the server for its present version of what the informer selects, by a list of one item, at most for `limit`.
    ///
    /// With [`wait_until`](Self::wait_until) it makes the cache as new as a read of the server would be: also after a write whose
    /// answer was lost. Where nothing is written, the wait takes until the server's next bookmark, about a minute.
    ///
    /// # Errors
    ///
    /// No answer within `limit`, or a refusal; trying again is useful. The informer has no
    /// [`ListWatch`](crate::list_watch::ListWatch): that is final.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub async fn latest_version(
        &self,
        limit: Duration,
    ) -> Result<ResourceVersion, ConsistencyError> {
        match &self.0.checker {
            Some(checker) => checker.latest_version(limit).await,
            None => Err(ConsistencyError::Stopped {
                resource: Arc::clone(self.0.state.sync.resource()),
            }),
        }
    }

    /// Compares the cache with what the server says it was at the cache's version, and reports differences by key.
    ///
    /// The check waits for the sync, lists everything again at exactly the cache's version, and compares keys, uids and
    /// versions. Changes that happen meanwhile belong to later versions and make no difference. If the server no longer
    /// has that version, it retries with the cache's next.
    ///
    /// # Errors
    ///
    /// Nothing could be compared: not within `limit`, the informer stopped, or the list failed. Trying again is useful but
    /// for the second.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    ///
    /// # Memory
    ///
    /// Keys, uids and versions of the whole list, and one page of it.
    pub async fn check_consistency(
        &self,
        limit: Duration,
    ) -> Result<ConsistencyReport, ConsistencyError> {
        match &self.0.checker {
            Some(checker) => checker.check(limit).await,
            None => Err(ConsistencyError::Stopped {
                resource: Arc::clone(self.0.state.sync.resource()),
            }),
        }
    }

    fn waiter(&self) -> Waiter<'_, K> {
        Waiter {
            indexer: &self.0.indexer,
            sync: &self.0.state.sync,
            progress: &self.0.state.progress,
        }
    }
}
