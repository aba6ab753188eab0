//! The promises of the server: watches and lists.

use super::{A, B, TraceBuilder, check, member, told_well};
use crate::trace::{Ending, Observation, RequestKind};

fn check_stream(frames: impl FnOnce(&mut TraceBuilder, usize), want: &[(&str, &str)]) {
    check(
        |story| {
            told_well(story);
            story.wait(1);
            let watch = story.watch(2);
            frames(story, watch);
        },
        want,
    );
}

#[test]
fn a_watch_that_is_as_it_should_be_is_not() {
    check_stream(
        |story, watch| {
            story.frame(watch, "MODIFIED", member(A, "a", 3));
            story.bookmark(watch, 3);
            story.frame(watch, "ADDED", member(B, "b", 4));
            story.frame(watch, "MODIFIED", member(A, "a", 5));
            story.bookmark(watch, 5);
            story.end(watch, Ending::Broken);
            let watch = story.watch(5);
            story.frame(watch, "DELETED", member(B, "b", 6));
            story.bookmark(watch, 9);
        },
        &[],
    );
}

#[test]
fn a_change_that_is_left_out_or_is_not_in_the_log_is_found() {
    check_stream(
        |story, watch| {
            story.frame(watch, "MODIFIED", member(A, "a", 3));
            story.frame(watch, "MODIFIED", member(A, "a", 5));
        },
        &[("reliable", "one/pod-1 at 4 was left out")],
    );
    check_stream(
        |story, watch| {
            story.bookmark(watch, 2);
            story.frame(watch, "ADDED", member(B, "b", 4));
        },
        &[("reliable", "one/pod-0 at 3 was left out")],
    );
    check_stream(
        |story, watch| story.frame(watch, "ADDED", member(A, "a", 3)),
        &[("reliable", "should be MODIFIED")],
    );
    check_stream(
        |story, watch| story.frame(watch, "MODIFIED", member(A, "x", 3)),
        &[("reliable", "another uid")],
    );
    check(
        |story| {
            told_well(story);
            let watch = story.watch(6);
            story.frame(watch, "MODIFIED", member(A, "a", 7));
        },
        &[("reliable", "the log has no such change")],
    );
}

#[test]
fn a_change_that_comes_late_is_found() {
    check_stream(
        |story, watch| {
            story.frame(watch, "MODIFIED", member(A, "a", 3));
            story.frame(watch, "MODIFIED", member(A, "a", 5));
            story.frame(watch, "ADDED", member(B, "b", 4));
        },
        &[("ordered", "ADDED one/pod-1=b@4: comes after 5")],
    );
    // At the very beginning, too.
    check_stream(
        |story, watch| {
            story.frame(watch, "ADDED", member(B, "b", 4));
            story.frame(watch, "MODIFIED", member(A, "a", 3));
        },
        &[("ordered", "comes after 4")],
    );
}

#[test]
fn a_change_that_comes_twice_is_found() {
    check_stream(
        |story, watch| {
            story.frame(watch, "MODIFIED", member(A, "a", 3));
            story.frame(watch, "MODIFIED", member(A, "a", 3));
        },
        &[("unique", "comes again")],
    );
    check_stream(
        |story, watch| {
            story.frame(watch, "MODIFIED", member(A, "a", 3));
            story.bookmark(watch, 3);
            story.frame(watch, "MODIFIED", member(A, "a", 3));
        },
        &[("unique", "comes again")],
    );
}

#[test]
fn a_bookmark_that_is_not_true_is_found() {
    check_stream(
        |story, watch| {
            story.frame(watch, "MODIFIED", member(A, "a", 3));
            story.bookmark(watch, 5);
        },
        &[("bookmarkable", "one/pod-1 at 4 was not sent before it")],
    );
    check_stream(
        |story, watch| story.bookmark(watch, 3),
        &[("bookmarkable", "one/pod-0 at 3 was not sent before it")],
    );
    check_stream(
        |story, watch| {
            story.frame(watch, "MODIFIED", member(A, "a", 3));
            story.bookmark(watch, 2);
        },
        &[("bookmarkable", "goes back from 3")],
    );
    // The promised change comes after all.
    check_stream(
        |story, watch| {
            story.frame(watch, "MODIFIED", member(A, "a", 3));
            story.frame(watch, "MODIFIED", member(A, "a", 5));
            story.bookmark(watch, 5);
            story.frame(watch, "ADDED", member(B, "b", 4));
        },
        &[("bookmarkable", "comes after a bookmark of 5")],
    );
}

