//! The controllers of servers that have a log in common: they run in one of them, which holds a lease in the state.
//!
//! The lease is that of client-go: whoever finds it unchanged for its duration takes it over. Time is measured by each server
//! itself, so that their clocks may differ.

use std::{sync::Arc, time::Duration};

use fakeserver_kinds::coordination::lease;
use fakeserver_value::read::text;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tracing::{debug, warn};

use super::{
    leader_election::micro_time,
    written_object::{self, Actor},
};
use crate::{
    store::{CommitError, ObjectKey, Transaction},
    write::Backend,
};

/// The namespace and the name of the lease.
const NAMESPACE: &str = "kube-system";
const NAME: &str = "fakeserver-controllers";
/// The writer of the lease.
const ACTOR: Actor = Actor::new("fakeserver");

/// The durations of client-go: of the lease, until a leader gives up, and between two tries.
const LEASE: Duration = Duration::from_secs(15);
const RENEWAL_LIMIT: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(2);

/// A candidate for the controllers of a log.
pub(super) struct Candidate {
    backend: Arc<Backend>,
    identity: String,
    /// The version of the lease that was seen last, and since when.
    seen: Option<(u64, Instant)>,
}

/// The holder of the lease after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LeaseHolder {
    Itself,
    /// Another candidate; the lease is at this version.
    Other(u64),
}

// === impl Candidate ===

impl Candidate {
    pub(super) fn new(backend: Arc<Backend>) -> Self {
        let identity = format!("fakeserver_{}", backend.entropy.uid());
        Self {
            backend,
            identity,
            seen: None,
        }
    }

    /// Waits until it holds the lease.
    pub(super) async fn acquire(&mut self) {
        while !self.holds().await {
            sleep(RETRY).await;
        }
        debug!(identity = self.identity, "controllers of this server lead");
    }

    /// Renews the lease until another one has it, or it could not be renewed for too long.
    pub(super) async fn lost(&mut self) {
        let mut renewed = Instant::now();
        loop {
            sleep(RETRY).await;
            match self.attempt().await {
                Some(LeaseHolder::Itself) => renewed = Instant::now(),
                Some(LeaseHolder::Other(_)) => break,
                None if renewed.elapsed() >= RENEWAL_LIMIT => break,
                None => {}
            }
        }
        warn!(
            identity = self.identity,
            "controllers of this server do not lead any more"
        );
    }

    async fn holds(&mut self) -> bool {
        match self.attempt().await {
            Some(LeaseHolder::Itself) => true,
            Some(LeaseHolder::Other(version)) => {
                if self.seen.is_none_or(|(seen, _)| seen != version) {
                    self.seen = Some((version, Instant::now()));
                }
                false
            }
            None => false,
        }
    }

    /// Takes or renews the lease, if that is possible; `None` if the log fails.
    async fn attempt(&self) -> Option<LeaseHolder> {
        let committing = self
            .backend
            .storage
            .commit(|tx| Ok::<_, std::convert::Infallible>(self.take(tx)));
        // Not for longer than the leader may take: what comes later may be after the lease.
        let done = tokio::time::timeout(RENEWAL_LIMIT, committing).await.ok()?;
        match done {
            Ok((holder, _)) => Some(holder),
            Err(CommitError::Log(error)) => {
                debug!(
                    error = &error as &dyn std::error::Error,
                    "lease not renewed"
                );
                None
            }
            Err(CommitError::Rejected(never)) => match never {},
        }
    }

    fn take(&self, tx: &mut Transaction<'_>) -> LeaseHolder {
        let key = ObjectKey::namespaced(lease::KIND.storage().clone(), NAMESPACE, NAME);
        let registry = self.backend.registry();
        let now = self.backend.clock.now_text();
        let Some(resource) = written_object::resource_type(&registry, key.resource()) else {
            return LeaseHolder::Other(0);
        };
        let Some(stored) = tx.get(&key) else {
            let mut object = json!({"metadata": {"name": NAME, "namespace": NAMESPACE}});
            self.hold(&mut object, 0);
            let uid = self.backend.entropy.uid().to_string();
            let object = written_object::created(&resource, ACTOR, object, &uid, &now, |_| {});
            tx.put(&key, object);
            return LeaseHolder::Itself;
        };
        let old = written_object::api_object(&resource, &stored);
        let mut new = old.clone();
        let holder = text(&old["spec"]["holderIdentity"]);
        let transitions = old["spec"]["leaseTransitions"].as_i64().unwrap_or_default();
        if holder == self.identity {
            new["spec"]["renewTime"] = self.now();
        } else if holder.is_empty() || self.is_expired(stored.revision()) {
            self.hold(&mut new, transitions + 1);
        } else {
            return LeaseHolder::Other(stored.revision());
        }
        let new = written_object::updated(&resource, ACTOR, &old, new, &now);
        tx.put(&key, new);
        LeaseHolder::Itself
    }

    /// Returns whether the lease was at this version for its duration.
    fn is_expired(&self, version: u64) -> bool {
        self.seen
            .is_some_and(|(seen, since)| seen == version && since.elapsed() >= LEASE)
    }

    /// Makes this candidate the holder.
    fn hold(&self, object: &mut Value, transitions: i64) {
        let now = self.now();
        object["spec"] = json!({
            "holderIdentity": self.identity,
            "leaseDurationSeconds": LEASE.as_secs(),
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": transitions,
        });
    }

    /// Returns the time as leases have it.
    fn now(&self) -> Value {
        micro_time(self.backend.clock.now()).into()
    }
}
