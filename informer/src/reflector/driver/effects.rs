//! Tells the machine what came of a step, and performs what it says.

use super::{AtHand, Driver, Ended};
use crate::{
    list_watch::{Arrived, ListWatch, ListWatchError},
    reflector::{
        Failure,
        machine::{Effect, EventKind, Input},
    },
    store::{ReflectorStore, StoreClosed},
};

// === impl Driver ===

impl<K, L, S> Driver<K, L, S>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
    S: ReflectorStore<K>,
{
    /// Tells the machine, and performs what it says.
    pub(super) async fn handle(
        &mut self,
        input: Input<'_>,
        error: Option<&ListWatchError>,
        mut at_hand: AtHand<K>,
    ) -> Result<(), Ended> {
        let phase = self.machine.phase();
        let mut effects = std::mem::take(&mut self.effects);
        self.machine
            .handle(self.began.elapsed(), input, &mut effects);
        for effect in effects.drain(..) {
            match effect {
                Effect::Stage => match std::mem::replace(&mut at_hand, AtHand::Nothing) {
                    AtHand::Nothing => {}
                    AtHand::Page(items) => self.staging.extend(items),
                    AtHand::Event(EventKind::Deleted, arrived) => self.staging.remove(&arrived),
                    AtHand::Event(_, arrived) => self.staging.put(arrived),
                },
                Effect::Deliver => {
                    if let AtHand::Event(kind, arrived) =
                        std::mem::replace(&mut at_hand, AtHand::Nothing)
                    {
                        self.deliver(kind, arrived).await?;
                    }
                }
                Effect::Discard => self.staging.discard(),
                Effect::Commit {
                    version,
                    is_authoritative,
                } => {
                    tracing::debug!(rv = %version, is_authoritative, "replacing the store");
                    self.note_listed(&version);
                    let replacement = self.staging.take(version, is_authoritative);
                    self.store.replace(replacement).await?;
                }
                Effect::Bookmark { version } => self.store.bookmark(version).await?,
                Effect::ReportFailure {
                    cause,
                    attempt,
                    delay,
                } => {
                    let failure = Failure {
                        phase,
                        cause,
                        error,
                        attempt,
                        delay,
                    };
                    let failure = self.consult(failure);
                    self.note_failure(&failure);
                }
                Effect::ReportWentBack {
                    from,
                    to,
                    is_accepted,
                } => {
                    tracing::warn!(rv = %from, to_rv = %to, is_accepted, "the server went back");
                    self.observer.version_went_back(&from, &to, is_accepted);
                }
            }
        }
        self.effects = effects;
        Ok(())
    }

    async fn deliver(&mut self, kind: EventKind, arrived: Arrived<K>) -> Result<(), StoreClosed> {
        match (kind, arrived) {
            (EventKind::Added, Ok(object)) => self.store.add(object).await,
            (EventKind::Modified, Ok(object)) => self.store.update(object).await,
            (EventKind::Deleted, Ok(object)) => self.store.delete(object).await,
            (EventKind::Added | EventKind::Modified, Err(error)) => {
                self.store.undecodable(error).await
            }
            (EventKind::Deleted, Err(error)) => self.store.delete_undecodable(error).await,
        }
    }
}