#[test]
fn a_watch_that_does_not_go_on_where_it_should_is_found() {
    check_stream(
        |story, watch| story.frame(watch, "ADDED", member(B, "b", 4)),
        &[(
            "resumable",
            "one/pod-0 at 3 was left out of the watch from 2",
        )],
    );
    check(
        |story| {
            told_well(story);
            let watch = story.watch(5);
            story.frame(watch, "MODIFIED", member(A, "a", 5));
            story.frame(watch, "DELETED", member(B, "b", 6));
        },
        &[("resumable", "was already part of 5")],
    );
}

/// Checks a streaming list after all other events.
fn check_streamed(frames: impl FnOnce(&mut TraceBuilder, usize), want: &[(&str, &str)]) {
    check(
        |story| {
            told_well(story);
            story.wait(1);
            let request = story.request(RequestKind::Watch {
                revision: "2".to_owned(),
                is_streaming_list: true,
            });
            story.push(Observation::Answer {
                request,
                status: 200,
            });
            frames(story, request);
        },
        want,
    );
}

fn initial_events_end(story: &mut TraceBuilder, request: usize, revision: u64) {
    story.push(Observation::Bookmark {
        request,
        revision,
        ends_initial_events: true,
    });
}

#[test]
fn a_streamed_list_is_a_list_and_then_a_watch() {
    let listed = |story: &mut TraceBuilder, request: usize| {
        story.frame(request, "ADDED", member(B, "b", 4));
        story.frame(request, "ADDED", member(A, "a", 3));
        initial_events_end(story, request, 4);
    };
    check_streamed(
        |story, request| {
            listed(story, request);
            story.frame(request, "MODIFIED", member(A, "a", 5));
            story.frame(request, "DELETED", member(B, "b", 6));
        },
        &[],
    );
    // Changes during the list may come before its end.
    check_streamed(
        |story, request| {
            story.frame(request, "ADDED", member(A, "a", 3));
            story.frame(request, "ADDED", member(B, "b", 4));
            story.frame(request, "MODIFIED", member(A, "a", 5));
            story.frame(request, "DELETED", member(B, "b", 6));
            initial_events_end(story, request, 6);
        },
        &[],
    );
    check_streamed(
        |story, request| {
            story.frame(request, "ADDED", member(A, "a", 3));
            initial_events_end(story, request, 4);
        },
        &[("list_snapshots", "are not the state at this version")],
    );
    check_streamed(
        |story, request| {
            story.frame(request, "ADDED", member(A, "a", 3));
            listed(story, request);
        },
        &[("unique", "comes again")],
    );
    check_streamed(
        |story, request| {
            listed(story, request);
            story.frame(request, "DELETED", member(B, "b", 6));
        },
        &[("reliable", "one/pod-0 at 5 was left out")],
    );
    check_streamed(
        |story, request| {
            listed(story, request);
            story.frame(request, "ADDED", member(B, "b", 4));
        },
        &[("unique", "comes again")],
    );
}

#[test]
fn a_list_that_is_not_the_state_is_found() {
    check(
        |story| {
            told_well(story);
            story.wait(1);
            story.list(4, &[member(A, "a", 3)]);
        },
        &[("list_snapshots", "is not the state at its version")],
    );
    check(
        |story| {
            told_well(story);
            story.wait(1);
            story.list(4, &[member(B, "b", 4), member(A, "a", 3)]);
        },
        &[("list_snapshots", "one/pod-0 is out of order")],
    );
}
