//! Decides what is done about each write of the subject. A pure core: it performs nothing.

use std::{collections::BTreeMap, time::Duration};

use super::{
    kinds::ObjectRef,
    plan::{Perturbation, Plan, Refusal, Side},
    trace::{WriteKey, WritePoint},
};

/// The plan's orders about a write, in the order in which they are carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WriteOrders {
    /// Objects that are deleted before it reaches the server; true to create one again.
    pub(super) delete: Vec<(ObjectRef, bool)>,
    /// Objects that are annotated before it reaches the server.
    pub(super) touch: Vec<ObjectRef>,
    /// The version of Kubernetes that the server becomes before it arrives.
    pub(super) upgrade: Option<String>,
    /// The resources that stand still from now on.
    pub(super) freeze: Vec<String>,
    /// Its fate then.
    pub(super) fate: WriteVerdict,
}

/// The fate of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WriteVerdict {
    /// The server answers it.
    #[default]
    Served,
    /// The process is killed before it reaches the server.
    CrashBefore,
    /// The connection breaks before it reaches the server.
    LostRequest,
    /// It gets this answer instead of reaching the server.
    Refused(Refusal),
    /// The process is killed when the server has done it.
    CrashAfter,
    /// The connection breaks when the server has done it.
    LostAnswer,
    /// The process is stopped when it was answered.
    Stop,
}

/// The plan of a run, and how far it has come.
#[derive(Debug)]
pub(super) struct Director {
    perturbations: Vec<Perturbation>,
    done: Vec<bool>,
    counts: BTreeMap<WriteKey, usize>,
    /// The keys that are refused.
    refusing: BTreeMap<WriteKey, RefusedKey>,
    /// True if the next write kills its process, too.
    kills_next: bool,
}

/// The refusal of one key.
#[derive(Debug)]
struct RefusedKey {
    with: Refusal,
    /// The number of refusals that are left.
    left: usize,
    /// The end of the refusals.
    until: Duration,
}

/// The longest time for which writes are refused: a client that waits long between attempts is not kept any longer.
const REFUSING_MAX: Duration = Duration::from_secs(2);

// === impl WriteOrders ===

impl WriteOrders {
    pub(super) fn is_something(&self) -> bool {
        *self != Self::default()
    }
}

// === impl Director ===

