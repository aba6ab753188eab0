//! The state of an informer that its tasks write and its handles read.

use std::sync::Arc;

use super::{metrics::Metrics, progress::Progress, stats::Stats, sync::SyncState};
use crate::{reflector::ReflectorObserver, shard::ShardFilter};

/// The state of one informer, beside its cache. A clone is the same state.
#[derive(Clone)]
pub(super) struct State {
    pub(super) sync: Arc<SyncState>,
    pub(super) progress: Arc<Progress>,
    pub(super) stats: Arc<Stats>,
    pub(super) metrics: Arc<Metrics>,
    /// The filter of its shard, if it is of one.
    pub(super) shard: Option<Arc<ShardFilter>>,
}

// === impl State ===

impl State {
    /// Creates the state of the informer `name` of `resource`, before its start.
    pub(super) fn new(
        name: &Arc<str>,
        resource: Arc<str>,
        shard: Option<Arc<ShardFilter>>,
    ) -> Self {
        Self {
            metrics: Arc::new(Metrics::new(name, &resource, shard.is_some())),
            sync: Arc::new(SyncState::new(resource)),
            progress: Arc::default(),
            stats: Arc::default(),
            shard,
        }
    }

    /// Returns the number of objects and events that were dropped, since they are outside of the shard.
    pub(super) fn out_of_shard(&self) -> u64 {
        let shard = self.shard.as_ref();
        shard.map_or(0, |filter| filter.status().dropped)
    }

    /// Returns the parts that observe the reflector.
    pub(super) fn observers(&self) -> Vec<Arc<dyn ReflectorObserver>> {
        vec![
            Arc::clone(&self.sync) as _,
            Arc::clone(&self.stats) as _,
            Arc::clone(&self.metrics) as _,
        ]
    }
}
