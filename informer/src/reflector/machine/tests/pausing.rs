//! Transcripts of pauses, orders, decisions, and checks of a silent server.

use super::{check, lists_only};
use crate::reflector::{PauseOptions, ReflectorOptions, WhenRemoved};

fn emptying() -> ReflectorOptions {
    let pause = PauseOptions::default().with_when_removed(WhenRemoved::EmptyStore);
    lists_only().with_pause(pause)
}

#[test]
fn a_removed_resource_is_probed_now_and_then_until_it_is_back() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        fail not-found -> report #1; wait 800ms
        waited -> WATCH "7"
        fail not-found -> report #2; wait 1.6s
        waited -> LIST "7"
        fail not-found -> discard; report #3; probe
        waited -> LIST "7"
        fail not-found -> discard; report #4; probe
        waited -> LIST "7"
        page 9 -> stage; commit 9; WATCH "9"
        opened -> read
        30s ended -> WATCH "9"
        fail not-found -> report #1; wait 800ms
        "#,
    );
}

#[test]
fn other_failures_between_do_not_make_the_resource_come_back() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        fail not-found -> discard; report #1; wait 800ms
        waited -> LIST "0" limit 500
        fail not-found -> discard; report #2; wait 1.6s
        waited -> LIST "0" limit 500
        fail refused -> discard; report #3; wait 3.2s
        waited -> LIST "0" limit 500
        fail not-found -> discard; report #4; probe
        "#,
    );
}

#[test]
fn a_store_is_emptied_once_if_so_chosen_and_the_resource_is_gone() {
    check(
        emptying(),
        r#"
        start -> LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        fail not-found -> report #1; wait 800ms
        waited -> WATCH "7"
        fail not-found -> report #2; wait 1.6s
        waited -> LIST "7"
        fail not-found -> discard; report #3; EMPTY 7
        emptied -> probe
        waited -> LIST "7"
        fail not-found -> discard; report #4; probe
        waited -> LIST "7"
        page 9 -> stage; commit 9; WATCH "9"
        fail not-found -> report #5; EMPTY 9
        pause -> paused
        "#,
    );
    // What may not be seen is not gone, and before the first state there is nothing to empty.
    for (cause, first) in [
        ("forbidden", "page 7 -> stage; commit 7; WATCH \"7\""),
        ("not-found", "resume -> LIST \"0\" limit 500"),
    ] {
        let (discard, then) = if cause == "forbidden" {
            ("", ["WATCH \"7\"", "LIST \"7\""])
        } else {
            ("discard; ", ["LIST \"0\" limit 500"; 2])
        };
        check(
            emptying(),
            &format!(
                r#"
                start -> LIST "0" limit 500
                {first}
                fail {cause} -> {discard}report #1; wait 800ms
                waited -> {}
                fail {cause} -> {discard}report #2; wait 1.6s
                waited -> {}
                fail {cause} -> discard; report #3; probe
                "#,
                then[0], then[1]
            ),
        );
    }
}

#[test]
fn a_watch_that_is_forbidden_pauses_although_lists_are_allowed() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        fail forbidden -> report #1; wait 800ms
        waited -> WATCH "7"
        fail forbidden -> report #2; wait 1.6s
        waited -> LIST "7"
        page 8 -> stage; commit 8; WATCH "8"
        fail forbidden -> report #3; probe
        waited -> LIST "8"
        "#,
    );
}

#[test]
fn without_pauses_delays_only_grow() {
    check(
        lists_only().without_pause(),
        r#"
        start -> LIST "0" limit 500
        fail not-found -> discard; report #1; wait 800ms
        waited -> LIST "0" limit 500
        fail not-found -> discard; report #2; wait 1.6s
        waited -> LIST "0" limit 500
        fail not-found -> discard; report #3; wait 3.2s
        waited -> LIST "0" limit 500
        fail not-found -> discard; report #4; wait 6.4s
        "#,
    );
}

