use std::sync::Arc;

use crate::{
    delta_fifo::Batch,
    fixtures::{Value, delta, key, object},
    handler::{Notification, NotificationCause},
    indexer::Snapshot,
    object::{Deleted, Object, TombstoneReason},
    shared_informer::{
        apply::{ApplyOutcome, apply},
        deletion_log::DeletionLog,
    },
    store::Delta,
    testing::notification_text,
};

/// A snapshot and what the writer knows beyond it.
#[derive(Default)]
pub(super) struct World {
    pub(super) snapshot: Snapshot<Value>,
    deletions: DeletionLog,
    has_synced: bool,
}

impl World {
    /// Applies each delta as a batch of its own.
    pub(super) fn apply(&mut self, deltas: Vec<Delta<Value>>) -> ApplyOutcome<Value> {
        let is_initial = !self.has_synced;
        for delta in &deltas {
            self.has_synced |= matches!(delta, Delta::ReplacedAll(_));
        }
        apply(
            &mut self.snapshot,
            &mut self.deletions,
            Batch { deltas, is_initial },
        )
    }

    fn text(&self) -> String {
        let objects: Vec<_> = self
            .snapshot
            .iter()
            .map(|object| format!("{object:?}"))
            .collect();
        let refused = self.snapshot.undecodable();
        let refused: Vec<_> = refused
            .map(|error| format!("?{}@{}", error.key, error.resource_version))
            .collect();
        let words = [objects, refused].concat().join(" ");
        format!("{words} at {}", self.snapshot.resource_version())
    }
}

/// Returns notifications in short, in their order.
fn texts(notifications: &[Notification<Value>]) -> String {
    let words: Vec<_> = notifications.iter().map(notification_text).collect();
    words.join(" ")
}

/// After the deltas of `before`, those of `deltas` lead to `notifications` and leave `held`.
#[track_caller]
fn check(before: &str, deltas: &str, notifications: &str, held: &str) -> ApplyOutcome<Value> {
    let mut world = World::default();
    for word in before.split_whitespace() {
        world.apply(vec![delta(word)]);
    }
    let applied = world.apply(deltas.split_whitespace().map(delta).collect());
    assert_eq!(texts(&applied.notifications), notifications);
    assert_eq!(world.text(), held);
    assert_eq!(world.snapshot.recount(), Ok(()));
    applied
}

#[track_caller]
fn check_stale(before: &str, deltas: &str, held: &str) {
    let applied = check(before, deltas, "", held);
    assert_eq!(applied.stale_count, 1);
}

// === Live events ===

#[test]
fn the_cache_decides_between_add_and_update() {
    check("=1[]", "+a@2", "+a@2", "a@2 at 2");
    check("=1[a@1]", "+a@2", "~a@1..2", "a@2 at 2");
    check("=1[a@1]", "-a@2", "-a@2", " at 2");
}

#[test]
fn one_batch_reports_in_the_order_of_arrival() {
    check(
        "=1[a@1]",
        "+c@2 +b@3 -a@4",
        "+c@2 +b@3 -a@4",
        "b@3 c@2 at 4",
    );
}

#[test]
fn a_deletion_of_an_unknown_object_is_not_reported_but_the_version_moves() {
    check("=1[]", "-a@2", "", " at 2");
}

#[test]
fn another_uid_is_a_deletion_and_an_add() {
    check("=1[a@1#x]", "+a@3#y", "!a@1 +a@3", "a@3 at 3");
    check(
        "=1[a@1#x,b@1]",
        "+a@3#y +c@4",
        "!a@1 +a@3 +c@4",
        "a@3 b@1 c@4 at 4",
    );
    check("=1[a@1#x]", "-a@3#y", "!a@1", " at 3");
}

#[test]
fn a_missing_uid_matches_any() {
    let mut world = World::default();
    world.apply(vec![delta("=1[a@1#x]")]);
    let mut metadata = object("a@2").metadata().clone();
    metadata.uid = "".into();
    let applied = world.apply(vec![Delta::Upserted(Object::from_parts(
        metadata,
        Arc::default(),
    ))]);
    assert_eq!(texts(&applied.notifications), "~a@1..2");
}

