//! The roll-out of a deployment from one template to the next: the replicas that each of its sets gets.

use fakeserver_value::read::text;
use serde_json::Value;

use super::{
    super::{
        objects::{number, part},
        replica_failure::failure_of,
    },
    REVISION,
};

/// A replica set of a deployment.
#[derive(Clone, Debug, Default)]
pub(super) struct ReplicaSetState {
    pub(super) name: String,
    pub(super) wanted: i64,
    pub(super) ready: i64,
    pub(super) available: i64,
    pub(super) replicas: i64,
    pub(super) terminating: i64,
    /// The condition that pods were not created.
    pub(super) failure: Option<Value>,
}

/// The roll-out of a deployment from one template to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rollout {
    pub(super) wanted: i64,
    pub(super) surge: i64,
    pub(super) unavailable: i64,
    /// All old pods go before new ones come.
    pub(super) recreates: bool,
    pub(super) is_paused: bool,
}

// === impl Rollout ===

impl Rollout {
    pub(super) fn of(deployment: &Value) -> Self {
        let spec = &deployment["spec"];
        let wanted = number(&spec["replicas"], 1);
        let strategy = &spec["strategy"];
        let rolling = &strategy["rollingUpdate"];
        let surge = part(&rolling["maxSurge"], wanted, true);
        let unavailable = part(&rolling["maxUnavailable"], wanted, false).min(wanted);
        // Percentages may both be rounded to 0, with which no pod could ever be replaced.
        let is_stuck = surge == 0 && unavailable == 0;
        Self {
            wanted,
            surge,
            unavailable: if is_stuck { 1 } else { unavailable },
            recreates: strategy["type"] == "Recreate",
            is_paused: spec["paused"] == true,
        }
    }

    pub(super) fn maximum(self) -> i64 {
        if self.recreates {
            self.wanted
        } else {
            self.wanted + self.surge
        }
    }

    /// Returns the replicas that each set gets: the old ones, oldest first, and the current one.
    pub(super) fn plan(
        self,
        old: &[ReplicaSetState],
        current: Option<&ReplicaSetState>,
    ) -> (Vec<i64>, i64) {
        let mut olds: Vec<i64> = old.iter().map(|set| set.wanted).collect();
        let old_total: i64 = olds.iter().sum();
        let Some(current) = current else {
            // A deployment that is paused before its first roll-out: the newest of the old is scaled.
            if let Some(last) = olds.last_mut().filter(|_| old_total != self.wanted) {
                *last = (*last + self.wanted - old_total).max(0);
            }
            return (olds, 0);
        };
        // A pause stops the roll-out, but not scaling: the difference goes to the current set, the old ones stay.
        if self.is_paused {
            let own = if old_total == 0 {
                self.wanted
            } else {
                (self.wanted - old_total).max(0)
            };
            return (olds, own);
        }
        if self.recreates {
            // By the status as well: a set that is scaled to 0 has pods until they are gone.
            let has_pods = |set: &ReplicaSetState| set.replicas + set.terminating > 0;
            let has_old_pods = old.iter().any(has_pods);
            olds.fill(0);
            let own = if has_old_pods || old_total > 0 {
                current.wanted.min(self.wanted)
            } else {
                self.wanted
            };
            return (olds, own);
        }
        let room = self.maximum() - old_total - current.wanted;
        let own = if current.wanted > self.wanted {
            self.wanted
        } else {
            current.wanted + room.clamp(0, self.wanted - current.wanted)
        };
        // With the current set as it is: the pods that are created now are not available yet.
        self.scale_down(old, &mut olds, current);
        (olds, own)
    }

