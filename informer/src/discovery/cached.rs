//! Remembers what a server serves, and asks again where something is missing.

use std::sync::{Arc, Mutex, MutexGuard};

use arc_swap::ArcSwapOption;
use tokio::{sync::Semaphore, time::Instant};

use super::{
    client::DiscoveryClient,
    error::{DiscoveryError, DiscoveryFailure},
    ledger::{Ledger, Scope, Ticket},
    names::GroupVersion,
    options::CacheOptions,
    resource::ServerResource,
    table::{Availability, ServerGroup, ServerResources},
};

/// A [`DiscoveryClient`] that remembers, shared by all its clones.
///
/// Known resources are returned at once and without a request until they are older than [`CacheOptions::max_age`]. Then
/// a call waits for one refresh, and returns the old answer if that fails. Missing resources are requested again, group
/// by group, unless that was done less than [`CacheOptions::miss_ttl`] ago; at most one refresh runs at a time, all
/// callers that wait for it share its outcome, and [`CacheOptions::refresh_burst`] limits the number of refreshes.
#[doc(alias = "CachedDiscoveryInterface")]
#[derive(Clone, Debug)]
pub struct CachedDiscovery {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    client: DiscoveryClient,
    cached: ArcSwapOption<ServerResources>,
    ledger: Mutex<Ledger>,
    /// One permit: the right to refresh. Given out in the order of asking; a holder that is dropped gives it back.
    turn: Semaphore,
}

// === impl CachedDiscovery ===

impl CachedDiscovery {
    /// Remembers what `client` reads. Nothing is read before the first use.
    pub fn new(client: DiscoveryClient) -> Self {
        Self::with_options(client, CacheOptions::default())
    }

