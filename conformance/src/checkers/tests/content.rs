//! Contents and causes of notifications.

use std::time::Duration;

use super::{A, Story, check, member, state, told_initially, told_well};
use crate::{
    plan::Resource,
    trace::{Heard, Key, Notified, NotifiedCause, Observation, State},
};

fn stored(story: &mut Story, digest: Option<u64>) {
    story.push(Observation::Stored {
        resource: Resource::Pods,
        member: member(A, "a", 2),
        digest,
    });
}

fn read(story: &mut Story, digest: Option<u64>) {
    story.push(Observation::Read {
        informer: 0,
        member: member(A, "a", 2),
        digest,
    });
}

#[test]
fn another_content_is_found_and_the_same_is_not() {
    let tell = |own, others| {
        move |story: &mut Story| {
            told_well(story);
            read(story, own);
            stored(story, others);
        }
    };
    let other: &[(&str, &str)] = &[("contents", "informer 0 hands out one/pod-0=a@2")];
    check(tell(Some(1), Some(1)), &[]);
    check(tell(None, None), &[]);
    check(tell(Some(1), Some(2)), other);
    check(tell(None, Some(2)), other);
    check(tell(Some(1), None), other);
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

fn told_by(story: &mut Story, cause: NotifiedCause, old: State, new: State) {
    story.push(Observation::Notified(Notified {
        informer: 0,
        handler: 0,
        key: Key::from(A),
        heard: Heard::Updated { old, new },
        cause: Some(cause),
        cached: Some(state("a", 5)),
    }));
}

fn resynced(story: &mut Story) {
    story.push(Observation::ResyncWanted {
        informer: 0,
        handler: 0,
        period: Duration::from_mins(10),
    });
}

#[test]
fn a_resync_repeats_what_is_known_to_handlers_that_want_it() {
    let resync =
        |story: &mut Story| told_by(story, NotifiedCause::Resync, state("a", 5), state("a", 5));
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
fn an_update_that_is_no_resync_has_a_change_to_tell() {
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
    let tell = |cause, is_framed: bool| {
        move |story: &mut Story| {
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
        let mut story = Story::new();
        tell(cause, is_framed)(&mut story);
        crate::checkers::causes::check(&story.trace).len()
    };
    assert_eq!(findings(NotifiedCause::Live, true), 0);
    assert_eq!(findings(NotifiedCause::Relist, false), 0);
    assert_eq!(findings(NotifiedCause::Live, false), 1);
    assert_eq!(findings(NotifiedCause::Relist, true), 1);
}
