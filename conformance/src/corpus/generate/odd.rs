//! Values that validation has to look at twice.

use rand::{RngExt, rngs::ChaCha8Rng, seq::IndexedRandom};
use serde_json::{Number, Value, json};

/// Texts of all formats, and of none.
const TEXTS: [&str; 66] = [
    "",
    " ",
    "a",
    "A",
    "a b",
    "a_b",
    "-a",
    "a-",
    "a.",
    ".a",
    "a..b",
    "a/b",
    "a//b",
    "/a",
    "a/b/c",
    "..",
    "../a",
    "*",
    "*.a.b",
    "a.b",
    "a.b.c",
    "ä",
    "日本",
    "\u{1f600}",
    "\u{0}",
    "a\nb",
    "a\tb",
    "null",
    "true",
    "0",
    "1",
    "-1",
    "1.5",
    "0x1f",
    "08",
    "1e3",
    "10%",
    "150%",
    "-5%",
    "%",
    "1Gi",
    "1.5Gi",
    "-1Gi",
    "1gi",
    "100m",
    "0.1m",
    "1h",
    "1d",
    "2026-01-01T00:00:00Z",
    "2026-13-45T00:00:00Z",
    "2026-01-01",
    "10.0.0.1",
    "010.0.0.1",
    "10.0.0.256",
    "10.0.0.0/8",
    "10.0.0.1/33",
    "fe80::1",
    "::ffff:10.0.0.1",
    "https://a.example.com/b",
    "https://",
    "AAEC",
    "AA=C",
    "$(A)",
    "object.spec",
    "1 +",
    "kubernetes.io/a",
];
/// Integers at the bounds of types and of usual ranges.
const INTEGERS: [i64; 22] = [
    -1,
    0,
    1,
    2,
    3,
    7,
    100,
    101,
    1000,
    3600,
    30_000,
    32_768,
    65_535,
    65_536,
    1_000_000_000,
    1_000_000_001,
    2_147_483_647,
    2_147_483_648,
    -2_147_483_649,
    9_007_199_254_740_993,
    i64::MAX,
    i64::MIN,
];
/// Lengths of texts at the usual bounds.
const LENGTHS: [usize; 8] = [15, 16, 63, 64, 253, 254, 1_025, 2_049];

/// Draws a text in place of `old`.
pub(super) fn text(rng: &mut ChaCha8Rng, old: &str) -> String {
    match rng.random_range(0..12) {
        0 => old.to_uppercase(),
        1 => old.to_lowercase(),
        2 => format!("{old} "),
        3 => format!("{old}x"),
        4 => format!("{old}.{old}"),
        5 => old.chars().skip(1).collect(),
        6 => {
            let letter = pick(rng, &["x", "a.", "é", "1"]);
            letter.repeat(pick(rng, &LENGTHS) / letter.chars().count())
        }
        _ => pick(rng, &TEXTS).to_owned(),
    }
}

/// Draws a number in place of `old`.
pub(super) fn number(rng: &mut ChaCha8Rng, old: &Number) -> Value {
    let near = old.as_i64().unwrap_or_default();
    match rng.random_range(0..10) {
        0 => json!(near.saturating_add(1)),
        1 => json!(near.saturating_sub(1)),
        2 => json!(near.saturating_neg()),
        3 => json!(old.to_string()),
        4 => pick(
            rng,
            &[
                json!(1.5),
                json!(1000.0),
                json!(1e21),
                json!(u64::MAX),
                json!(0.0),
            ],
        ),
        _ => json!(pick(rng, &INTEGERS)),
    }
}

/// Draws a value of another type.
pub(super) fn other_type(rng: &mut ChaCha8Rng, old: &Value) -> Value {
    let all = [
        json!("s"),
        json!(5),
        json!(1.5),
        json!(true),
        json!([]),
        json!(["x"]),
        json!({}),
        json!({"a": "b"}),
    ];
    let is_other = |value: &&Value| std::mem::discriminant(*value) != std::mem::discriminant(old);
    let others: Vec<&Value> = all.iter().filter(is_other).collect();
    pick(rng, &others).clone()
}

/// Draws one of `all`, of which there is at least one.
pub(super) fn pick<T: Clone>(rng: &mut ChaCha8Rng, all: &[T]) -> T {
    all.choose(rng).expect("there is one").clone()
}