#[test]
fn an_older_version_changes_nothing() {
    check_stale("=9[a@5]", "+a@4", "a@5 at 9");
    check_stale("=9[a@5]", "+a@4#other", "a@5 at 9");
    check_stale("=9[a@5]", "-a@4", "a@5 at 9");
    check_stale("=9[a@5]", "-a@4#other", "a@5 at 9");
    check_stale("=9[a@5]", "?a@4", "a@5 at 9");
    check_stale("=9[a@5]", "!a@4", "a@5 at 9");
}

#[test]
fn the_same_version_again_changes_nothing_and_keeps_the_handle() {
    let mut world = World::default();
    world.apply(vec![delta("=1[a@1]")]);
    let held = world.snapshot.get(&key("a")).unwrap().clone();
    for again in ["+a@1", "?a@1", "=1[a@1]", "==1[a@1]"] {
        let applied = world.apply(vec![delta(again)]);
        assert!(applied.notifications.is_empty(), "{again}");
        assert!(
            world.snapshot.get(&key("a")).unwrap().is_same(&held),
            "{again}"
        );
    }
}

#[test]
fn a_deletion_at_the_version_that_is_held_is_a_deletion() {
    check("=1[a@1]", "-a@1", "-a@1", " at 1");
}

#[test]
fn versions_that_cannot_be_compared_are_believed() {
    check("=x[a@x9]", "+a@x8", "~a@x9..x8", "a@x8 at x8");
    check("=x[]", "+a@x8 -a@x7", "+a@x8 -a@x7", " at x7");
    check("=1[]", "+a@ +a@", "+a@ ~a@..", "a@ at 1");
}

#[test]
fn numbers_are_compared_as_numbers() {
    check("=1[a@9]", "+a@10", "~a@9..10", "a@10 at 10");
    check_stale("=1[a@10]", "+a@9", "a@10 at 1");
}

// === What is gone stays gone ===

#[test]
fn events_that_are_replayed_after_a_relist_bring_nothing_back() {
    // Made at 5 and deleted at 8, between two lists.
    check_stale("=1[] =10[]", "+a@5", " at 10");
    check_stale("=1[] =10[]", "-a@8", " at 10");
    check("=1[] =10[]", "+a@5 +a@6 -a@8 +b@11", "+b@11", "b@11 at 11");
    // Deleted at 8 and recreated at 9.
    check(
        "=1[a@1#x] =10[a@9#y]",
        "+a@5#x -a@8#x +a@9#y",
        "",
        "a@9 at 10",
    );
}

#[test]
fn events_that_are_replayed_after_a_bookmark_bring_nothing_back() {
    check_stale("=1[a@1] -a@8 ^10", "+a@5", " at 10");
}

#[test]
fn events_that_are_replayed_after_a_deletion_bring_nothing_back() {
    check_stale("=1[a@1] +a@5 -a@8", "+a@5", " at 8");
    check_stale("=1[] -a@8", "+a@5", " at 8");
    check_stale("=1[a@1] !a@8", "+a@5", " at 8");
    check("=1[a@1] +a@5 -a@8", "+a@9", "+a@9", "a@9 at 9");
}

#[test]
fn events_of_two_keys_out_of_order_are_both_believed() {
    check("=1[] +b@12", "+a@11", "+a@11", "a@11 b@12 at 12");
}

#[test]
fn more_deletions_than_are_remembered_one_by_one_still_stay_gone() {
    let mut world = World::default();
    world.apply(vec![delta("=1[]")]);
    for n in 0..3_000 {
        world.apply(vec![delta(&format!("-k{n}@{}", n + 10))]);
    }
    for n in [0, 1_023, 1_024, 1_025, 2_999] {
        let applied = world.apply(vec![delta(&format!("+k{n}@{}", n + 9))]);
        assert_eq!(applied.stale_count, 1, "{n}");
    }
    assert_eq!(world.apply(vec![delta("+k0@4000")]).stale_count, 0);
}

// === Undecodable ===

#[test]
fn a_version_that_cannot_be_decoded_takes_the_old_copy_away() {
    let applied = check("=1[a@1]", "?a@2", "!a@1", "?a@2 at 2");
    assert_eq!(
        reason(&applied.notifications[0]),
        TombstoneReason::Undecodable
    );
    check("=1[a@1] ?a@2", "?a@3", "", "?a@3 at 3");
    check("=1[]", "?a@2", "", "?a@2 at 2");
}

