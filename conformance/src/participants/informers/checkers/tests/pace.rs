//! The pace of requests during outages.

use super::{A, B, TraceBuilder, check, check_by, fault_begins, member, state, told_well};
use crate::trace::{Ending, Observation, RequestKind};

#[test]
fn requests_beyond_the_backoff_are_found() {
    let outage = |gap_ms: &'static [u64]| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            for gap_ms in gap_ms {
                story.wait(*gap_ms);
                let request = story.request(RequestKind::Watch {
                    revision: "6".to_owned(),
                    is_streaming_list: false,
                });
                story.push(Observation::Answer {
                    request,
                    status: 503,
                });
                story.end(request, Ending::Clean);
            }
        }
    };
    check(
        outage(&[0, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]),
        &[],
    );
    check(outage(&[100; 6]), &[]);
    check(
        outage(&[100; 12]),
        &[("bounded_requests", "7 requests in 0.600 s")],
    );
    check(outage(&[700; 40]), &[("bounded_requests", "requests in")]);
}

#[test]
fn a_short_wait_is_found_unless_the_client_was_asleep() {
    let second_wait = |asleep: bool| {
        move |story: &mut TraceBuilder| {
            for gap_ms in [0, 800, 1] {
                if asleep && gap_ms == 1 {
                    fault_begins(story, "suspend", Some(0));
                }
                story.wait(gap_ms);
                let request = story.watch(6);
                let status = 503;
                story.push(Observation::Answer { request, status });
                story.end(request, Ending::Clean);
            }
        }
    };
    let check_waits = |build: &dyn Fn(&mut TraceBuilder), want: &[(&str, &str)]| {
        check_by(|checker| checker == "backoff", build, &[], want);
    };
    check_waits(&second_wait(true), &[]);
    check_waits(
        &second_wait(false),
        &[("backoff", "waited 0.001 s after failure 2 in a row")],
    );
}

#[test]
fn a_watch_that_brings_something_is_no_outage() {
    check(
        |story| {
            story.list(2, &[member(A, "a", 2)]);
            story.added(A, state("a", 2));
            for revision in [2, 3, 4, 5].iter().cycle().take(40) {
                let watch = story.watch(*revision);
                story.wait(10);
                story.bookmark(watch, *revision);
                story.end(watch, Ending::Clean);
            }
            story.wait(1);
            story.list(5, &[member(A, "a", 5), member(B, "b", 4)]);
            story.updated(A, state("a", 2), state("a", 5));
        },
        &[],
    );
}