    /// As [`new`](Self::new), with options.
    pub fn with_options(client: DiscoveryClient, options: CacheOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                client,
                cached: ArcSwapOption::empty(),
                ledger: Mutex::new(Ledger::new(options)),
                turn: Semaphore::new(1),
            }),
        }
    }

    /// Everything that the server serves, as last read; read now if that was never done, or is older than
    /// [`CacheOptions::max_age`]. If expired entries cannot be read again, the old ones are returned.
    ///
    /// # Errors
    ///
    /// If nothing could be read yet, or since [`invalidate`](Self::invalidate). The failure is remembered for
    /// [`CacheOptions::failure_ttl`].
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next caller begins it again.
    pub async fn server_resources(&self) -> Result<Arc<ServerResources>, DiscoveryError> {
        let asked_at = Instant::now();
        if let Some(cached) = self.usable() {
            return Ok(cached);
        }
        let _turn = self.turn().await;
        let failure = loop {
            if let Some(cached) = self.usable() {
                return Ok(cached);
            }
            let now = Instant::now();
            let (scope, ticket) = {
                let mut ledger = self.ledger();
                let scope = ledger.wanted(now).unwrap_or(Scope::Whole);
                if let Some(failure) = ledger.recent_failure(&scope, asked_at, now) {
                    break failure;
                }
                match ledger.take(now) {
                    Ok(ticket) => (scope, ticket),
                    Err(throttled) => break throttled,
                }
            };
            if let Err(failure) = self.read(scope, ticket).await {
                break failure;
            }
        };
        self.doubt_outdated(&failure);
        self.shared.cached.load_full().ok_or(failure)
    }

    /// The resources of one group version. If it is not known to be served, its group is read again.
    ///
    /// # Cancel safety
    ///
    /// If dropped, a refresh that it runs is given up; the next caller begins it again.
    #[doc(alias = "ServerResourcesForGroupVersion")]
    pub async fn group_version(&self, wanted: &GroupVersion) -> Availability<Vec<ServerResource>> {
        let asked_at = Instant::now();
        let mut failure = None;
        for is_last in [false, true] {
            let cached = match self.server_resources().await {
                Ok(cached) => cached,
                Err(error) => {
                    return Availability::Unknown(vec![DiscoveryFailure::of_everything(error)]);
                }
            };
            match cached.group_version(wanted) {
                Availability::Found(resources) => return Availability::Found(resources.to_vec()),
                Availability::Unknown(failures) if is_last => {
                    return Availability::Unknown(failures);
                }
                Availability::NotServed if is_last => break,
                Availability::NotServed | Availability::Unknown(_) => {
                    let scope = Scope::Group(wanted.group.clone());
                    failure = self.refresh(scope, asked_at).await.err();
                }
            }
        }
        match failure {
            Some(error) => {
                Availability::Unknown(vec![DiscoveryFailure::of_group(&wanted.group, error)])
            }
            None => Availability::NotServed,
        }
    }

    /// Forgets everything, so that the next use reads it. A refresh that runs meanwhile does not count.
    #[doc(alias = "Reset")]
    pub fn invalidate(&self) {
        let mut ledger = self.ledger();
        ledger.invalidate();
        self.shared.cached.store(None);
    }

    /// Has one group, empty for the core group, read again before the next use: when a request for one of its
    /// resources was answered by 404, say, or its custom resource definition has changed.
    pub fn invalidate_group(&self, group: &str) {
        self.ledger().invalidate_group(group);
    }

    /// Reads `scope` again after a lookup at `asked_at` missed something in it, unless it was read recently.
    ///
    /// # Errors
    ///
    /// If it could not be read, so that nothing can be said about what is missing.
    pub(crate) async fn refresh(
        &self,
        scope: Scope,
        asked_at: Instant,
    ) -> Result<(), DiscoveryError> {
        // Without a turn first: a known miss is answered at once, even while another caller reads.
        if let Some(outcome) = self.recent(&scope, asked_at) {
            return outcome;
        }
        let _turn = self.turn().await;
        if let Some(outcome) = self.recent(&scope, asked_at) {
            return outcome;
        }
        let ticket = self.ledger().take(Instant::now())?;
        self.read(scope, ticket).await
    }

    /// Returns the outcome of reading `scope`, if that was done recently.
    fn recent(&self, scope: &Scope, asked_at: Instant) -> Option<Result<(), DiscoveryError>> {
        let cached = self.shared.cached.load_full()?;
        // A failure elsewhere does not make what is known of the other groups worse.
        let has_failures = match scope {
            Scope::Whole => false,
            Scope::Group(group) => cached
                .group(group)
                .is_some_and(|group| group.failures().next().is_some()),
        };
        let ledger = self.ledger();
        let now = Instant::now();
        if let Some(error) = ledger.recent_failure(scope, asked_at, now) {
            return Some(Err(error));
        }
        let is_read = ledger.is_recently_read(scope, has_failures, asked_at, now);
        is_read.then_some(Ok(()))
    }

    /// Reads `scope`. The caller has the turn.
    async fn read(&self, scope: Scope, ticket: Ticket) -> Result<(), DiscoveryError> {
        tracing::debug!(?scope, "discovery refresh");
        let cached = self.shared.cached.load_full();
        let read = match (&scope, cached) {
            (Scope::Group(group), Some(cached)) => {
                let read = self.shared.client.server_group(group).await;
                read.map(|read| cached.with_group(group, read))
            }
            (Scope::Whole, _) | (_, None) => self.shared.client.server_resources().await,
        };
        let now = Instant::now();
        let mut ledger = self.ledger();
        match read {
            Ok(resources) => {
                // If not, everything was forgotten meanwhile, and what was read with it.
                if ledger.on_read(&scope, ticket, now) {
                    self.shared.cached.store(Some(Arc::new(resources)));
                }
                Ok(())
            }
            Err(error) => {
                tracing::debug!(
                    ?scope,
                    error = &error as &dyn std::error::Error,
                    "discovery refresh failed"
                );
                ledger.on_failure(&scope, &error, now);
                Err(error)
            }
        }
    }

    /// Replaces the invalidated groups that could not be read again by failures.
    fn doubt_outdated(&self, error: &DiscoveryError) {
        let Some(cached) = self.shared.cached.load_full() else {
            return;
        };
        let ledger = self.ledger();
        let doubtful: Vec<&ServerGroup> = cached
            .groups()
            .filter(|group| ledger.is_outdated(&group.name))
            .filter(|group| group.versions.iter().any(|it| it.resources.is_ok()))
            .collect();
        if doubtful.is_empty() {
            return;
        }
        let mut resources = ServerResources::clone(&cached);
        for group in doubtful {
            resources = resources.with_group(&group.name, Some(group.doubted(error)));
        }
        self.shared.cached.store(Some(Arc::new(resources)));
    }

    /// Returns the known resources, unless something has to be read first.
    fn usable(&self) -> Option<Arc<ServerResources>> {
        let is_wanted = self.ledger().wanted(Instant::now()).is_some();
        if is_wanted {
            return None;
        }
        self.shared.cached.load_full()
    }

    async fn turn(&self) -> tokio::sync::SemaphorePermit<'_> {
        let turn = self.shared.turn.acquire().await;
        turn.expect("the semaphore is never closed")
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        let ledger = self.shared.ledger.lock();
        ledger.expect("nothing panics while it holds the ledger")
    }
}
