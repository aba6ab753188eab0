//! Notifications for changes and whole states that wait in the queue together: client-go's `the_real_fifo_test.go`.
//!
//! What was deleted is computed when a state is applied, against the cache as it is by then; so it does not matter what was
//! still in the queue when the state came.

use super::apply::World;
use crate::{fixtures::delta, testing::notification_text};

#[track_caller]
fn check(queued: &str, expected: &str) {
    let mut world = World::default();
    let mut words = Vec::new();
    for word in queued.split_whitespace() {
        let applied = world.apply(vec![delta(word)]);
        words.extend(applied.notifications.iter().map(notification_text));
    }
    assert_eq!(words.join(" "), expected, "{queued}");
}

#[test]
fn a_queued_object_missing_from_a_state_is_deleted_once() {
    check("=1[] +a@2 =3[]", "+a@2 !a@2");
    check("=1[] +a@2 =3[] =4[]", "+a@2 !a@2");
    check("=1[] +a@2 -a@3 +a@4 =5[]", "+a@2 -a@3 +a@4 !a@4");
    check("=1[] +a@2 -a@3 =4[]", "+a@2 -a@3");
    check("=1[] +a@2 ^3 =4[]", "+a@2 !a@2");
    check("+a@2 =3[]", "(+a@2) !a@2");
}

#[test]
fn a_deletion_that_was_seen_is_not_reported_again_by_a_state() {
    check("=1[a@1] -a@2 =3[]", "(+a@1) -a@2");
    check("=1[a@1] -a@2 =3[a@3]", "(+a@1) -a@2 +a@3");
    check("=1[a@1] -a@2 ^3 =4[] =5[]", "(+a@1) -a@2");
}

#[test]
fn a_tombstone_holds_the_newest_state_that_was_queued() {
    check("=1[a@1] +a@2 =3[]", "(+a@1) ~a@1..2 !a@2");
    check("=1[a@1] -a@2 +a@3 =4[]", "(+a@1) -a@2 +a@3 !a@3");
}

#[test]
fn a_change_and_a_state_that_follows_it_are_both_reported() {
    check("=1[] +a@2 =3[a@3]", "+a@2 ~a@2..3");
    check("=1[] +a@2 =3[a@2]", "+a@2");
    check("=1[] =2[a@2] =3[a@3] =4[a@4]", "+a@2 ~a@2..3 ~a@3..4");
}

#[test]
fn deletions_are_reported_before_what_a_state_adds_or_changes() {
    check(
        "=1[b@1,d@1] +a@2 =3[b@3,c@3]",
        "(+b@1) (+d@1) +a@2 !a@2 !d@1 ~b@1..3 +c@3",
    );
}
