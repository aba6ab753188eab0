//! GET of a collection: a state, or a page of it.

use std::{sync::Arc, time::Duration};

use axum::response::Response;
use fakeserver_value::{resource::GroupResource, revision::Revision, status::Status};
use tokio::time::sleep;

use super::{
    Api, Request, answer,
    present::present_all,
    request_faults::RequestFaults,
    selection::selection,
    version::{ListAt, Version, VersionMatch},
};
use crate::{
    edge::{
        request::ListOptions,
        response::{ListMeta, Shape, ShardInfo, list_pieces},
    },
    store::{HistoryError, Snapshot, Storage, StoredObject, continue_token::ContinueToken},
    watch::Selection,
    write::log_failure,
};

/// The time for which a read waits for a version that has not come yet.
pub(super) const FRESHNESS_WAIT: Duration = Duration::from_secs(3);

/// Answers with a state of the collection, or a page of it, as far as faults let the client see it.
pub(super) async fn list(
    api: &Api,
    request: &Request<'_>,
    options: &ListOptions,
    faults: &RequestFaults,
) -> Result<Response, Status> {
    let encoding = answer::encoding(api, request, Shape::List)?;
    let query = ListQuery {
        sees: faults.sees,
        ..query(request, options)?
    };
    if let Some(wait) = faults.late_cache() {
        sleep(wait).await;
        if request.features.refuses_late_lists {
            let now = api.backend.storage.view(|view| view.revision().get());
            return Err(Status::cache_behind(now, now.saturating_sub(1)));
        }
    }
    let mut page = query.read(&api.backend.storage).await?;
    if encoding.has_whole_objects() {
        complete(request, &mut page.metadata);
    } else {
        page.metadata.shard_info = None;
    }
    let items = present_all(api, request, page.items).await?;
    let delivery = answer::delivery(request, &encoding);
    Ok(delivery.pieces(list_pieces(encoding, &page.metadata, items)))
}

/// Adds an empty continue token to a list of custom resources that ends: those always have one. Their type has no place for
/// the shard.
pub(super) fn complete(request: &Request<'_>, metadata: &mut ListMeta) {
    if request.target.rules().as_custom().is_some() {
        metadata.continue_token.get_or_insert_default();
        metadata.shard_info = None;
    }
}

/// Parses the list parameters of a request.
pub(super) fn query(request: &Request<'_>, options: &ListOptions) -> Result<ListQuery, Status> {
    let selection = selection(&request.target, options)?;
    let version = Version::parse(&options.resource_version)
        .map_err(|error| Status::bad_request(format!("invalid resource version: {error}")))?;
    let matching = match options.version_match.as_str() {
        "Exact" => Some(VersionMatch::Exact),
        "NotOlderThan" => Some(VersionMatch::NotOlderThan),
        _ => None,
    };
    let (at, limit) = ListAt::new(version, matching, options.limit, &options.continue_token)?;
    // A name selects one object only within a namespace.
    let has_scope =
        request.target.path.namespace.is_some() || !request.target.resource.is_namespaced;
    let name = selection.fields.required("metadata.name");
    Ok(ListQuery {
        is_latest: version == Version::Latest && options.continue_token.is_empty(),
        is_of_one: has_scope && name.is_some(),
        resource: request.target.group_resource(),
        selection,
        at,
        limit,
        sees: None,
    })
}

/// The selection and the state of a list.
#[derive(Debug)]
pub(super) struct ListQuery {
    pub resource: GroupResource,
    pub selection: Selection,
    pub at: ListAt,
    /// True if the state has to be as recent as the request.
    pub is_latest: bool,
    /// True if the field selector allows a single name. A real server then reads that object alone.
    pub is_of_one: bool,
    /// The maximum number of items.
    pub limit: Option<usize>,
    /// The revision up to which it sees, if that is not the present one.
    pub sees: Option<Revision>,
}

/// The objects of a list.
#[derive(Debug)]
pub(super) struct Page {
    pub metadata: ListMeta,
    pub items: Vec<Arc<StoredObject>>,
}

// === impl ListQuery ===

