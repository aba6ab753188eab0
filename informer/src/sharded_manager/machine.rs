//! The pure core: what a member knows of the leases, and which shards it is to own.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::{assignment::assign, names::LeaseNames};
use crate::leader_election::{Observation, Record};

/// The time after its end when the lease of a member is removed.
const REMOVED_AFTER: Duration = Duration::from_mins(2);

/// A member's knowledge of all leases.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    identity: Arc<str>,
    names: LeaseNames,
    /// By the names of the leases.
    seen: BTreeMap<String, LeaseState>,
}

/// A lease in a list.
#[derive(Clone, Debug)]
pub(super) struct ListedLease {
    pub(super) name: String,
    /// The division into shards that its writer knows.
    pub(super) division: String,
    pub(super) record: Record,
}

#[derive(Clone, Debug)]
struct LeaseState {
    division: String,
    lease: Observation,
}

/// The part of a member in the work.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The beginning of the round in which the leases were seen; `None` before the first.
    pub(super) begun: Option<Instant>,
    /// The members that are there, this one among them.
    pub(super) members: BTreeSet<Arc<str>>,
    /// The shards that this member is to own.
    pub(super) assigned: BTreeSet<u32>,
    /// Another division into shards, while there is a copy that has it: then no shard is taken.
    pub(super) other_division: Option<String>,
    /// The leases of the assigned shards as they were seen.
    pub(super) leases: BTreeMap<u32, Observation>,
    /// The leases of members that are long gone, if it is this member's turn to remove them.
    pub(super) forgotten: Vec<String>,
}

// === impl Machine ===

impl Machine {
    pub(super) fn new(identity: Arc<str>, names: LeaseNames) -> Self {
        Self {
            identity,
            names,
            seen: BTreeMap::new(),
        }
    }

    /// All leases were listed in a round that was `begun` with an announcement of this member.
    pub(super) fn on_list(
        &mut self,
        begun: Instant,
        now: Instant,
        found: Vec<ListedLease>,
    ) -> Plan {
        // Leases that were not listed are forgotten with the old map.
        let mut before = std::mem::take(&mut self.seen);
        self.seen = found
            .into_iter()
            .map(|found| {
                let observed = before.remove(&found.name).map(|seen| seen.lease);
                let seen = LeaseState {
                    division: found.division,
                    lease: Observation::after(observed, now, found.record),
                };
                (found.name, seen)
            })
            .collect();
        let begun = Some(begun);
        Plan {
            begun,
            ..self.plan(now)
        }
    }

    fn plan(&self, now: Instant) -> Plan {
        let (shard_count, division) = (self.names.shard_count, self.names.division());
        let held = self.seen.iter().filter_map(|(name, seen)| {
            let holder = seen.lease.holder(now)?;
            Some((name, seen, holder))
        });
        let mut members = BTreeSet::from([Arc::clone(&self.identity)]);
        let mut other_division = None;
        for (name, seen, holder) in held {
            if seen.division != division {
                other_division = Some(seen.division.clone());
            } else if self.names.is_of_member(name) {
                members.insert(holder.into());
            }
        }
        let owners = assign(&members, shard_count);
        let own = (0..shard_count).zip(&owners);
        let own = own.filter(|(_, owner)| **owner == self.identity);
        let assigned: BTreeSet<u32> = own.map(|(shard, _)| shard).collect();
        let leases = assigned.iter().filter_map(|shard| {
            let seen = self.seen.get(&self.names.of_shard(*shard))?;
            Some((*shard, seen.lease.clone()))
        });
        Plan {
            begun: None,
            leases: leases.collect(),
            forgotten: self.forgotten(now, &members),
            members,
            assigned,
            other_division,
        }
    }

    /// Returns the leases that the first member removes.
    fn forgotten(&self, now: Instant, members: &BTreeSet<Arc<str>>) -> Vec<String> {
        // One member removes them, so that the copies do not race for the same deletions.
        if members.first() != Some(&self.identity) {
            return Vec::new();
        }
        let leases = self.seen.iter().filter(|(name, seen)| {
            let end = seen.lease.since + seen.lease.record.duration();
            self.names.is_of_member(name) && now >= end + REMOVED_AFTER
        });
        leases.map(|(name, _)| name.clone()).collect()
    }
}

// === impl Plan ===

impl Plan {
    /// Returns true if a shard is this member's.
    pub(super) fn is_assigned(&self, shard: u32) -> bool {
        self.assigned.contains(&shard)
    }

    /// Returns true if a shard that is not owned may be taken.
    pub(super) fn may_take(&self, shard: u32) -> bool {
        self.other_division.is_none() && self.is_assigned(shard)
    }
}
