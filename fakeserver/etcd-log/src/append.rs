//! Transactions: compares and a write each.

use std::collections::BTreeMap;

use fakeserver_etcd::encode;
use fakeserver_server::store::{AppendOutcome, LogError, LogTransaction, LogWrite, ObjectKey};
use fakeserver_value::schema::TypeMeta;

use crate::{
    client::{Compare, DeleteRangeRequest, Operation, PutRequest, TxnRequest},
    log::{Shared, revision_of},
};

/// The number of keys on which a write depends: etcd takes up to 128 operations at a time. A write of a transaction that has read
/// more depends on its own key alone, as all writes of a real server do.
const CONDITIONS_MAX: usize = 64;

/// A transaction in the form of etcd.
pub(crate) struct EncodedTransaction {
    /// The revisions of keys, 0 of those that are missing.
    conditions: BTreeMap<Vec<u8>, i64>,
    writes: Vec<EncodedWrite>,
}

struct EncodedWrite {
    key: Vec<u8>,
    /// `None` deletes the key.
    value: Option<Vec<u8>>,
    ttl_seconds: Option<i64>,
}

// === impl Shared ===

impl Shared {
    /// Encodes the keys and values of a transaction.
    ///
    /// # Errors
    ///
    /// An object cannot be stored in etcd, such as one of a type that the version of Kubernetes does not have.
    pub(crate) fn encode(
        &self,
        transaction: &LogTransaction,
    ) -> Result<EncodedTransaction, LogError> {
        let conditions = transaction.conditions.iter().map(|(key, revision)| {
            let revision = i64::try_from(revision.get()).unwrap_or(i64::MAX);
            (self.key(key), revision)
        });
        let conditions = conditions.collect();
        let writes = transaction
            .writes
            .iter()
            .map(|write| self.encode_write(write));
        Ok(EncodedTransaction {
            conditions,
            writes: writes.collect::<Result<_, _>>()?,
        })
    }

    fn encode_write(&self, write: &LogWrite) -> Result<EncodedWrite, LogError> {
        let value = match &write.object {
            None => None,
            Some(object) => {
                let custom = match object.stored_version() {
                    "" => None,
                    version => Some(TypeMeta {
                        kind: self.kind(&write.key)?,
                        api_version: version.to_owned(),
                    }),
                };
                let resource = write.key.resource();
                let kubernetes = self.served()?.kubernetes();
                let encoded = encode(kubernetes, resource, &object.to_value(), custom.as_ref());
                Some(encoded.map_err(|error| {
                    LogError::new(format!(
                        "{resource} {}: cannot be stored: {error}",
                        write.key
                    ))
                })?)
            }
        };
        Ok(EncodedWrite {
            key: self.key(&write.key),
            value,
            ttl_seconds: write
                .lifetime
                .map(|lifetime| i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX)),
        })
    }

    /// Returns the kind of a custom resource.
    fn kind(&self, key: &ObjectKey) -> Result<String, LogError> {
        let registry = self.served()?;
        let found = registry.stored_type(key.resource());
        let kind = found.map(|resource| resource.kind.to_string());
        kind.ok_or_else(|| LogError::new(format!("{} {key}: is not defined", key.resource())))
    }

    /// Commits a transaction, and waits until the follower has it.
    pub(crate) async fn append(
        &self,
        transaction: EncodedTransaction,
    ) -> Result<AppendOutcome, LogError> {
        let EncodedTransaction {
            mut conditions,
            writes,
        } = transaction;
        let _permit = self.appends.acquire().await;
        let mut revisions = Vec::with_capacity(writes.len());
        let mut last = 0;
        for write in writes {
            let key = write.key.clone();
            let compares_all = conditions.len() <= CONDITIONS_MAX;
            let compare = conditions
                .iter()
                .filter(|(condition, _)| compares_all || **condition == key)
                .map(|(key, revision)| Compare::is_at(key.clone(), *revision));
            let compare = compare.collect();
            let is_deletion = write.value.is_none();
            let operation = self.operation(write).await?;
            let request = TxnRequest {
                compare,
                success: vec![operation.into()],
                failure: Vec::new(),
            };
            let response = self.client.txn(request).await;
            let response = response.map_err(|error| LogError::new(error.to_string()))?;
            let revision = response.header.unwrap_or_default().revision;
            if !response.succeeded {
                // The transaction is repeated on a state that has what it was in conflict with.
                self.reached(revision).await?;
                return Ok(AppendOutcome::Conflict);
            }
            // Its own writes are what the following ones find.
            conditions.insert(key, if is_deletion { 0 } else { revision });
            revisions.push(revision_of(revision));
            last = revision;
        }
        // It is committed, whether or not its watch tells of it in time.
        drop(self.reached(last).await);
        Ok(AppendOutcome::Committed(revisions))
    }

    async fn operation(&self, write: EncodedWrite) -> Result<Operation, LogError> {
        let EncodedWrite {
            key,
            value,
            ttl_seconds,
        } = write;
        let Some(value) = value else {
            return Ok(Operation::Delete(DeleteRangeRequest { key }));
        };
        let lease = match ttl_seconds {
            None => 0,
            Some(ttl_seconds) => self.leases.get(&self.client, ttl_seconds).await?,
        };
        Ok(Operation::Put(PutRequest { key, value, lease }))
    }
}
