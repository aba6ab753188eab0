//! The delays that each limiter gives, and what it remembers.

use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;

use super::{
    Bucket, ItemExponentialFailure, ItemFastSlow, MaxOf, RateLimiter, WithMaxWait,
    default_controller_rate_limiter, default_item_based_rate_limiter,
};

const MS: fn(u64) -> Duration = Duration::from_millis;
const S: fn(u64) -> Duration = Duration::from_secs;

/// Asks `limiter` for as many delays as are expected, all at one moment.
fn check(limiter: &mut impl RateLimiter<&'static str>, item: &'static str, expected: &[Duration]) {
    let now = Instant::now();
    let delays: Vec<_> = expected.iter().map(|_| limiter.when(&item, now)).collect();
    assert_eq!(delays, expected, "for {item}");
}

fn requeues(limiter: &impl RateLimiter<&'static str>, item: &'static str) -> u32 {
    limiter.num_requeues(&item, Instant::now())
}

#[test]
fn an_items_delay_doubles_with_each_failure_and_forget_resets_it() {
    let mut limiter = ItemExponentialFailure::new(MS(1), S(1));
    check(&mut limiter, "one", &[MS(1), MS(2), MS(4), MS(8), MS(16)]);
    assert_eq!(requeues(&limiter, "one"), 5);
    check(&mut limiter, "two", &[MS(1), MS(2)]);
    assert_eq!(requeues(&limiter, "two"), 2);
    limiter.forget(&"one");
    assert_eq!(requeues(&limiter, "one"), 0);
    check(&mut limiter, "one", &[MS(1)]);
    assert_eq!(requeues(&limiter, "two"), 2);
}

#[test]
fn the_default_delays_reach_a_thousand_seconds_with_the_nineteenth_failure() {
    let mut expected: Vec<_> = (0..18).map(|failures| MS(5 << failures)).collect();
    assert_eq!(expected.last(), Some(&MS(655_360)));
    expected.extend([S(1_000), S(1_000)]);
    check(&mut ItemExponentialFailure::default(), "one", &expected);
}

#[test]
fn an_exponential_delay_does_not_overflow() {
    let mut limiter = ItemExponentialFailure::new(MS(1), Duration::MAX);
    let now = Instant::now();
    let mut last = Duration::ZERO;
    for _ in 0..200 {
        let delay = limiter.when(&"one", now);
        assert!(delay >= last);
        last = delay;
    }
    assert_eq!(last, Duration::MAX);
    check(
        &mut ItemExponentialFailure::new(Duration::ZERO, S(1)),
        "one",
        &[Duration::ZERO; 40],
    );
}

#[test]
fn an_item_that_is_never_forgotten_does_not_stay_in_memory() {
    let mut limiter = ItemExponentialFailure::new(MS(5), S(1_000));
    let start = Instant::now();
    for item in 0..10_000_u64 {
        limiter.when(&item, start + S(item));
    }
    // What failed within three times the longest delay, and no more.
    assert_eq!(limiter.len(), 3_001);
    assert!(!limiter.is_empty());
    let end = start + S(9_999);
    assert_eq!(limiter.num_requeues(&9_999, end), 1);
    assert_eq!(limiter.num_requeues(&6_999, end), 1);
    assert_eq!(limiter.num_requeues(&6_998, end), 0);
    for item in 0..10_000 {
        limiter.forget(&item);
    }
    assert!(limiter.is_empty());
}

#[test]
fn an_item_that_fails_each_time_is_never_forgotten_by_age() {
    let mut limiter = ItemExponentialFailure::new(MS(5), S(1_000));
    let mut now = Instant::now();
    for failures in 0..100 {
        assert_eq!(limiter.num_requeues(&"one", now), failures);
        // The next try comes after the delay, and takes twice as long.
        now += limiter.when(&"one", now) * 3;
    }
}

#[test]
fn failures_of_long_ago_do_not_count() {
    let mut limiter = ItemExponentialFailure::new(MS(5), S(1)).with_memory(S(60));
    let start = Instant::now();
    limiter.when(&"one", start);
    limiter.when(&"one", start);
    assert_eq!(limiter.num_requeues(&"one", start + S(60)), 2);
    assert_eq!(limiter.num_requeues(&"one", start + S(61)), 0);
    assert_eq!(limiter.when(&"one", start + S(61)), MS(5));
    assert_eq!(limiter.num_requeues(&"one", start + S(61)), 1);
}

#[test]
fn the_first_attempts_are_fast_and_the_later_ones_slow() {
    let mut limiter = ItemFastSlow::new(MS(5), S(10), 3);
    let expected = [MS(5), MS(5), MS(5), S(10), S(10)];
    check(&mut limiter, "one", &expected);
    assert_eq!(requeues(&limiter, "one"), 5);
    check(&mut limiter, "two", &[MS(5), MS(5)]);
    assert_eq!(requeues(&limiter, "two"), 2);
    limiter.forget(&"one");
    assert_eq!(requeues(&limiter, "one"), 0);
    check(&mut limiter, "one", &expected);
}

