//! Lists the present state again and compares the cache with it.

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, TryFutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;

use super::{
    cache_input::is_wanted,
    consistency::{ConsistencyError, ConsistencyReport, Difference, ListedState},
    state::State,
};
use crate::{
    handler::Filter,
    held_objects::HeldObjects,
    indexer::{Indexer, Snapshot},
    list_watch::{ArrivedObject, ListPage, ListRequest, ListWatch, ListWatchError, VersionMatch},
    object::ResourceVersion,
};

/// The number of items in a page, unless the options have one.
const PAGE_SIZE: u32 = 500;
/// The time limit of a check after a list.
const CHECK_LIMIT: Duration = Duration::from_mins(5);

type Answer<K> = Result<ListPage<K>, ListWatchError>;
type List<K> =
    dyn Fn(ListRequest, Arc<dyn HeldObjects<K>>) -> BoxFuture<'static, Answer<K>> + Send + Sync;

/// Lists the present state again, for consistency checks.
pub(super) struct Relist<K> {
    list: Box<List<K>>,
    page_size: u32,
}

/// Compares one informer's cache with the server. It does not depend on the type of the objects, of which it compares keys, uids
/// and versions.
pub(super) struct Checker {
    source: Box<dyn CheckSource>,
    page_size: u32,
    state: State,
}

/// The two sides of a check: the server and the cache.
trait CheckSource: Send + Sync {
    /// Lists one page.
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<CheckedPage, ListWatchError>>;

    /// Returns the present state of the cache.
    fn snapshot(&self) -> Arc<dyn CheckedSnapshot>;
}

/// A state of the cache.
trait CheckedSnapshot: Send + Sync {
    fn version(&self) -> &ResourceVersion;

    /// Returns the differences from `listed`, which is of the same version.
    fn differences(&self, listed: &ListedState) -> Vec<Difference>;
}

/// A page of a list, of which the items that the informer wants are in `listed`.
struct CheckedPage {
    resource_version: ResourceVersion,
    continue_token: Option<String>,
    listed: ListedState,
}

struct Source<K> {
    list: Box<List<K>>,
    filter: Option<Filter<K>>,
    indexer: Indexer<K>,
}

// === impl Relist ===

impl<K: Send + Sync + 'static> Relist<K> {
    pub(super) fn new(list_watch: Arc<impl ListWatch<K>>, page_size: Option<u32>) -> Self {
        let list = move |request: ListRequest, held: Arc<dyn HeldObjects<K>>| {
            let list_watch = Arc::clone(&list_watch);
            async move { list_watch.list(&request, &held).await }.boxed()
        };
        Self {
            list: Box::new(list),
            page_size: page_size.unwrap_or(PAGE_SIZE),
        }
    }
}

// === impl Source ===

impl<K: Send + Sync + 'static> CheckSource for Source<K> {
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<CheckedPage, ListWatchError>> {
        // What the cache holds in the same version need not be decoded again.
        let page = (self.list)(request, Arc::new(self.indexer.clone()));
        let checked = page.map_ok(|page| {
            let mut listed = ListedState::default();
            for item in page.items.into_iter().filter_map(|item| self.wanted(item)) {
                listed.add(&item);
            }
            CheckedPage {
                resource_version: page.resource_version,
                continue_token: page.continue_token,
                listed,
            }
        });
        checked.boxed()
    }

    fn snapshot(&self) -> Arc<dyn CheckedSnapshot> {
        self.indexer.snapshot()
    }
}

