//! Tests of the pure cores: the assignment, and what follows from the leases that were seen.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use proptest::prelude::*;
use tokio::time::Instant;

use super::{
    assignment::assign,
    machine::{ListedLease, Machine, Plan},
    names::LeaseNames,
};
use crate::{leader_election::Record, shard::ShardField};

const LEASE: Duration = Duration::from_secs(15);

fn members(names: &[&str]) -> BTreeSet<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

fn numbered(count: u32) -> BTreeSet<Arc<str>> {
    (0..count)
        .map(|number| format!("copy-{number}").into())
        .collect()
}

fn names(shard_count: u32) -> LeaseNames {
    LeaseNames {
        manager: "m".to_owned(),
        shard_count,
        field: ShardField::Uid,
    }
}

/// Returns a lease that was renewed for the `renewal`th time; given back if the holder is empty.
fn lease(name: String, shard_count: u32, holder: &str, renewal: u32) -> ListedLease {
    ListedLease {
        name,
        division: names(shard_count).division(),
        record: Record {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            renew_time: Some(renewal.to_string()),
            ..Record::default()
        },
    }
}

fn member(shard_count: u32, identity: &str, renewal: u32) -> ListedLease {
    let name = names(shard_count).of_member(identity);
    lease(name, shard_count, identity, renewal)
}

fn member_names(plan: &Plan) -> Vec<&str> {
    plan.members.iter().map(|name| &**name).collect()
}

proptest! {
    #[test]
    fn every_shard_has_an_owner_and_shares_are_even(member_count in 1_u32..12, shard_count in 1_u32..70) {
        let members = numbered(member_count);
        let owners = assign(&members, shard_count);
        prop_assert_eq!(owners.len(), shard_count as usize);
        let mut shares: BTreeMap<_, u32> = members.iter().map(|name| (name, 0)).collect();
        for owner in &owners {
            *shares.get_mut(owner).unwrap() += 1;
        }
        let (least, most) = (shares.values().min().unwrap(), shares.values().max().unwrap());
        prop_assert!(most - least <= 1, "{:?}", shares);
    }
}

#[test]
fn few_shards_move_when_a_member_comes_or_goes() {
    for member_count in 1..10 {
        let before = assign(&numbered(member_count), 64);
        let after = assign(&numbered(member_count + 1), 64);
        let moved = before
            .iter()
            .zip(&after)
            .filter(|(one, other)| one != other);
        let share = 64_usize.div_ceil(member_count as usize + 1);
        let moved = moved.count();
        // To the new member alone, it would be its share.
        assert!(
            (share - 1..=2 * share).contains(&moved),
            "{moved} of 64 move to member {member_count}"
        );
    }
    assert_eq!(assign(&BTreeSet::new(), 4), Vec::<Arc<str>>::new());
    assert_eq!(assign(&members(&["a"]), 2).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_member_is_there_until_its_lease_has_run_out_here() {
    let mut machine = Machine::new("a".into(), names(4));
    let start = Instant::now();
    let mut list = |seconds: u64, found: Vec<ListedLease>| {
        let now = start + Duration::from_secs(seconds);
        machine.on_list(now, now, found)
    };
    let own = |renewal| member(4, "a", renewal);
    let plan = list(0, vec![own(0)]);
    assert_eq!((member_names(&plan), plan.assigned.len()), (vec!["a"], 4));
    // What its lease says was long ago; that is another clock's.
    let plan = list(2, vec![own(1), member(4, "b", 0)]);
    assert_eq!(
        (member_names(&plan), plan.assigned.len()),
        (vec!["a", "b"], 2)
    );
    let plan = list(16, vec![own(2), member(4, "b", 0)]);
    assert_eq!(member_names(&plan), ["a", "b"]);
    let plan = list(17, vec![own(3), member(4, "b", 0)]);
    assert_eq!((member_names(&plan), plan.assigned.len()), (vec!["a"], 4));
    assert_eq!(plan.forgotten, Vec::<String>::new());
    // It comes back, and leaves in good order.
    let plan = list(18, vec![own(4), member(4, "b", 1)]);
    assert_eq!(member_names(&plan), ["a", "b"]);
    let plan = list(20, vec![own(5)]);
    assert_eq!(member_names(&plan), ["a"]);
    // The first member removes leases of members that are long gone.
    list(22, vec![own(6), member(4, "b", 2)]);
    let plan = list(22 + 15 + 119, vec![own(7), member(4, "b", 2)]);
    assert_eq!(plan.forgotten, Vec::<String>::new());
    let plan = list(22 + 15 + 120, vec![own(8), member(4, "b", 2)]);
    assert_eq!(plan.forgotten, [names(4).of_member("b")]);
}

#[tokio::test(start_paused = true)]
async fn members_agree_on_who_owns_what() {
    let found = || vec![member(8, "a", 0), member(8, "b", 0), member(8, "c", 0)];
    let now = Instant::now();
    let mut all = BTreeSet::new();
    for identity in ["a", "b", "c"] {
        let plan = Machine::new(identity.into(), names(8)).on_list(now, now, found());
        assert!((2..=3).contains(&plan.assigned.len()));
        for shard in plan.assigned {
            assert!(plan.leases.is_empty() && all.insert(shard), "{shard}");
        }
    }
    assert_eq!(all.len(), 8);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_taken_while_another_has_other_shards() {
    let mut machine = Machine::new("a".into(), names(2));
    let start = Instant::now();
    let later = start + LEASE;
    let other_lease = lease(names(4).of_shard(3), 4, "b", 0);
    let found = || vec![member(2, "a", 0), other_lease.clone()];
    let plan = machine.on_list(start, start, found());
    assert_eq!(plan.other_division.as_deref(), Some("4-by-uid"));
    assert!(plan.is_assigned(0) && !plan.may_take(0));
    // The lease has run out; what it says counts no more.
    let plan = machine.on_list(later, later, found());
    assert!(plan.may_take(0));
    let plan = machine.on_list(later, later, vec![member(2, "a", 1), member(4, "b", 0)]);
    assert!(!plan.may_take(0), "{plan:?}");
    assert_eq!(member_names(&plan), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_a_lease_begins_when_it_is_seen_first() {
    let mut machine = Machine::new("a".into(), names(1));
    let start = Instant::now();
    let found = |renewal| {
        vec![
            member(1, "a", renewal),
            lease(names(1).of_shard(0), 1, "gone", 7),
        ]
    };
    machine.on_list(start, start, found(0));
    let later = start + Duration::from_secs(9);
    let plan = machine.on_list(later, later, found(1));
    assert_eq!(plan.begun, Some(later));
    assert_eq!(plan.leases[&0].since, start);
    assert_eq!(plan.leases[&0].holder(start + LEASE), None);
}