impl Director {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            perturbations: plan.perturbations.clone(),
            done: vec![false; plan.perturbations.len()],
            counts: BTreeMap::new(),
            refusing: BTreeMap::new(),
            kills_next: false,
        }
    }

    /// Takes a write at `now`, and returns which one of its key it is and what is done about it.
    pub(super) fn on_write(&mut self, key: &WriteKey, now: Duration) -> (WritePoint, WriteOrders) {
        let count = self.counts.entry(key.clone()).or_default();
        *count += 1;
        let point = WritePoint {
            key: key.clone(),
            occurrence: *count,
        };
        let mut orders = WriteOrders::default();
        // First, so that later orders overrule it: a write has one fate.
        if std::mem::take(&mut self.kills_next) {
            orders.fate = WriteVerdict::CrashBefore;
        }
        if let Some(refusing) = self.refusing.get_mut(key) {
            if refusing.left > 0 && now < refusing.until {
                orders.fate = WriteVerdict::Refused(refusing.with);
                refusing.left -= 1;
            } else {
                self.refusing.remove(key);
            }
        }
        for (perturbation, is_done) in self.perturbations.iter().zip(&mut self.done) {
            if *is_done || perturbation.point() != Some(&point) {
                continue;
            }
            *is_done = true;
            match perturbation {
                Perturbation::Crash { side, twice, .. } => {
                    orders.fate = match side {
                        Side::Before => WriteVerdict::CrashBefore,
                        Side::After => WriteVerdict::CrashAfter,
                    };
                    self.kills_next |= twice;
                }
                Perturbation::LoseAnswer { applied: true, .. } => {
                    orders.fate = WriteVerdict::LostAnswer;
                }
                Perturbation::LoseAnswer { .. } => orders.fate = WriteVerdict::LostRequest,
                Perturbation::Refuse { with, times, .. } => {
                    orders.fate = WriteVerdict::Refused(*with);
                    let refusing = RefusedKey {
                        with: *with,
                        // This write is the first that is refused.
                        left: times.saturating_sub(1),
                        until: now + REFUSING_MAX,
                    };
                    self.refusing.insert(key.clone(), refusing);
                }
                Perturbation::Freeze {
                    resource, restart, ..
                } => {
                    orders.freeze.push(resource.clone());
                    if *restart {
                        orders.fate = WriteVerdict::CrashAfter;
                    }
                }
                Perturbation::Delete { object, anew, .. } => {
                    orders.delete.push((object.clone(), *anew));
                }
                Perturbation::Touch { object, .. } => orders.touch.push(object.clone()),
                Perturbation::Upgrade { version, .. } => orders.upgrade = Some(version.clone()),
                Perturbation::Stop { .. } => orders.fate = WriteVerdict::Stop,
                Perturbation::Merge { .. }
                | Perturbation::Skip { .. }
                | Perturbation::Fault { .. }
                | Perturbation::Change { .. } => {}
            }
        }
        (point, orders)
    }

    /// Returns the perturbations at writes that did not come.
    pub(super) fn not_done(&self) -> impl Iterator<Item = &Perturbation> {
        let both = self.perturbations.iter().zip(&self.done);
        both.filter(|(perturbation, is_done)| !**is_done && perturbation.point().is_some())
            .map(|(perturbation, _)| perturbation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Family;

    fn key(name: &str) -> WriteKey {
        WriteKey {
            verb: "create".to_owned(),
            resource: "pods".to_owned(),
            subresource: None,
            namespace: "shop".to_owned(),
            name: name.to_owned(),
        }
    }

    fn point(name: &str, occurrence: usize) -> WritePoint {
        WritePoint {
            key: key(name),
            occurrence,
        }
    }

    fn director(perturbation: Perturbation) -> Director {
        Director::new(&Plan {
            family: Family::Crash,
            perturbations: vec![perturbation],
        })
    }

    #[test]
    fn a_perturbation_is_done_once_at_its_write() {
        let mut director = director(Perturbation::Crash {
            at: point("a", 2),
            side: Side::After,
            twice: true,
        });
        assert!(
            !director
                .on_write(&key("a"), Duration::ZERO)
                .1
                .is_something()
        );
        assert!(
            !director
                .on_write(&key("b"), Duration::ZERO)
                .1
                .is_something()
        );
        assert_eq!(director.not_done().count(), 1);
        let (at, orders) = director.on_write(&key("a"), Duration::ZERO);
        assert_eq!((at, orders.fate), (point("a", 2), WriteVerdict::CrashAfter));
        assert_eq!(director.not_done().count(), 0);
        // The next process dies at its first write.
        assert_eq!(
            director.on_write(&key("c"), Duration::ZERO).1.fate,
            WriteVerdict::CrashBefore
        );
        assert!(
            !director
                .on_write(&key("a"), Duration::ZERO)
                .1
                .is_something()
        );
    }

    #[test]
    fn refusals_go_on_for_the_same_key() {
        let mut director = director(Perturbation::Refuse {
            at: point("a", 1),
            with: Refusal::Internal,
            times: 3,
        });
        let refused: Vec<bool> = ["a", "b", "a", "a", "a"]
            .iter()
            .map(|name| {
                director
                    .on_write(&key(name), Duration::ZERO)
                    .1
                    .is_something()
            })
            .collect();
        assert_eq!(refused, [true, false, true, true, false]);
    }

    #[test]
    fn refusals_end_for_a_client_that_waits_long() {
        let mut director = director(Perturbation::Refuse {
            at: point("a", 1),
            with: Refusal::Internal,
            times: 3,
        });
        assert!(
            director
                .on_write(&key("a"), Duration::ZERO)
                .1
                .is_something()
        );
        let later = Duration::from_secs(5);
        assert!(!director.on_write(&key("a"), later).1.is_something());
    }
}
