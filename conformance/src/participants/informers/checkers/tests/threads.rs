//! Runs in real time: effects may come late, but not for ever.

use std::time::Duration;

use super::{A, B, TraceBuilder, check, check_by, member, state, told_well};
use crate::trace::{HandlerNotification, Key, NotifiedCause, NotifiedChange, Observation, Trace};

/// Lets effects be a second late from the beginning of the story on.
fn in_real_time(builder: &mut TraceBuilder) {
    let mut trace = Trace::with_lateness(Duration::from_secs(1));
    for record in builder.trace.records() {
        trace.push(record.at, record.observation.clone());
    }
    builder.trace = trace;
}

#[test]
fn a_wait_may_end_late_but_not_after_the_lateness() {
    let seen_again_after = |ms| {
        move |builder: &mut TraceBuilder| {
            in_real_time(builder);
            told_well(builder);
            builder.push(Observation::WaitBegins {
                informer: 0,
                wait: 0,
                revision: 6,
            });
            builder.cached(6, &[member(A, "a", 5)]);
            builder.wait(ms);
        }
    };
    check(seen_again_after(1_000), &[]);
    check(seen_again_after(1_001), &[("waits", "goes on at 6")]);
}

#[test]
fn one_call_may_end_after_its_handler_was_removed() {
    let told_after_leaving = |count: usize| {
        move |builder: &mut TraceBuilder| {
            in_real_time(builder);
            builder.list(2, &[member(A, "a", 2), member(B, "b", 4)]);
            builder.push(Observation::HandlerLeaves {
                informer: 0,
                handler: 0,
            });
            let notification = [(A, state("a", 2)), (B, state("b", 4))];
            for (key, state) in notification.into_iter().take(count) {
                builder.added(key, state);
            }
        }
    };
    let is_wanted = |checker: &str| checker == "handler_streams";
    check_by(is_wanted, told_after_leaving(1), &[], &[]);
    let want = [("handler_streams", "notified after it left")];
    check_by(is_wanted, told_after_leaving(2), &[], &want);
}

#[test]
fn states_are_left_out_only_by_what_a_relist_found() {
    let notification = |cause: NotifiedCause, old: u64, new: u64| {
        Observation::Notified(HandlerNotification {
            informer: 0,
            handler: 0,
            key: Key::from(A),
            change: NotifiedChange::Updated {
                old: state("a", old),
                new: state("a", new),
            },
            cause: Some(cause),
            cached: Some(state("a", new)),
        })
    };
    let late = |cause| {
        move |builder: &mut TraceBuilder| {
            in_real_time(builder);
            builder.list(2, &[member(A, "a", 2)]);
            builder.added(A, state("a", 2));
            builder.list(5, &[member(A, "a", 5)]);
            builder.wait(10);
            // What was in flight comes first.
            builder.push(notification(NotifiedCause::Resync, 2, 2));
            builder.push(notification(cause, 2, 5));
        }
    };
    let is_wanted = |checker: &str| checker == "silent_gaps";
    check_by(is_wanted, late(NotifiedCause::Relist), &[], &[]);
    let want = [("silent_gaps", "revision 3 was left out")];
    check_by(is_wanted, late(NotifiedCause::Live), &[], &want);
}