#[test]
fn a_later_version_that_can_be_decoded_is_an_add() {
    check("=1[a@1] ?a@2", "+a@3", "+a@3", "a@3 at 3");
    check("=1[?a@1]", "+a@3", "+a@3", "a@3 at 3");
    check("=1[?a@1]", "=3[a@3]", "+a@3", "a@3 at 3");
}

#[test]
fn an_older_version_does_not_replace_what_was_refused() {
    check_stale("=1[a@1] ?a@5", "+a@4", "?a@5 at 5");
    check_stale("=1[a@1] ?a@5", "-a@4", "?a@5 at 5");
    check_stale("=1[a@1] ?a@5", "?a@4", "?a@5 at 5");
}

#[test]
fn a_deletion_forgets_what_was_refused() {
    check("=1[a@1] ?a@2", "-a@3", "", " at 3");
    check("=1[a@1] ?a@2", "!a@3", "", " at 3");
    check("=1[a@1]", "!a@3", "!a@1", " at 3");
    check("=1[a@1] ?a@2", "=3[]", "", " at 3");
}

// === Replacements ===

#[test]
fn the_first_state_is_the_initial_list() {
    check("", "=5[b@2,a@1,?c@3]", "(+a@1) (+b@2)", "a@1 b@2 ?c@3 at 5");
    check("", "=5[]", "", " at 5");
}

#[test]
fn a_relist_reports_deletions_first_and_then_what_changed() {
    let applied = check(
        "=1[a@1,b@1,c@1,e@1#x,f@1]",
        "=9[d@8,b@7,a@1,e@6#y,?f@5]",
        "!c@1 !e@1 !f@1 ~b@1..7 +d@8 +e@6",
        "a@1 b@7 d@8 e@6 ?f@5 at 9",
    );
    let reasons: Vec<_> = applied.notifications[..3].iter().map(reason).collect();
    let expected = [
        TombstoneReason::MissedDelete,
        TombstoneReason::UidChanged,
        TombstoneReason::Undecodable,
    ];
    assert_eq!(reasons, expected);
}

fn reason(notification: &Notification<Value>) -> TombstoneReason {
    match notification {
        Notification::Delete {
            deleted: Deleted::Tombstone(tombstone),
            ..
        } => tombstone.reason,
        other => panic!("no tombstone: {other:?}"),
    }
}

#[test]
fn an_object_that_did_not_change_keeps_its_allocation_over_a_relist() {
    let mut world = World::default();
    world.apply(vec![delta("=1[a@1,b@1]")]);
    let held = world.snapshot.get(&key("a")).unwrap().clone();
    world.apply(vec![delta("=9[a@1,b@8]")]);
    assert!(world.snapshot.get(&key("a")).unwrap().is_same(&held));
}

#[test]
fn a_list_that_lags_takes_nothing_back() {
    // Changed at 7, made at 8, deleted at 6: the list of 5 knows of none of them.
    let before = "=1[a@1,c@1] -c@6 +a@7 +b@8";
    check(before, "=5[a@1,c@1]", "", "a@7 b@8 at 8");
    check(before, "=5[?a@1,?c@1]", "", "a@7 b@8 at 8");
    check("=1[] ?a@8", "=5[]", "", "?a@8 at 8");
    check("=1[] ?a@8", "=5[a@4]", "", "?a@8 at 8");
    // Nor does it put off what comes after it.
    check("=1[] =9[] =5[a@4]", "+a@10", "+a@10", "a@10 at 10");
    check("=1[] =9[] =5[]", "+a@6", "", " at 9");
}

