//! Waits for versions, and the sync of handlers.

use std::time::Duration;

use super::{A, TraceBuilder, check, told_well};
use crate::trace::Observation;

impl TraceBuilder {
    fn wait_begins(&mut self, revision: u64) {
        self.push(Observation::WaitBegins {
            informer: 0,
            wait: 0,
            revision,
        });
    }

    fn wait_ends(&mut self, shown: Option<u64>) {
        self.push(Observation::WaitEnds {
            informer: 0,
            wait: 0,
            shown,
        });
    }

    fn synced(&mut self, has_synced: bool) {
        self.push(Observation::HandlerSync {
            informer: 0,
            handler: 0,
            has_synced,
        });
    }
}

#[test]
fn a_wait_ends_at_its_version_and_not_before() {
    let ended = |shown| {
        move |story: &mut TraceBuilder| {
            story.wait_begins(6);
            told_well(story);
            story.wait_ends(shown);
        }
    };
    check(ended(Some(6)), &[]);
    check(ended(Some(7)), &[]);
    check(ended(Some(5)), &[("waits", "for 6 ends at 5")]);
    check(ended(None), &[("waits", "for 6 ends at none")]);
}

#[test]
fn a_wait_does_not_go_on_once_the_cache_shows_its_version() {
    let seen = |times: u32, revision| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            story.wait_begins(revision);
            for _ in 0..times {
                story.cached(6, &[super::member(A, "a", 5)]);
                story.at += Duration::from_secs(1);
            }
            story.wait_ends(Some(revision));
        }
    };
    check(seen(1, 6), &[]);
    check(seen(2, 7), &[]);
    check(seen(2, 6), &[("waits", "for 6 goes on at 6")]);
}

#[test]
fn a_handler_has_synced_after_the_initial_state_and_stays_so() {
    check(
        |story| {
            story.synced(false);
            told_well(story);
            story.synced(true);
        },
        &[],
    );
    check(
        |story| {
            told_well(story);
            story.synced(false);
        },
        &[("handler_syncs", "handler 0.0 never synced")],
    );
    check(
        |story| {
            told_well(story);
            story.synced(true);
            story.synced(false);
            story.synced(true);
        },
        &[("handler_syncs", "handler 0.0 has not synced any more")],
    );
}

#[test]
fn a_handler_that_is_notified_of_the_initial_state_has_not_synced() {
    check(
        |story| {
            story.synced(true);
            told_well(story);
        },
        &[("handler_syncs", "after it had synced")],
    );
}
