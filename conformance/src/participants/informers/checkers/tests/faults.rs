//! Findings that faults explain, and bounds of recovery.

use super::{A, B, TraceBuilder, check, fault_begins, is_of_requests, member, told_well};
use crate::{
    participants::check_all,
    trace::{Observation, Phase},
};

/// Checks the explanation of a gap in a watch, with the fault in force from `begin` to `end`.
fn check_expected(
    begin: impl FnOnce(&mut TraceBuilder),
    end: impl FnOnce(&mut TraceBuilder),
    want: Option<usize>,
) {
    let mut story = TraceBuilder::new();
    begin(&mut story);
    told_well(&mut story);
    end(&mut story);
    story.wait(1);
    let watch = story.watch(2);
    story.frame(watch, "ADDED", member(B, "b", 4));
    story.wait(100);
    story.list(4, &[member(A, "a", 3)]);
    let trace = story.finish(&[member(A, "a", 5)]);
    let found: Vec<(&str, Option<usize>)> = check_all(&trace)
        .iter()
        .filter(|violation| !is_of_requests(violation.checker))
        .map(|violation| (violation.checker, violation.finding.expected_of))
        .collect();
    assert_eq!(
        found,
        [("resumable", want), ("list_snapshots", want)],
        "{trace}"
    );
}

#[test]
fn deliberate_effects_of_faults_are_distinguished() {
    let nothing = |_: &mut TraceBuilder| {};
    let ends = |story: &mut TraceBuilder| story.push(Observation::FaultEnds { fault: 7 });
    check_expected(nothing, nothing, None);
    // A rollback explains earlier findings, too.
    let takes_back_later = |story: &mut TraceBuilder| {
        story.wait(60_000);
        fault_begins(story, "rollback", Some(1));
    };
    check_expected(nothing, takes_back_later, Some(7));
    for name in ["drop_event", "stale_view"] {
        let begins = |informer| move |story: &mut TraceBuilder| fault_begins(story, name, informer);
        check_expected(begins(None), nothing, Some(7));
        check_expected(begins(Some(0)), nothing, Some(7));
        check_expected(begins(Some(1)), nothing, None);
        check_expected(begins(None), ends, None);
    }
    // A fault that only cuts streams explains nothing.
    check_expected(
        |story| fault_begins(story, "clean_end", None),
        nothing,
        None,
    );
}

#[test]
fn an_expected_violation_says_of_what() {
    let mut story = TraceBuilder::new();
    fault_begins(&mut story, "drop_event", None);
    told_well(&mut story);
    let watch = story.watch(2);
    story.frame(watch, "ADDED", member(B, "b", 4));
    let mut violations = check_all(&story.finish(&[member(A, "a", 5)]));
    violations.retain(|violation| !is_of_requests(violation.checker));
    assert_eq!(violations.len(), 1);
    assert!(violations[0].is_expected());
    let message = violations[0].to_string();
    assert!(message.ends_with(", expected of fault 7"), "{message}");
}

/// Checks a cache that stands at 2 some time after a fault, although 3 was written.
fn check_late(fault: &'static str, ends: bool, wait_ms: u64, want: &[(&str, &str)]) {
    check(
        |story| {
            fault_begins(story, fault, None);
            story.push(Observation::Operation {
                text: String::new(),
                status: 200,
                revision: Some(3),
            });
            if ends {
                story.push(Observation::FaultEnds { fault: 7 });
            }
            story.wait(wait_ms);
            story.cached(2, &[member(A, "a", 2)]);
            if !ends {
                story.push(Observation::FaultEnds { fault: 7 });
            }
            told_well(story);
        },
        want,
    );
}

#[test]
fn a_cache_that_is_late_after_a_fault_is_found() {
    check_late("clean_end", true, 61_000, &[]);
    let says = "cache 0 has not heard of one/pod-0 at 3; after clean_end it should by 61.000";
    check_late("clean_end", true, 61_001, &[("liveness", says)]);
    // After an expired version there are two waits.
    check_late("expire", true, 121_000, &[]);
    check_late("expire", true, 122_000, &[("liveness", "after expire")]);
    check_late("clean_end", false, 900_000, &[]);
    check_late("silence", true, 200_000, &[]);
    check_late("silence", true, 302_000, &[("liveness", "after silence")]);
    check_late("trickle", true, 400_000, &[]);
    check_late("trickle", true, 500_000, &[("liveness", "after trickle")]);
}

#[test]
fn caches_that_converge_late_are_found() {
    let converges = |fault: &'static str, wait_ms: u64| {
        move |story: &mut TraceBuilder| {
            told_well(story);
            story.wait(10_000);
            fault_begins(story, fault, Some(0));
            story.wait(5_000);
            story.push(Observation::FaultEnds { fault: 7 });
            story.push(Observation::Phase(Phase::Recovery));
            story.wait(wait_ms);
            story.push(Observation::Phase(Phase::Converged));
        }
    };
    check(converges("server_error", 60_000), &[]);
    check(
        converges("server_error", 62_000),
        &[(
            "liveness",
            "not up to date for 62.000 s; after server_error",
        )],
    );
    check(
        |story| {
            told_well(story);
            story.wait(10_000);
            story.push(Observation::Phase(Phase::Recovery));
            story.wait(2_000);
            story.push(Observation::Phase(Phase::Converged));
        },
        &[("liveness", "2.000 s; where nothing is wrong")],
    );
}
