//! Tests of the backoff.

use std::time::Duration;

use proptest::prelude::*;

use super::{Backoff, BackoffOptions};

fn without_jitter() -> BackoffOptions {
    BackoffOptions {
        jitter: 0.0,
        ..BackoffOptions::default()
    }
}

fn delays_ms(backoff: &mut Backoff, count: usize) -> Vec<u128> {
    (0..count)
        .map(|_| backoff.next_delay(None).as_millis())
        .collect()
}

#[test]
fn the_delay_doubles_up_to_the_limit_and_stays_there() {
    let mut backoff = Backoff::new(without_jitter(), 0);
    assert_eq!(
        delays_ms(&mut backoff, 9),
        [
            800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000
        ]
    );
    assert_eq!(backoff.attempt(), 9);
    backoff.reset();
    assert_eq!(delays_ms(&mut backoff, 2), [800, 1600]);
}

#[test]
fn the_servers_demand_is_a_lower_bound_within_reason() {
    let mut backoff = Backoff::new(without_jitter(), 0);
    let mut with = |seconds| backoff.next_delay(Some(Duration::from_secs(seconds)));
    assert_eq!(with(7), Duration::from_secs(7));
    assert_eq!(with(1), Duration::from_millis(1600));
    assert_eq!(with(86_400), Duration::from_mins(5));
}

#[test]
fn the_same_seed_gives_the_same_delays_and_another_seed_others() {
    let delays = |seed| delays_ms(&mut Backoff::new(BackoffOptions::default(), seed), 20);
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2));
}

#[test]
fn no_setting_makes_a_delay_of_nothing_or_panics() {
    let options = BackoffOptions {
        initial: Duration::ZERO,
        max: Duration::ZERO,
        factor: f64::NAN,
        jitter: f64::NAN,
        ..BackoffOptions::default()
    };
    let mut backoff = Backoff::new(options, 0);
    for _ in 0..100 {
        assert!(backoff.next_delay(None) >= Duration::from_millis(1));
    }
}

proptest! {
    #[test]
    fn a_delay_lies_between_its_base_and_its_double(seed: u64, attempts in 1_usize..200) {
        let mut bare = Backoff::new(without_jitter(), 0);
        let mut jittered = Backoff::new(BackoffOptions::default(), seed);
        for _ in 0..attempts {
            let base = bare.next_delay(None);
            let delay = jittered.next_delay(None);
            prop_assert!(base <= delay && delay < base * 2);
        }
    }
}

#[test]
fn every_setting_is_kept() {
    let options = BackoffOptions::default()
        .with_initial(Duration::from_millis(1))
        .with_max(Duration::from_millis(2))
        .with_factor(3.0)
        .with_jitter(0.25)
        .with_retry_after_max(Duration::from_millis(4));
    let expected = BackoffOptions {
        initial: Duration::from_millis(1),
        max: Duration::from_millis(2),
        factor: 3.0,
        jitter: 0.25,
        retry_after_max: Duration::from_millis(4),
    };
    assert_eq!(options, expected);
}
