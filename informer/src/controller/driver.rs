//! One reconcile: what comes before the function of the controller, and after it.

use std::{future::Future, sync::Arc, time::Duration};

use super::{
    ControllerKind,
    context::{Context, Parts},
    error::{BoxError, ReconcileError, Terminal},
    finalizer::{Finalizer, FinalizerStep},
    runnable::OwnedShard,
};
use crate::{
    object::{Object, ObjectKey},
    shard::{Shard, ShardField},
    workqueue::Action,
};

/// The function of a controller, and what it needs around it.
pub(super) struct Reconciler<F> {
    pub(super) parts: Arc<Parts>,
    pub(super) finalizer: Option<Finalizer>,
    /// The longest wait for one's own writes.
    pub(super) gate_limit: Duration,
    /// The shard of the objects that are reconciled; `None` for all.
    pub(super) shard: Option<OwnedShard>,
    pub(super) function: F,
}

// === impl Reconciler ===

impl<F> Reconciler<F> {
    pub(super) async fn reconcile<K, R, E>(&self, key: ObjectKey) -> Result<Action, ReconcileError>
    where
        K: ControllerKind,
        F: Fn(Context<K>, ObjectKey) -> R,
        R: Future<Output = Result<Action, E>>,
        E: Into<BoxError>,
    {
        // Before the object is read: the cache has to show what the last reconcile of the key wrote.
        self.parts.gate.wait(&key, self.gate_limit).await?;
        let object = self.cached::<K>(&key);
        if let Some(OwnedShard { shard, fence }) = &self.shard {
            if !is_in(*shard, &key, object.as_ref()) {
                return Ok(Action::AwaitChange);
            }
            // The process may have stood still until this moment. The key stays, in case that the lease is renewed all the same.
            if !fence.is_open() {
                return Err(ReconcileError::NotOwned);
            }
        }
        let step = self.next_step(object.as_ref());
        match (step, &self.finalizer, &object) {
            (FinalizerStep::Done, ..) => return Ok(Action::AwaitChange),
            (FinalizerStep::Add, Some(finalizer), Some(object)) => {
                let added = finalizer.add(&self.parts.client, &**object.get()).await;
                let added = added.map_err(failed(finalizer))?;
                self.parts.gate.wrote(&key, &added);
                // Again at once: the gate waits until the cache shows it.
                return Ok(Action::RequeueAfter(Duration::ZERO));
            }
            _ => {}
        }
        // Kept for the finalizer: the object goes to the function, and another one may have its name afterwards.
        let uid = object.as_ref().map(|object| object.uid().to_owned());
        let is_cleanup = step == FinalizerStep::Cleanup;
        let context = Context {
            parts: Arc::clone(&self.parts),
            key: key.clone(),
            object,
            is_cleanup,
        };
        let outcome = (self.function)(context, key.clone()).await;
        let action = outcome.or_else(|error| unless_terminal(&self.parts, &key, error.into()))?;
        if let (Action::AwaitChange, true, Some(finalizer), Some(uid)) =
            (action, is_cleanup, &self.finalizer, uid)
        {
            let removed = finalizer.remove::<K>(&self.parts.client, &key, &uid);
            removed.await.map_err(failed(finalizer))?;
        }
        Ok(action)
    }

    fn next_step<K: ControllerKind>(&self, object: Option<&Object<K>>) -> FinalizerStep {
        match (&self.finalizer, object) {
            (Some(finalizer), Some(object)) => finalizer.next_step(object.get().meta()),
            _ => FinalizerStep::Apply,
        }
    }

    fn cached<K: ControllerKind>(&self, key: &ObjectKey) -> Option<Object<K>> {
        let lister = self.parts.listers.get::<K>()?;
        if key.namespace().is_empty() {
            return lister.get(key.name()).ok();
        }
        let lister = lister.namespaced(key.namespace()).ok()?;
        lister.get(key.name()).ok()
    }
}

/// Returns true unless the key is another owner's to reconcile: of an object that is gone, the uid is not known.
fn is_in<K>(shard: Shard, key: &ObjectKey, object: Option<&Object<K>>) -> bool {
    match shard.field() {
        ShardField::Namespace => shard.contains_value(key.namespace()),
        ShardField::Uid => object.is_some_and(|object| shard.contains_value(object.uid())),
    }
}

fn failed(finalizer: &Finalizer) -> impl FnOnce(kube::Error) -> ReconcileError {
    let name = finalizer.name().into();
    move |source| ReconcileError::Finalizer { name, source }
}

/// Ends the attempts if the error is terminal.
fn unless_terminal(
    parts: &Parts,
    key: &ObjectKey,
    error: BoxError,
) -> Result<Action, ReconcileError> {
    if error.downcast_ref::<Terminal>().is_none() {
        return Err(ReconcileError::Function(error));
    }
    let controller = &*parts.controller;
    tracing::error!(controller, %key, %error, "reconcile failed, and is not tried again before a change");
    Ok(Action::AwaitChange)
}
