//! Leases of etcd: the end of events.

use std::time::Duration;

use fakeserver_server::store::LogError;
use tokio::{sync::Mutex, time::Instant};

use crate::client::Client;

/// The time for which a lease is given to further keys, by which they live longer.
const REUSED_FOR: Duration = Duration::from_mins(1);
/// The number of keys of a lease. Their end is one revision.
const KEYS_MAX: usize = 1_000;

/// The lease that is given out at present.
#[derive(Debug, Default)]
pub(crate) struct Leases(Mutex<Option<CurrentLease>>);

#[derive(Debug)]
struct CurrentLease {
    id: i64,
    ttl_seconds: i64,
    granted: Instant,
    keys: usize,
}

// === impl Leases ===

impl Leases {
    /// Returns a lease that ends after `ttl_seconds`, or up to a minute later: one for each key would be a load for etcd.
    pub(crate) async fn get(&self, client: &Client, ttl_seconds: i64) -> Result<i64, LogError> {
        // Held while one is granted, so that all who need one wait for the same.
        let mut current = self.0.lock().await;
        if let Some(lease) = current.as_mut()
            && lease.ttl_seconds == ttl_seconds
            && lease.granted.elapsed() < REUSED_FOR
            && lease.keys < KEYS_MAX
        {
            lease.keys += 1;
            return Ok(lease.id);
        }
        let reused_for = i64::try_from(REUSED_FOR.as_secs()).unwrap_or_default();
        let granted = client.grant_lease(ttl_seconds + reused_for).await;
        let id = granted.map_err(|error| LogError::new(error.to_string()))?;
        *current = Some(CurrentLease {
            id,
            ttl_seconds,
            granted: Instant::now(),
            keys: 1,
        });
        Ok(id)
    }
}