#[test]
fn a_bucket_lets_a_burst_pass_and_then_spaces_all_items_evenly() {
    let mut bucket = Bucket::default();
    let mut expected = vec![Duration::ZERO; 100];
    expected.extend((1..=20).map(|waiting| MS(100 * waiting)));
    check(&mut bucket, "one", &expected);
    assert_eq!(requeues(&bucket, "one"), 0);
    // Forgetting gives nothing back.
    RateLimiter::<&str>::forget(&mut bucket, &"one");
    let now = Instant::now();
    assert!(bucket.when(&"two", now) > S(1));
}

#[test]
fn a_bucket_fills_with_time_up_to_its_burst() {
    let mut bucket = Bucket::new(10.0, 2);
    let start = Instant::now();
    let delays =
        |bucket: &mut Bucket, now| -> Vec<_> { (0..4).map(|_| bucket.when(&"one", now)).collect() };
    let fresh = [Duration::ZERO, Duration::ZERO, MS(100), MS(200)];
    assert_eq!(delays(&mut bucket, start), fresh);
    // Two tokens are owed, one has grown since.
    assert_eq!(bucket.when(&"one", start + MS(100)), MS(200));
    assert_eq!(delays(&mut bucket, start + S(3_600)), fresh);
}

#[test]
fn a_bucket_can_be_as_slow_as_one_likes() {
    let mut bucket = Bucket::new(f64::MIN_POSITIVE, 1);
    check(&mut bucket, "one", &[Duration::ZERO, S(365 * 24 * 3_600)]);
    let mut bucket = Bucket::new(1.0, 0);
    check(&mut bucket, "one", &[S(1), S(2)]);
}

#[test]
#[should_panic(expected = "positive")]
fn a_bucket_without_a_rate_is_refused() {
    let _ = Bucket::new(0.0, 1);
}

#[test]
fn the_longest_delay_of_several_holds_and_all_are_charged() {
    let mut limiter = MaxOf::new(
        ItemFastSlow::new(MS(5), S(3), 3),
        ItemExponentialFailure::new(MS(1), S(1)),
    );
    check(&mut limiter, "one", &[MS(5), MS(5), MS(5), S(3), S(3)]);
    assert_eq!(requeues(&limiter, "one"), 5);
    check(&mut limiter, "two", &[MS(5), MS(5)]);
    assert_eq!(requeues(&limiter, "two"), 2);
    limiter.forget(&"one");
    assert_eq!(requeues(&limiter, "one"), 0);
    check(&mut limiter, "one", &[MS(5)]);
    let mut limiter = limiter.and(WithMaxWait::new(
        ItemExponentialFailure::new(S(60), S(60)),
        S(30),
    ));
    check(&mut limiter, "one", &[S(30)]);
}

#[test]
fn a_delay_is_cut_off_at_the_longest_wait() {
    let mut limiter = WithMaxWait::new(ItemFastSlow::new(MS(5), S(3), 3), S(1));
    check(&mut limiter, "one", &[MS(5), MS(5), MS(5), S(1), S(1)]);
    assert_eq!(requeues(&limiter, "one"), 5);
    limiter.forget(&"one");
    assert_eq!(requeues(&limiter, "one"), 0);
    check(&mut limiter, "one", &[MS(5)]);
}

#[test]
fn a_controllers_limiter_is_the_longer_of_an_items_delay_and_the_bucket() {
    let mut limiter = default_controller_rate_limiter();
    check(&mut limiter, "one", &[MS(5), MS(10), MS(20)]);
    let now = Instant::now();
    let delays: Vec<_> = (0..200)
        .map(|item: u64| {
            let item: &'static str = Box::leak(item.to_string().into_boxed_str());
            limiter.when(&item, now)
        })
        .collect();
    assert_eq!(delays[0], MS(5));
    assert!(
        delays[199] > S(10),
        "all share the bucket: {:?}",
        delays[199]
    );
    check(
        &mut default_item_based_rate_limiter(),
        "one",
        &[MS(1), MS(2), MS(4)],
    );
}

proptest! {
    /// After a burst, at most as many are let through as the rate allows, for any times between them.
    #[test]
    fn a_bucket_never_exceeds_its_rate(steps in prop::collection::vec(0..300_u64, 1..200)) {
        let mut bucket = Bucket::new(10.0, 5);
        let start = Instant::now();
        let mut now = start;
        let mut starts = Vec::new();
        for step in steps {
            now += MS(step);
            starts.push(now + bucket.when(&"one", now));
        }
        prop_assert!(starts.is_sorted());
        for (first, from) in starts.iter().enumerate() {
            for (last, to) in starts.iter().enumerate().skip(first) {
                let count = u32::try_from(last - first + 1).unwrap();
                let allowed = MS(100) * count.saturating_sub(5 + 1);
                prop_assert!(*to - *from >= allowed, "{count} within {:?}", *to - *from);
            }
        }
    }
}