impl ListQuery {
    /// Reads the list.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub(super) async fn read(&self, storage: &Storage) -> Result<Page, Status> {
        let (revision, start) = match &self.at {
            ListAt::NotOlderThan(revision) | ListAt::Exact(revision) => (Some(*revision), None),
            ListAt::Continue(token) => (token.revision, Some(token.start.as_str())),
        };
        // Before the lock: waiting for a revision must not stop the writes that reach it. The snapshot is taken
        // afterwards, and may be newer.
        if let Some(revision) = revision {
            reach(storage, revision, self.sees).await?;
        }
        if self.is_latest {
            catch_up(storage).await?;
        }
        let (snapshot, revision) = self.snapshot(storage)?;
        Ok(self.page(&snapshot, revision, start))
    }

    fn snapshot(&self, storage: &Storage) -> Result<(Snapshot, Revision), Status> {
        let exact = match &self.at {
            ListAt::Exact(revision) => Some(*revision),
            ListAt::Continue(token) => token.revision,
            ListAt::NotOlderThan(_) => None,
        };
        storage.view(|view| {
            let Some(revision) = exact else {
                return Ok(view.snapshot_seen(&self.resource, self.sees));
            };
            match view.snapshot_at(&self.resource, revision) {
                Ok(snapshot) => Ok((snapshot, revision)),
                Err(HistoryError::Compacted) => Err(self.expired()),
                Err(HistoryError::Future { current }) => {
                    Err(Status::version_too_large(revision.get(), current.get()))
                }
            }
        })
    }

    fn expired(&self) -> Status {
        match &self.at {
            ListAt::Continue(token) => {
                // With the token, a client can continue at the latest state, at the price of an inconsistent list.
                let latest = ContinueToken {
                    revision: None,
                    start: token.start.clone(),
                };
                Status::continue_expired(latest.encode())
            }
            _ => Status::list_expired(),
        }
    }

    /// Returns the selected items of `snapshot` from `start` on, up to the limit, with the continue token.
    fn page(&self, snapshot: &Snapshot, revision: Revision, start: Option<&str>) -> Page {
        let prefix = self.selection.range.prefix();
        let start = start.map(|start| format!("{prefix}{start}"));
        let limit = self.limit.unwrap_or(usize::MAX);
        let mut objects = snapshot.objects(&self.selection.range, start.as_deref());
        let items: Vec<_> = objects
            .by_ref()
            .filter(|object| self.selection.matches(object))
            .take(limit)
            .cloned()
            .collect();
        // The remaining items include unselected ones, as in a server that has not read them yet.
        let remaining = if items.len() == limit && !self.is_of_one {
            objects.count()
        } else {
            0
        };
        // The token names the last item, and not the next: an item that is deleted between two pages does not shift the
        // rest.
        let continue_token = items.last().filter(|_| remaining > 0).map(|last| {
            let path = last.key().path();
            let relative = path.strip_prefix(prefix.as_str()).unwrap_or(path);
            ContinueToken::after(relative, Some(revision)).encode()
        });
        // With a selector, a real server does not know how many of the remaining items it will select.
        let countable = continue_token.is_some() && self.selection.is_everything();
        Page {
            metadata: ListMeta {
                resource_version: revision.to_string(),
                continue_token,
                remaining_item_count: countable.then_some(remaining),
                shard_info: ShardInfo::of(&self.selection.shard),
            },
            items,
        }
    }
}

/// Waits until the store has all that was committed before, by whichever server.
pub(super) async fn catch_up(storage: &Storage) -> Result<(), Status> {
    let caught_up = storage.catch_up().await;
    caught_up.map_err(|error| log_failure(&error))
}

/// Waits until the store has reached `revision`. If `sees` is older than `revision`, fails after the same time limit.
pub(super) async fn reach(
    storage: &Storage,
    revision: Revision,
    sees: Option<Revision>,
) -> Result<(), Status> {
    if let Some(sees) = sees.filter(|sees| *sees < revision) {
        // The store is not asked: it has the revision, and a replica that lags behind would not.
        sleep(FRESHNESS_WAIT).await;
        return Err(Status::version_too_large(revision.get(), sees.get()));
    }
    storage
        .reach(revision, FRESHNESS_WAIT)
        .await
        .map_err(|current| Status::version_too_large(revision.get(), current.get()))
}