    /// Scales the old sets down as far as permitted, unavailable replicas first.
    fn scale_down(self, old: &[ReplicaSetState], olds: &mut [i64], current: &ReplicaSetState) {
        let minimum = self.wanted - self.unavailable;
        let total: i64 = olds.iter().sum::<i64>() + current.wanted;
        // A template whose pods do not become available takes no more old pods down.
        let missing = (current.wanted - current.available).max(0);
        let mut may_go = total - minimum - missing;
        // They serve no request, so that removing them costs no availability.
        for (set, wanted) in old.iter().zip(olds.iter_mut()) {
            let broken = (*wanted - set.available).clamp(0, may_go.max(0));
            *wanted -= broken;
            may_go -= broken;
        }
        let available: i64 = old
            .iter()
            .zip(olds.iter())
            .map(|(set, wanted)| set.available.min(*wanted))
            .sum();
        let mut spare = (available + current.available - minimum).max(0);
        for wanted in olds.iter_mut() {
            let gone = (*wanted).min(spare);
            *wanted -= gone;
            spare -= gone;
        }
    }
}

// === impl ReplicaSetState ===

impl ReplicaSetState {
    pub(super) fn of(set: &Value) -> Self {
        let status = &set["status"];
        Self {
            name: text(&set["metadata"]["name"]).to_owned(),
            wanted: number(&set["spec"]["replicas"], 1),
            ready: number(&status["readyReplicas"], 0),
            available: number(&status["availableReplicas"], 0),
            replicas: number(&status["replicas"], 0),
            terminating: number(&status["terminatingReplicas"], 0),
            failure: failure_of(status).cloned(),
        }
    }
}

/// The revision that a replica set stands for.
pub(super) fn revision_of(set: &Value) -> i64 {
    let revision = &set["metadata"]["annotations"][REVISION];
    text(revision).parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(wanted: i64, available: i64) -> ReplicaSetState {
        ReplicaSetState {
            name: "s".to_owned(),
            wanted,
            ready: available,
            available,
            replicas: wanted,
            terminating: 0,
            failure: None,
        }
    }

    /// Returns the plan of `rollout` for old sets and a current one, each with wanted and available replicas.
    fn check(rollout: Rollout, old: &[(i64, i64)], own: (i64, i64)) -> (Vec<i64>, i64) {
        let old: Vec<ReplicaSetState> = old.iter().map(|(wanted, up)| set(*wanted, *up)).collect();
        rollout.plan(&old, Some(&set(own.0, own.1)))
    }

    const ROLLING: Rollout = Rollout {
        wanted: 4,
        surge: 1,
        unavailable: 1,
        recreates: false,
        is_paused: false,
    };

    #[test]
    fn a_roll_out_stays_between_its_bounds() {
        assert_eq!(check(ROLLING, &[], (0, 0)), (vec![], 4));
        assert_eq!(check(ROLLING, &[], (6, 6)), (vec![], 4));
        // One more than wanted, one less available.
        assert_eq!(check(ROLLING, &[(4, 4)], (0, 0)), (vec![3], 1));
        assert_eq!(check(ROLLING, &[(3, 3)], (1, 0)), (vec![3], 2));
        assert_eq!(check(ROLLING, &[(3, 3)], (2, 2)), (vec![1], 2));
        assert_eq!(check(ROLLING, &[(1, 1)], (4, 4)), (vec![0], 4));
        // Unhealthy pods are removed first, regardless of the other sets.
        assert_eq!(check(ROLLING, &[(3, 0), (2, 2)], (0, 0)), (vec![1, 2], 0));
    }

    #[test]
    fn a_paused_roll_out_is_only_scaled() {
        let paused = Rollout {
            is_paused: true,
            ..ROLLING
        };
        assert_eq!(check(paused, &[(3, 3)], (1, 1)), (vec![3], 1));
        assert_eq!(check(paused, &[(0, 0)], (1, 1)), (vec![0], 4));
    }

    #[test]
    fn recreate_deletes_old_pods_first() {
        let recreated = Rollout {
            recreates: true,
            ..ROLLING
        };
        assert_eq!(check(recreated, &[(4, 4)], (0, 0)), (vec![0], 0));
        assert_eq!(check(recreated, &[], (0, 0)), (vec![], 4));
        let mut stopping = set(0, 0);
        let own = set(0, 0);
        stopping.terminating = 1;
        assert_eq!(recreated.plan(&[stopping], Some(&own)), (vec![0], 0));
        assert_eq!(recreated.plan(&[set(0, 0)], Some(&own)), (vec![0], 4));
    }
}