#[test]
fn who_is_not_known_is_asked_for_no_pause() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        fail unauthorized -> discard; report #1; wait 800ms
        waited -> LIST "0" limit 500
        fail unauthorized -> discard; report #2; wait 1.6s
        waited -> LIST "0" limit 500
        fail unauthorized -> discard; report #3; wait 3.2s
        "#,
    );
}

#[test]
fn an_order_pauses_for_as_long_as_the_owner_wants() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        pause -> discard; paused
        resume -> LIST "0" limit 500
        page 7 a -> stage; LIST continue a limit 500
        pause -> discard; paused
        pause -> paused
        resume -> LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        opened -> read
        added 8 -> deliver; read
        resume -> read
        pause -> paused
        3600s resume -> WATCH "8"
        fail expired -> report #1; wait 800ms
        resume -> LIST "8" NotOlderThan limit 500
        "#,
    );
}

#[test]
fn a_decision_takes_the_place_of_what_is_usual() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        fail expired -> report #1; wait 800ms
        decide default -> wait 800ms
        decide retry -> wait 800ms
        waited -> WATCH "7"
        decide retry -> WATCH "7"
        opened -> read
        fail transport -> report #2; wait 1.6s
        decide relist -> wait 1.6s
        waited -> LIST "7"
        page 8 a -> stage; LIST continue a
        fail server -> report #3; wait 3.2s
        decide 0 -> wait 100ms
        waited -> LIST continue a
        fail denied -> discard; report #4; wait 6.4s
        decide 20 -> wait 20s
        decide pause -> discard; probe
        resume -> LIST "7"
        decide stop -> discard; STOP
        page 9 -> STOP
        "#,
    );
}

#[test]
fn a_retry_without_a_state_is_a_relist() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        fail transport -> discard; report #1; wait 800ms
        decide retry -> wait 800ms
        waited -> LIST "0" limit 500
        page 7 a -> stage; LIST continue a limit 500
        decide retry -> discard; wait 1.6s
        waited -> LIST "0" limit 500
        "#,
    );
}

#[test]
fn no_decision_makes_a_hot_loop() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        opened -> read
        5s fail transport -> report #0; WATCH "7"
        decide relist -> wait 800ms
        waited -> LIST "7"
        page 7 -> stage; commit 7; WATCH "7"
        opened -> read
        5s fail transport -> report #1; WATCH "7"
        decide relist -> wait 1.6s
        waited -> LIST "7"
        fail expired -> report #2; LIST "" limit 500
        decide 0 -> wait 100ms
        waited -> LIST "" limit 500
        "#,
    );
}

#[test]
fn a_silent_server_is_asked_whether_it_still_has_the_version() {
    check(
        lists_only(),
        r#"
        start -> LIST "0" limit 500
        page 7 -> stage; commit 7; WATCH "7"
        opened -> read
        100s bookmark 7 -> read
        180s fail timed-out -> report #0; WATCH "7"
        opened -> read
        180s fail timed-out -> report #0; LIST "7" NotOlderThan limit 1
        page 7 a -> WATCH "7"
        opened -> read
        200s ended -> WATCH "7"
        opened -> read
        200s ended -> LIST "7" NotOlderThan limit 1
        fail unavailable -> report #1; wait 800ms
        waited -> WATCH "7"
        opened -> read
        180s fail timed-out -> report #0; LIST "7" NotOlderThan limit 1
        page 3 -> went back 7 to 3, refused; LIST "" limit 500
        page 3 -> went back 7 to 3; stage; commit 3 with authority; WATCH "3"
        "#,
    );
    for cause in ["too-large", "expired"] {
        check(
            lists_only(),
            &format!(
                r#"
                start -> LIST "0" limit 500
                page 7 -> stage; commit 7; WATCH "7"
                opened -> read
                180s fail timed-out -> report #0; WATCH "7"
                opened -> read
                180s fail timed-out -> report #0; LIST "7" NotOlderThan limit 1
                fail {cause} -> report #0; LIST "" limit 500
                page 3 -> went back 7 to 3; stage; commit 3 with authority; WATCH "3"
                "#
            ),
        );
    }
}
