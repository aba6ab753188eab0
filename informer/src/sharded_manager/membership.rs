//! A member at work: announces itself, and looks who else is there.

use std::{sync::Arc, time::Duration};

use kube::{
    Api,
    api::{DeleteParams, ListParams, Preconditions},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, timeout},
};
use tracing::{debug, warn};

use super::{
    machine::{ListedLease, Machine, Plan},
    names::LeaseNames,
};
use crate::{
    backoff::Jitter,
    entropy::fnv1a,
    leader_election::{HeldLease, LeaderElectionOptions, LeaseLock, Record, micro_time, record_of},
};

/// The membership of one copy.
pub(super) struct Membership {
    identity: Arc<str>,
    names: LeaseNames,
    options: LeaderElectionOptions,
    leases: Api<DynamicObject>,
    own: LeaseLock,
    held: Option<HeldLease>,
    machine: Machine,
    jitter: Jitter,
    /// Notified by those who want a round at once.
    round_requested: Arc<Notify>,
    /// The number of rounds that have failed since the last that did not.
    failures: u32,
}

/// The reason why a round of a member failed. It may pass.
#[derive(Debug, thiserror::Error)]
enum RoundError {
    #[error(transparent)]
    Server(#[from] kube::Error),
    #[error("no answer in time")]
    NoAnswer,
}

// === impl Membership ===

impl Membership {
    pub(super) fn new(
        client: &kube::Client,
        namespace: &str,
        names: LeaseNames,
        identity: Arc<str>,
        options: LeaderElectionOptions,
    ) -> Self {
        let kind = GroupVersionKind::gvk("coordination.k8s.io", "v1", "Lease");
        let resource = ApiResource::from_gvk(&kind);
        let own = LeaseLock::new(client.clone(), namespace, names.of_member(&identity));
        Self {
            leases: Api::namespaced_with(client.clone(), namespace, &resource),
            own: own.with_labels(names.labels()),
            held: None,
            machine: Machine::new(Arc::clone(&identity), names.clone()),
            jitter: Jitter::new(fnv1a(&identity)),
            identity,
            names,
            options,
            round_requested: Arc::default(),
            failures: 0,
        }
    }

    /// Returns the signal for a round at once.
    pub(super) fn round_requested(&self) -> Arc<Notify> {
        Arc::clone(&self.round_requested)
    }

    /// Announces this copy, and publishes its part in the work, until it is dropped.
    pub(super) async fn run(&mut self, plans: &watch::Sender<Plan>) {
        loop {
            match self.round().await {
                Ok(plan) => {
                    self.failures = 0;
                    self.publish(plans, plan).await;
                }
                // The plan stays: what is owned is safe by its own lease.
                Err(error) => self.note(&error),
            }
            let jitter = 0.2 * self.jitter.share();
            let period = self.options.retry_period.mul_f64(1.0 + jitter);
            // A shard that was taken waits for the next round.
            drop(timeout(period, self.round_requested.notified()).await);
        }
    }

    /// Says that this copy is gone, so that others take over at once.
    pub(super) async fn withdraw(&mut self) {
        let name = self.names.of_member(&self.identity);
        let limit = self.options.request_timeout();
        let params = DeleteParams::default();
        match timeout(limit, self.leases.delete(&name, &params)).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => debug!(%error, "cannot remove the lease of this copy"),
            Err(_) => debug!("no answer to removing the lease of this copy"),
        }
    }

    fn note(&mut self, error: &RoundError) {
        self.failures += 1;
        if self.failures == 1 {
            warn!(%error, "cannot see the other copies");
        } else {
            debug!(%error, "cannot see the other copies");
        }
    }

    async fn round(&mut self) -> Result<Plan, RoundError> {
        let begun = Instant::now();
        self.announce().await?;
        // Without a version it is the most recent state: of two copies that begin at once, one sees the other.
        let params = ListParams::default().labels(&self.names.selector());
        let list = within(self.options.request_timeout(), self.leases.list(&params)).await?;
        let found = list.items.into_iter().map(|lease| ListedLease {
            division: LeaseNames::division_of(lease.metadata.labels.as_ref()),
            record: record_of(&lease),
            name: lease.metadata.name.unwrap_or_default(),
        });
        Ok(self.machine.on_list(begun, Instant::now(), found.collect()))
    }

    async fn announce(&mut self) -> Result<(), RoundError> {
        let seconds = i32::try_from(self.options.lease_duration.as_secs());
        let now = micro_time(self.options.clock.now());
        let record = Record {
            holder_identity: Some(self.identity.to_string()),
            lease_duration_seconds: Some(seconds.unwrap_or(i32::MAX)),
            acquire_time: None,
            renew_time: Some(now),
            lease_transitions: None,
            preferred_holder: None,
        };
        let limit = self.options.request_timeout();
        // If this is dropped or fails half-way, the lease is read before the next write.
        if self.held.is_none() {
            self.held = within(limit, self.own.get()).await?.map(|(_, held)| held);
        }
        let held = self.held.take();
        self.held = Some(within(limit, self.own.write(held.as_ref(), &record)).await?);
        Ok(())
    }

    async fn publish(&self, plans: &watch::Sender<Plan>, plan: Plan) {
        let forgotten = plan.forgotten.clone();
        let is_new = plans.borrow().other_division != plan.other_division;
        if let Some(other) = plan.other_division.as_ref().filter(|_| is_new) {
            let own = self.names.division();
            warn!(
                own,
                other, "another copy has other shards: none is taken before it is gone"
            );
        }
        plans.send_replace(plan);
        for name in forgotten {
            self.forget(&name).await;
        }
    }

    /// Removes the lease of a member that is long gone, unless it comes back this moment.
    async fn forget(&self, name: &str) {
        let removed = async {
            let Some(lease) = self.leases.get_opt(name).await? else {
                return Ok(());
            };
            let preconditions = Preconditions {
                uid: lease.metadata.uid,
                resource_version: lease.metadata.resource_version,
            };
            let params = DeleteParams {
                preconditions: Some(preconditions),
                ..DeleteParams::default()
            };
            self.leases.delete(name, &params).await.map(drop)
        };
        match within(self.options.request_timeout(), removed).await {
            Ok(()) => debug!(name, "removed the lease of a copy that is gone"),
            Err(error) => debug!(name, %error, "cannot remove the lease of a copy that is gone"),
        }
    }
}

/// Waits for a request up to a limit.
async fn within<T>(
    limit: Duration,
    request: impl Future<Output = Result<T, kube::Error>>,
) -> Result<T, RoundError> {
    let answer = timeout(limit, request)
        .await
        .map_err(|_| RoundError::NoAnswer)?;
    Ok(answer?)
}