impl<K> Source<K> {
    /// Returns what the informer would hold of an item: the object, or its mark.
    fn wanted(&self, item: ArrivedObject<K>) -> Option<ArrivedObject<K>> {
        let object = match item {
            Ok(object) => object,
            Err(error) => return Some(Err(error)),
        };
        match is_wanted(self.filter.as_ref(), &object) {
            Ok(true) => Some(Ok(object)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl<K: Send + Sync> CheckedSnapshot for Snapshot<K> {
    fn version(&self) -> &ResourceVersion {
        self.resource_version()
    }

    fn differences(&self, listed: &ListedState) -> Vec<Difference> {
        listed.compare(self)
    }
}

// === impl Checker ===

impl Checker {
    pub(super) fn new<K: Send + Sync + 'static>(
        relist: Relist<K>,
        filter: Option<Filter<K>>,
        indexer: Indexer<K>,
        state: State,
    ) -> Self {
        let Relist { list, page_size } = relist;
        let source = Source {
            list,
            filter,
            indexer,
        };
        Self {
            source: Box::new(source),
            page_size,
            state,
        }
    }

    pub(super) async fn check(
        &self,
        limit: Duration,
    ) -> Result<ConsistencyReport, ConsistencyError> {
        let report = tokio::select! {
            biased;
            outcome = self.compare() => outcome?,
            () = self.state.sync.ended() => return Err(ConsistencyError::Stopped {
                resource: self.resource(),
            }),
            () = tokio::time::sleep(limit) => return Err(ConsistencyError::Deadline {
                resource: self.resource(),
                limit,
            }),
        };
        let count = report.differences.len() as u64;
        self.state.stats.inconsistencies.add(count);
        Ok(report)
    }

    /// Returns the server's present version, by a list of one item.
    pub(super) async fn latest_version(
        &self,
        limit: Duration,
    ) -> Result<ResourceVersion, ConsistencyError> {
        let request = ListRequest {
            limit: Some(1),
            ..ListRequest::default()
        };
        let page = tokio::time::timeout(limit, self.source.list(request)).await;
        let page = page.map_err(|_| ConsistencyError::Deadline {
            resource: self.resource(),
            limit,
        })?;
        let page = page.map_err(|source| ConsistencyError::List {
            resource: self.resource(),
            source,
        })?;
        Ok(page.resource_version)
    }

    /// Checks after each list, until `stop` or the informer's end.
    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        let checks = async {
            let mut checked = 0;
            loop {
                let replacements = &self.state.stats.replacements;
                let listed = self.state.progress.wait_for(|| {
                    let count = replacements.get();
                    (count > checked).then_some(count)
                });
                checked = listed.await;
                self.check_and_report().await;
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = self.state.sync.ended() => {}
            () = checks => {}
        }
    }

    async fn check_and_report(&self) {
        match self.check(CHECK_LIMIT).await {
            Ok(report) if report.is_consistent() => {
                tracing::debug!(%report, "cache is consistent");
            }
            Ok(report) => tracing::error!(%report, "cache is not consistent"),
            Err(error) => {
                let resource = self.state.sync.resource();
                tracing::debug!(%resource, %error, "consistency not checked");
            }
        }
    }

    async fn compare(&self) -> Result<ConsistencyReport, ConsistencyError> {
        self.state.sync.synced().await;
        loop {
            let snapshot = self.source.snapshot();
            let version = snapshot.version();
            let listed = match self.list_at(version).await {
                Ok(listed) => listed,
                Err(ConsistencyError::List { source, .. }) if source.is_expired() => {
                    self.moved_from(version).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            return Ok(ConsistencyReport {
                resource: self.resource(),
                resource_version: version.clone(),
                objects: listed.len(),
                differences: snapshot.differences(&listed),
            });
        }
    }

    /// The state at exactly `version`, page by page.
    async fn list_at(&self, version: &ResourceVersion) -> Result<ListedState, ConsistencyError> {
        let mut listed = ListedState::default();
        let mut request = ListRequest {
            resource_version: version.clone(),
            version_match: Some(VersionMatch::Exact),
            limit: Some(self.page_size),
            continue_token: None,
        };
        loop {
            let page = self.source.list(request.clone()).await;
            let page = page.map_err(|source| ConsistencyError::List {
                resource: self.resource(),
                source,
            })?;
            if page.resource_version != *version {
                return Err(ConsistencyError::OtherVersion {
                    resource: self.resource(),
                    requested: version.clone(),
                    listed: page.resource_version,
                });
            }
            listed.extend(page.listed);
            let Some(token) = page.continue_token else {
                return Ok(listed);
            };
            request = request.next_page(token);
        }
    }

    async fn moved_from(&self, version: &ResourceVersion) {
        let has_moved = || self.source.snapshot().version() != version;
        self.state
            .progress
            .wait_for(|| has_moved().then_some(()))
            .await;
    }

    fn resource(&self) -> Arc<str> {
        Arc::clone(self.state.sync.resource())
    }
}
