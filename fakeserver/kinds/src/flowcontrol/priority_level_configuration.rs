//! Priority levels.

use fakeserver_value::{
    edit::{set, within},
    field::Field,
    findings::Findings,
    read::text,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Kind, Validation,
    flowcontrol::{conditions::check_conditions, kind},
    table::cell::{Cells, NONE, age, name},
};

const SHARES: u32 = 30;
const QUEUES_MAX: i64 = 10_000_000;
/// The bits of the hash that deals a hand of queues.
const HASH_BITS: f64 = 60.0;
const NOT_NEGATIVE: &str = "must be a non-negative integer";

/// An annotation of conversions, which no stored object has.
const ZERO_SHARES: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

/// Priority levels.
pub static KIND: Kind = kind(
    "prioritylevelconfigurations",
    Validation::new(check, |_, new, found| check(new, found)),
)
.defaults(set_defaults)
.cells(cells);

pub fn set_defaults(level: &mut Value) {
    let Some(spec) = within(level, "spec") else {
        return;
    };
    if let Some(exempt) = within(spec, "exempt") {
        set(exempt, "nominalConcurrencyShares", json!(0));
        set(exempt, "lendablePercent", json!(0));
    }
    let Some(limited) = within(spec, "limited") else {
        return;
    };
    set(limited, "nominalConcurrencyShares", json!(SHARES));
    set(limited, "lendablePercent", json!(0));
    let response = within(limited, "limitResponse");
    if let Some(queuing) = response.and_then(|response| within(response, "queuing")) {
        for (field, default) in [("queues", 64), ("handSize", 8), ("queueLengthLimit", 50)] {
            if queuing[field].as_i64().unwrap_or_default() == 0 {
                queuing[field] = json!(default);
            }
        }
    }
}

fn check(level: &Field<'_>, found: &mut Findings) {
    let metadata = level.at("metadata");
    let annotations = metadata.at("annotations");
    if annotations.key(ZERO_SHARES).is_set() {
        let why = format!("annotation '{ZERO_SHARES}' is forbidden");
        found.forbidden(&annotations, &why);
    }
    let is_exempt = metadata.at("name").text() == "exempt";
    let spec = level.at("spec");
    let (kind, exempt, limited) = (spec.at("type"), spec.at("exempt"), spec.at("limited"));
    if is_exempt != (kind.text() == "Exempt") {
        let why = "must be 'Exempt' if and only if `name` is 'exempt'";
        found.invalid_as(&kind, &json!(kind.text()), why);
    }
    match kind.text() {
        "Exempt" => {
            if limited.is_set() {
                found.forbidden(&limited, "must be nil if the type is not Limited");
            }
            check_shares(&exempt, found);
            check_lendable(&exempt, found);
        }
        "Limited" => {
            if exempt.is_set() {
                found.forbidden(&exempt, "must be nil if the type is Limited");
            }
            if limited.is_set() {
                check_limited(&limited, found);
            } else {
                found.required(&limited, "must not be empty when type is Limited");
            }
        }
        _ => found.not_supported(&kind, &["Exempt", "Limited"]),
    }
    check_conditions(level, found);
}

fn check_limited(limited: &Field<'_>, found: &mut Findings) {
    check_shares(limited, found);
    check_response(&limited.at("limitResponse"), found);
    check_lendable(limited, found);
    let borrowed = limited.at("borrowingLimitPercent");
    if borrowed.number() < 0 {
        found.invalid(&borrowed, "if specified, must be a non-negative integer");
    }
}

fn check_shares(level: &Field<'_>, found: &mut Findings) {
    let shares = level.at("nominalConcurrencyShares");
    if shares.number() < 0 {
        found.invalid(&shares, NOT_NEGATIVE);
    }
}

fn check_lendable(level: &Field<'_>, found: &mut Findings) {
    let lendable = level.at("lendablePercent");
    if !(0..=100).contains(&lendable.number()) {
        found.invalid(&lendable, "must be between 0 and 100, inclusive");
    }
}

fn check_response(response: &Field<'_>, found: &mut Findings) {
    let (kind, queuing) = (response.at("type"), response.at("queuing"));
    match kind.text() {
        "Reject" if queuing.is_set() => {
            let why = "must be nil if limited.limitResponse.type is not Limited";
            found.forbidden(&queuing, why);
        }
        "Reject" => {}
        "Queue" if queuing.is_set() => check_queuing(&queuing, found),
        "Queue" => {
            let why = "must not be empty if limited.limitResponse.type is Limited";
            found.required(&queuing, why);
        }
        _ => found.not_supported(&kind, &["Queue", "Reject"]),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "numbers of queues are far below 2^52"
)]
fn check_queuing(queuing: &Field<'_>, found: &mut Findings) {
    let (queues, hand) = (queuing.at("queues"), queuing.at("handSize"));
    let (deck, dealt) = (queues.number(), hand.number());
    check_positive(&queuing.at("queueLengthLimit"), found);
    check_positive(&queues, found);
    if deck > QUEUES_MAX {
        let why = format!("must not be greater than {QUEUES_MAX}");
        found.invalid(&queues, &why);
    }
    check_positive(&hand, found);
    if dealt <= 0 {
        return;
    }
    if dealt > deck {
        found.invalid(
            &hand,
            &format!("should not be greater than queues ({deck})"),
        );
    } else if ((deck as f64).log2() * dealt as f64).ceil() > HASH_BITS {
        let why = format!(
            "required entropy bits of deckSize {deck} and handSize {dealt} should not be greater than {HASH_BITS}"
        );
        found.invalid(&hand, &why);
    }
}

fn check_positive(field: &Field<'_>, found: &mut Findings) {
    if field.number() <= 0 {
        found.invalid_as(field, &json!(field.number()), "must be positive");
    }
}

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    let or_none = |value: &Value| match value {
        Value::Null => json!(NONE),
        value => value.clone(),
    };
    let (limited, queuing) = (
        &spec["limited"],
        &spec["limited"]["limitResponse"]["queuing"],
    );
    vec![
        json!(name(object)),
        json!(text(&spec["type"])),
        or_none(&limited["nominalConcurrencyShares"]),
        or_none(&queuing["queues"]),
        or_none(&queuing["handSize"]),
        or_none(&queuing["queueLengthLimit"]),
        json!(age(object, now)),
    ]
}
