//! Contents and causes of notifications.

use std::time::Duration;

use super::{
    A, TraceBuilder, check, check_all, fault_begins, member, state, told_initially, told_well,
};
use crate::{
    plan::{Resource, Selection},
    trace::{
        Change, HandlerNotification, Key, NotifiedCause, NotifiedChange, Observation, Side, State,
    },
};

fn stored(story: &mut TraceBuilder, digest: Option<u64>) {
    story.push(Observation::Stored {
        resource: Resource::Pods,
        member: member(A, "a", 2),
        digest,
    });
}

fn read(story: &mut TraceBuilder, digest: Option<u64>) {
    story.push(Observation::Read {
        informer: 0,
        member: member(A, "a", 2),
        digest,
    });
}

#[test]
fn another_content_is_found_and_the_same_is_not() {
    let build = |own, others| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            read(story, own);
            stored(story, others);
        }
    };
    let other: &[(&str, &str)] = &[("contents", "informer 0 hands out one/pod-0=a@2")];
    check(build(Some(1), Some(1)), &[]);
    check(build(None, None), &[]);
    check(build(Some(1), Some(2)), other);
    check(build(None, Some(2)), other);
    check(build(Some(1), None), other);
}

#[test]
fn a_content_of_which_the_server_says_nothing_is_not_compared() {
    check(
        |story| {
            told_well(story);
            read(story, Some(1));
        },
        &[],
    );
}

/// A second informer, of a strict type, whose only object is spoiled at 9 and which tells this of it.
fn refusing(story: &mut TraceBuilder, revision: u64, members: &[(&str, u64)]) {
    let side = |is_spoiled| Side {
        uid: "b".into(),
        label: None,
        is_spoiled,
    };
    told_well(story);
    story.push(Observation::InformerStarts {
        informer: 1,
        selection: Selection {
            is_strict: true,
            ..Selection::all(Resource::Nodes)
        },
    });
    for (revision, before, after) in [
        (8, None, Some(side(false))),
        (9, Some(side(false)), Some(side(true))),
        (10, Some(side(true)), None),
    ] {
        story.push(Observation::Changed(Change {
            resource: Resource::Nodes,
            revision,
            key: Key::from("node-0"),
            namespace: "".into(),
            before,
            after,
        }));
    }
    let members = members.iter();
    story.push(Observation::Undecodable {
        informer: 1,
        revision: Some(revision),
        members: members
            .map(|(key, version)| (Key::from(*key), *version))
            .collect(),
    });
}

#[test]
fn spoiled_objects_count_as_undecodable_while_they_exist() {
    let build = |revision, members: &'static [(&str, u64)]| {
        move |story: &mut TraceBuilder| refusing(story, revision, members)
    };
    let wrong: &[(&str, &str)] = &[("undecodable", "informer 1 does not tell what")];
    check(build(8, &[]), &[]);
    check(build(9, &[("node-0", 9)]), &[]);
    check(build(10, &[]), &[]);
    check(build(8, &[("node-0", 9)]), wrong);
    check(build(9, &[]), wrong);
    check(build(9, &[("node-0", 8)]), wrong);
    check(build(10, &[("node-0", 9)]), wrong);
}

#[test]
fn changes_that_a_fault_merges_are_not_notified() {
    let expected_of = |informer| {
        let mut story = TraceBuilder::new();
        fault_begins(&mut story, "coalesce", Some(informer));
        refusing(&mut story, 9, &[]);
        let violations = check_all(&story.finish(&[member(A, "a", 5)]));
        let mut missing = violations
            .iter()
            .filter(|violation| violation.checker == "undecodable");
        let missing = missing.next().expect("it tells of nothing at 9");
        missing.finding.expected_of
    };
    assert_eq!(expected_of(1), Some(7));
    assert_eq!(expected_of(0), None);
}

fn told_by(story: &mut TraceBuilder, cause: NotifiedCause, old: State, new: State) {
    story.push(Observation::Notified(HandlerNotification {
        informer: 0,
        handler: 0,
        key: Key::from(A),
        change: NotifiedChange::Updated { old, new },
        cause: Some(cause),
        cached: Some(state("a", 5)),
    }));
}

fn resynced(story: &mut TraceBuilder) {
    story.push(Observation::ResyncWanted {
        informer: 0,
        handler: 0,
        period: Duration::from_mins(10),
    });
}

#[test]
fn a_resync_repeats_what_is_known_to_handlers_that_want_it() {
    let resync = |story: &mut TraceBuilder| {
        told_by(story, NotifiedCause::Resync, state("a", 5), state("a", 5));
    };
    check(
        |story| {
            resynced(story);
            told_well(story);
            resync(story);
        },
        &[],
    );
    check(
        |story| {
            told_well(story);
            resync(story);
        },
        &[("causes", "handler 0.0 one/pod-0 updated a@5 -> a@5")],
    );
}

#[test]
fn an_update_that_is_no_resync_has_a_change_to_report() {
    for cause in [
        NotifiedCause::Live,
        NotifiedCause::Relist,
        NotifiedCause::Initial,
    ] {
        check(
            |story| {
                told_well(story);
                told_by(story, cause, state("a", 5), state("a", 5));
            },
            &[("causes", "handler 0.0 one/pod-0 updated a@5 -> a@5")],
        );
    }
}

#[test]
fn a_live_update_was_brought_by_a_watch_and_one_of_a_relist_by_a_list() {
    let build = |cause, is_framed: bool| {
        move |story: &mut TraceBuilder| {
            let watch = told_initially(story);
            if cause == NotifiedCause::Relist && !is_framed {
                story.list(3, &[member(A, "a", 3)]);
            }
            if is_framed {
                story.frame(watch, "MODIFIED", member(A, "a", 3));
            }
            told_by(story, cause, state("a", 2), state("a", 3));
        }
    };
    let findings = |cause, is_framed| {
        let mut story = TraceBuilder::new();
        build(cause, is_framed)(&mut story);
        super::super::causes::check(&story.trace).len()
    };
    assert_eq!(findings(NotifiedCause::Live, true), 0);
    assert_eq!(findings(NotifiedCause::Relist, false), 0);
    assert_eq!(findings(NotifiedCause::Live, false), 1);
    assert_eq!(findings(NotifiedCause::Relist, true), 1);
}
