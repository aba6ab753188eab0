//! The pure core: which member owns which shard.
//!
//! Each member draws a score for each shard, and shards go to the members with the highest scores, until these have their
//! share (rendezvous hashing with bounded loads). The scores do not change when members come and go, so that most shards
//! stay where they are.

use std::{collections::BTreeSet, sync::Arc};

use crate::entropy::fnv1a;

/// Returns the owner of each shard; nothing without members. Shares differ by one at most.
pub(super) fn assign(members: &BTreeSet<Arc<str>>, shard_count: u32) -> Vec<Arc<str>> {
    let Ok(member_count) = u32::try_from(members.len()) else {
        return Vec::new();
    };
    if member_count == 0 {
        return Vec::new();
    }
    let mut scores: Vec<_> = members
        .iter()
        .enumerate()
        .flat_map(|(member, name)| {
            (0..shard_count).map(move |shard| (score(name, shard), shard, member))
        })
        .collect();
    scores.sort_unstable_by(|one, other| other.cmp(one));
    let share = shard_count / member_count;
    // As many members have one more.
    let mut larger_shares = shard_count % member_count;
    let mut shares = vec![0; members.len()];
    let mut owners = vec![None; shard_count as usize];
    for (_, shard, member) in scores {
        let owner = &mut owners[shard as usize];
        let takes_more = shares[member] == share && larger_shares > 0;
        if owner.is_some() || (shares[member] >= share && !takes_more) {
            continue;
        }
        larger_shares -= u32::from(takes_more);
        shares[member] += 1;
        *owner = Some(member);
    }
    let names: Vec<_> = members.iter().collect();
    let owners = owners.into_iter().flatten();
    owners.map(|member| Arc::clone(names[member])).collect()
}

/// Returns the score of a member for a shard: well mixed, and the same everywhere.
fn score(member: &str, shard: u32) -> u64 {
    let mut mixed = fnv1a(member) ^ u64::from(shard).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for factor in [0xbf58_476d_1ce4_e5b9_u64, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(factor);
    }
    mixed ^ (mixed >> 31)
}