#[test]
fn an_authoritative_state_counts_even_where_versions_go_back() {
    let before = "=1[a@1,c@1] -c@6 +a@7 +b@8";
    let applied = check(before, "==5[a@2,c@1]", "!b@8 ~a@7..2 +c@1", "a@2 c@1 at 5");
    assert_eq!((applied.stale_count, applied.gone_back_count), (0, 1));
    check(&format!("{before} ==5[]"), "+x@6", "+x@6", "x@6 at 6");
    // What was settled or deleted at a later version than that is no longer so.
    check("=9[] ==5[]", "+x@6", "+x@6", "x@6 at 6");
    check("=1[] -x@8 ==5[]", "+x@6", "+x@6", "x@6 at 6");
    check("=9[a@8]", "==5[?a@2]", "!a@8", "?a@2 at 5");
    check("=9[a@8#x]", "==5[a@2#y]", "!a@8 +a@2", "a@2 at 5");
}

#[test]
fn each_stale_item_of_a_state_is_counted() {
    let applied = check(
        "=9[a@5,b@6,c@7,d@8]",
        "=4[a@3,b@4,?c@4,?d@4]",
        "",
        "a@5 b@6 c@7 d@8 at 9",
    );
    assert_eq!((applied.stale_count, applied.gone_back_count), (4, 0));
}

#[test]
fn a_later_state_does_not_bring_back_what_came_before_a_refused_version() {
    check("=5[?a@4,?b@4]", "=6[a@3,?b@3]", "", "?a@4 ?b@4 at 6");
    check("=5[?a@4,?b@4]", "==6[a@3,?b@3]", "+a@3", "a@3 ?b@3 at 6");
}

#[test]
fn a_key_that_comes_twice_counts_at_its_later_version() {
    check("", "=5[a@1,a@3,a@2]", "(+a@3)", "a@3 at 5");
    check("", "=5[a@1,?a@3]", "", "?a@3 at 5");
    check("", "=5[a@4,?a@3]", "(+a@4)", "a@4 at 5");
    check("", "=5[a@x#1,a@y#2]", "(+a@y)", "a@y at 5");
}

#[test]
fn bookmarks_move_the_version_and_never_back() {
    check("=5[a@1]", "^7", "", "a@1 at 7");
    check("=5[a@1]", "^4", "", "a@1 at 5");
    check("=5[a@1]", "^", "", "a@1 at 5");
}

#[test]
fn an_event_before_the_first_state_is_initial() {
    check("", "+a@1", "(+a@1)", "a@1 at 1");
    check("+a@1", "=2[a@1,b@2]", "(+b@2)", "a@1 b@2 at 2");
}

#[test]
fn a_deletion_says_nothing_about_other_keys_until_there_are_too_many() {
    check("=5[a@1,b@2] -b@8", "+c@7", "+c@7", "a@1 c@7 at 8");
    check_stale("=5[a@1,b@2] -b@8", "+b@7", "a@1 at 8");
    let mut world = World::default();
    world.apply(vec![delta("=5[]")]);
    for n in 0..1_024 {
        world.apply(vec![delta(&format!("+k{n}@{}", 10 + 2 * n))]);
        world.apply(vec![delta(&format!("-k{n}@{}", 11 + 2 * n))]);
    }
    let mut stale = |word: &str| world.apply(vec![delta(word)]).stale_count;
    assert_eq!([stale("+k0@10"), stale("+k1023@2056")], [1, 1]);
    assert_eq!(stale("+late@2000"), 0);
    // One more, and all that came before it counts as received.
    assert_eq!(stale("-late@3000"), 0);
    assert_eq!([stale("+k0@10"), stale("+later@2999")], [1, 1]);
}

// === Causes ===

#[test]
fn every_notification_carries_why_it_is_reported() {
    let mut world = World::default();
    let mut causes = |text: &str| -> Vec<NotificationCause> {
        let deltas = text.split_whitespace().map(delta).collect();
        let applied = world.apply(deltas);
        applied
            .notifications
            .iter()
            .map(Notification::cause)
            .collect()
    };
    assert_eq!(causes("=5[a@1,b@2]"), [NotificationCause::Initial; 2]);
    // An add, an update, a deletion, a tombstone, and a change of uid.
    assert_eq!(
        causes("+c@6 +a@7 -b@8 ?a@9 +c@10#new"),
        [NotificationCause::Live; 6]
    );
    assert_eq!(causes("=20[a@11,c@12#new]"), [NotificationCause::Relist; 2]);
    assert_eq!(causes("=30[]"), [NotificationCause::Relist; 2]);
    assert_eq!(causes("=40[d@35]"), [NotificationCause::Relist]);
}
