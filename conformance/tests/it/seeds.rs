//! Two thousand seeds: every promise is kept.
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
    seeds_0_to_499_keep_every_promise: 0..500,
    seeds_500_to_999_keep_every_promise: 500..1_000,
    seeds_1000_to_1499_keep_every_promise: 1_000..1_500,
    seeds_1500_to_1999_keep_every_promise: 1_500..2_000,
}
