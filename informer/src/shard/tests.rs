//! Tests of shards: their ranges, hashes and selectors.

use proptest::prelude::*;

use super::{NoSuchShard, Shard, ShardField, ShardFilter, WhoSelects};
use crate::{
    entropy::fnv1a,
    object::{Labels, Metadata, ObjectKey},
};

fn shard(index: u32, count: u32) -> Shard {
    Shard::new(ShardField::Uid, index, count).unwrap()
}

#[test]
fn hashes_are_those_of_the_server() {
    // From the algorithm's own tests.
    assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn selectors_have_sixteen_digits_and_the_last_end_seventeen() {
    assert_eq!(
        shard(0, 2).selector(),
        "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')"
    );
    assert_eq!(
        shard(1, 2).selector(),
        "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')"
    );
    let third = Shard::new(ShardField::Namespace, 1, 3).unwrap();
    assert_eq!(
        third.selector(),
        "shardRange(object.metadata.namespace, '0x5555555555555555', '0xaaaaaaaaaaaaaaaa')"
    );
    assert_eq!(third.to_string(), "shard 1 of 3 by namespace");
}

#[test]
fn a_shard_is_one_of_those_that_there_are() {
    for (index, count) in [(0, 0), (1, 1), (5, 4)] {
        let refused = Shard::new(ShardField::Uid, index, count);
        assert_eq!(refused, Err(NoSuchShard { index, count }));
    }
    assert!(shard(0, 1).contains_value("anything"));
}

#[test]
fn a_filter_counts_what_it_drops_and_says_who_selects() {
    let filter = ShardFilter::new(shard(0, 2));
    let object = |uid: &str| Metadata {
        key: ObjectKey::new("ns", "a"),
        uid: uid.into(),
        resource_version: "1".into(),
        labels: Labels::default(),
        owners: [].into(),
        is_terminating: false,
    };
    assert!(filter.admits(&object("pod")));
    assert_eq!(filter.status().who_selects, WhoSelects::Unknown);
    assert!(filter.note_echo(&shard(0, 2).selector()));
    assert_eq!(filter.status().who_selects, WhoSelects::Server);
    assert!(!filter.note_echo(&shard(1, 2).selector()));
    assert!(!filter.admits(&object("a")));
    let status = filter.status();
    assert_eq!(
        (status.who_selects, status.dropped),
        (WhoSelects::Client, 1)
    );
}

proptest! {
    #[test]
    fn every_value_is_in_exactly_one_shard(value in ".{0,40}", count in 1_u32..2_000) {
        let found = Shard::all(ShardField::Uid, count).filter(|shard| shard.contains_value(&value));
        prop_assert_eq!(found.count(), 1);
    }

    #[test]
    fn shards_are_adjacent(count in 1_u32.., index in 0_u32..) {
        let index = index % count;
        let own = shard(index, count);
        prop_assert!(own.start() < own.end());
        if index + 1 < count {
            prop_assert_eq!(own.end(), shard(index + 1, count).start());
        } else {
            prop_assert_eq!(own.end(), 1 << 64);
        }
    }
}
