//! The text form of traces, and hot loops.

use std::time::Duration;

use super::{HandlerNotification, Key, NotifiedChange, Observation, Phase, Recorder, State, Trace};

#[test]
fn the_text_form_has_time_number_and_words() {
    let mut trace = Trace::new();
    trace.push(Duration::ZERO, Observation::Phase(Phase::Safety));
    trace.push(
        Duration::from_millis(61_007),
        Observation::Notified(HandlerNotification {
            informer: 0,
            handler: 1,
            key: Key::from("one/pod-1"),
            change: NotifiedChange::Updated {
                old: State::new("u", 4),
                new: State::new("u", 7),
            },
            cause: None,
            cached: Some(State::new("u", 9)),
        }),
    );
    assert_eq!(
        trace.to_string(),
        "     0.000 #00000 phase Safety\n    \
         61.007 #00001 handler 0.1 one/pod-1 updated u@4 -> u@7, cache u@9\n"
    );
}

#[tokio::test(start_paused = true)]
async fn records_are_stamped_with_simulated_time() {
    let recorder = Recorder::new();
    recorder.record(Observation::Phase(Phase::Safety));
    tokio::time::sleep(Duration::from_hours(1)).await;
    recorder.record(Observation::Phase(Phase::Recovery));
    let times: Vec<u64> = recorder
        .take()
        .records()
        .iter()
        .map(|record| record.at.as_secs())
        .collect();
    assert_eq!(times, [0, 3_600]);
}

#[tokio::test(start_paused = true)]
async fn steps_without_time_passing_trip_the_recorder_once() {
    let recorder = Recorder::new();
    let tripped = recorder.tripped();
    tokio::pin!(tripped);
    assert!(futures::poll!(&mut tripped).is_pending());
    for _ in 0..20_000 {
        recorder.record(Observation::Phase(Phase::Safety));
    }
    tripped.await;
    // Later callers resolve at once.
    recorder.tripped().await;
    let trace = recorder.take();
    assert!(matches!(
        trace.observations().last(),
        Some(Observation::HotLoop { .. })
    ));
    assert!(trace.records().len() < 10_000);
}

#[tokio::test(start_paused = true)]
async fn steps_over_time_do_not() {
    let recorder = Recorder::new();
    for _ in 0..20_000 {
        recorder.record(Observation::Phase(Phase::Safety));
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    assert!(!recorder.is_tripped());
}

#[test]
fn a_version_that_is_no_number_is_no_version() {
    assert_eq!(State::from_wire("u", "12").revision, 12);
    assert_eq!(State::from_wire("u", "x").revision, 0);
    assert_eq!(State::from_wire("u", "").revision, 0);
}
