//! Compaction, by one of the servers at a time, in the manner of kube-apiserver: each has the same chance to write the key that all
//! agree on.

use std::time::Duration;

use tokio::time::sleep;
use tracing::{debug, warn};

use crate::{
    client::{
        ClientError, Compare, Operation, OperationResult, PutRequest, RangeRequest, TxnRequest,
    },
    log::Shared,
};

/// The point that a server has seen.
#[derive(Debug, Default)]
struct Point {
    /// The number of writes of the key: the number of compactions so far.
    version: i64,
    /// The revision of etcd then.
    revision: i64,
}

// === impl Shared ===

impl Shared {
    /// Compacts at intervals up to where etcd was an interval ago, unless another server has done so.
    pub(crate) async fn compact(&self) {
        let Some(interval) = self.options.compaction_interval else {
            return;
        };
        let mut point = Point::default();
        loop {
            sleep(interval.max(Duration::from_secs(1))).await;
            match self.compact_once(&point).await {
                Ok(next) => point = next,
                Err(error) => warn!(
                    error = &error as &dyn std::error::Error,
                    "etcd not compacted"
                ),
            }
        }
    }

    /// Compacts up to the revision of `point`, if no server has done so since. Returns the next point.
    async fn compact_once(&self, point: &Point) -> Result<Point, ClientError> {
        let key = self.layout().compaction_key().as_bytes().to_vec();
        let read = RangeRequest {
            key: key.clone(),
            ..RangeRequest::default()
        };
        let write = PutRequest {
            key: key.clone(),
            // Followers take it for the oldest revision that is left.
            value: point.revision.to_string().into_bytes(),
            lease: 0,
        };
        let request = TxnRequest {
            compare: vec![Compare::has_version(key, point.version)],
            success: vec![Operation::Put(write).into()],
            failure: vec![Operation::Range(read).into()],
        };
        let response = self.client.txn(request).await?;
        let revision = response.header.unwrap_or_default().revision;
        if !response.succeeded {
            let found = response
                .responses
                .into_iter()
                .find_map(|found| found.response);
            let version = match found {
                Some(OperationResult::Range(found)) => found.kvs.first().map_or(0, |kv| kv.version),
                None => 0,
            };
            return Ok(Point { version, revision });
        }
        if point.revision > 0 {
            self.client.compact(point.revision).await?;
            debug!(rv = point.revision, "etcd compacted");
        }
        Ok(Point {
            version: point.version + 1,
            revision,
        })
    }
}
