//! A thousand seeds and more: every promise is kept.
//!
//! Several tests, so that the test runner spreads them over its threads.

use conformance::{batch::Done, seed::Seed};

fn check(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let done = Done::run(Seed::new(seed));
        if let Some(failure) = done.failure {
            let violations: Vec<String> = failure
                .violations
                .iter()
                .take(10)
                .map(ToString::to_string)
                .collect();
            panic!(
                "seed {seed} broke a promise\n{}\nreplay it: cargo run --release -p conformance -- replay {seed}",
                violations.join("\n")
            );
        }
    }
}

macro_rules! seeds {
    ($($name:ident: $range:expr,)*) => {
        $(
            #[test]
            fn $name() {
                check($range);
            }
        )*
    };
}

seeds! {
    seeds_0_to_249_keep_every_promise: 0..250,
    seeds_250_to_499_keep_every_promise: 250..500,
    seeds_500_to_749_keep_every_promise: 500..750,
    seeds_750_to_999_keep_every_promise: 750..1_000,
}
