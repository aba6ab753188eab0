//! Tests of the steps of elections.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::election::{Candidate, Change, Lease, Step, step};

const OLDEST: &str = "OldestEmulationVersion";

/// Returns the instant `seconds` after the start.
const NOW: i64 = 10_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn time(seconds: Option<i64>) -> Value {
    seconds.map_or(Value::Null, |seconds| json!(at(seconds).to_string()))
}

/// Returns a candidate that was pinged and renewed this many seconds ago.
fn candidate(
    name: &str,
    (emulation, binary): (&str, &str),
    pinged: Option<i64>,
    renewed: Option<i64>,
) -> Value {
    let ago = |seconds: Option<i64>| time(seconds.map(|seconds| NOW - seconds));
    json!({
        "metadata": {"name": name, "creationTimestamp": at(0).to_string()},
        "spec": {
            "leaseName": "it", "strategy": OLDEST,
            "emulationVersion": emulation, "binaryVersion": binary,
            "pingTime": ago(pinged), "renewTime": ago(renewed),
        },
    })
}

/// A candidate that has just answered.
fn there(name: &str, versions: (&str, &str)) -> Value {
    candidate(name, versions, Some(2), Some(1))
}

/// Returns a lease of 15 s that was renewed this many seconds ago.
fn lease(holder: &str, renewed: i64) -> Value {
    json!({"spec": {
        "holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": time(Some(NOW - renewed)),
    }})
}

fn next(lease: &Value, candidates: &[Value]) -> Step {
    let candidates: Vec<Candidate> = candidates.iter().map(Candidate::of).collect();
    let lease = Some(lease).filter(|lease| !lease.is_null()).map(Lease::of);
    step(lease.as_ref(), &candidates, at(NOW))
}

fn elects(change: Change) -> Step {
    Step::Elect {
        strategy: OLDEST.to_owned(),
        change,
    }
}

fn term(holder: &str) -> Step {
    elects(Change::Term(Some(holder.to_owned())))
}

fn pings(names: &[&str]) -> Step {
    Step::Ping(names.iter().map(|name| (*name).to_owned()).collect())
}

const V1: (&str, &str) = ("1.1.0", "1.2.0");
const V2: (&str, &str) = ("1.2.0", "1.2.0");

#[test]
fn without_candidates_there_is_no_leader() {
    assert_eq!(next(&Value::Null, &[]), Step::Idle);
    let ended = candidate("a", V1, None, Some(30 * 60 + 1));
    let never = candidate("b", V1, None, None);
    assert_eq!(next(&Value::Null, &[ended, never]), Step::Idle);
}

#[test]
fn all_candidates_are_pinged_before_the_election() {
    let old = |name, pinged| candidate(name, V1, pinged, Some(60));
    let all = [old("a", None), old("b", Some(70)), old("c", Some(61))];
    assert_eq!(next(&Value::Null, &all), pings(&["a", "b", "c"]));
    // A candidate renewed within five seconds is not pinged, and one that has not answered in time is not pinged again.
    let all = [
        candidate("a", V1, None, Some(4)),
        candidate("b", V1, Some(6), Some(60)),
        old("c", None),
    ];
    assert_eq!(next(&Value::Null, &all), pings(&["c"]));
}

#[test]
fn an_election_waits_for_pinged_candidates() {
    let pinged = |seconds| candidate("a", V1, Some(seconds), Some(60));
    assert_eq!(next(&Value::Null, &[pinged(4), there("b", V2)]), Step::Wait);
    assert_eq!(next(&Value::Null, &[pinged(5), there("b", V2)]), term("b"));
    // No candidate has answered.
    assert_eq!(next(&Value::Null, &[pinged(5)]), Step::Wait);
}

#[test]
fn the_oldest_emulated_version_wins_then_the_oldest_binary_then_the_oldest_object() {
    let elected = |one: Value, other: Value| match next(&Value::Null, &[one, other]) {
        Step::Elect {
            change: Change::Term(holder),
            ..
        } => holder,
        step => panic!("{step:?}"),
    };
    let a = |versions| there("a", versions);
    let b = |versions| there("b", versions);
    for (of_a, of_b, best) in [
        (("1.2.0", "1.2.0"), ("1.1.0", "1.3.0"), "b"),
        (("1.10.0", "1.10.0"), ("1.9.0", "1.10.0"), "b"),
        (("1.2.0", "1.2.0"), ("1.2.0", "1.3.0"), "a"),
        (("1.2.0", "1.3.0"), ("1.2.0", "1.2.0"), "b"),
        (("1.2.0", "1.2.0"), ("1.2.0-rc.1", "1.2.0"), "b"),
    ] {
        assert_eq!(elected(a(of_a), b(of_b)).as_deref(), Some(best));
    }
    let mut young = a(V1);
    young["metadata"]["creationTimestamp"] = json!(at(1).to_string());
    assert_eq!(elected(young, b(V1)).as_deref(), Some("b"));
}

#[test]
fn a_free_or_expired_lease_gets_the_best_candidate() {
    let all = [there("a", V1), there("b", V2)];
    assert_eq!(next(&lease("", 1), &all), term("a"));
    assert_eq!(next(&lease("b", 16), &all), term("a"));
    assert_eq!(
        next(&json!({"spec": {"holderIdentity": "b"}}), &all),
        term("a")
    );
    // Its holder may still take it up.
    assert_eq!(next(&lease("a", 16), &all), elects(Change::Nothing));
}

#[test]
fn a_holder_stays_while_it_is_the_best_and_is_to_give_it_up_to_a_better_one() {
    let all = [there("a", V1), there("b", V2)];
    assert_eq!(next(&lease("a", 14), &all), Step::Wait);
    let prefers = elects(Change::Prefer("a".to_owned()));
    assert_eq!(next(&lease("b", 14), &all), prefers);
    assert_eq!(next(&lease("b", 15), &all), prefers);
    // The better one has to be there.
    let silent = candidate("a", V1, Some(6), Some(60));
    let step = next(&lease("b", 14), &[silent, there("b", V2)]);
    assert_eq!(step, elects(Change::Nothing));
}

#[test]
fn candidates_without_a_renewal_for_15_minutes_are_pinged() {
    let silent = |seconds| candidate("b", V2, None, Some(seconds));
    let step = |seconds| next(&lease("a", 1), &[there("a", V1), silent(seconds)]);
    assert_eq!(step(15 * 60), Step::Wait);
    assert_eq!(step(15 * 60 + 1), pings(&["b"]));
}

#[test]
fn the_newest_binary_decides_by_which_strategy() {
    let with = |mut candidate: Value, strategy: &str| {
        candidate["spec"]["strategy"] = json!(strategy);
        candidate
    };
    let (a, b) = (
        there("a", ("1.1.0", "1.2.0")),
        there("b", ("1.1.0", "1.3.0")),
    );
    let all = [a.clone(), with(b, "example.com/mine")];
    let by_others = |change| Step::Elect {
        strategy: "example.com/mine".to_owned(),
        change,
    };
    assert_eq!(next(&Value::Null, &all), by_others(Change::Term(None)));
    assert_eq!(next(&lease("", 1), &all), by_others(Change::Nothing));
    assert_eq!(next(&lease("c", 1), &all), Step::Wait);
    // Candidates of one version have to agree.
    let other = with(there("c", ("1.1.0", "1.2.0")), "example.com/mine");
    assert_eq!(next(&Value::Null, &[a, other]), Step::Wait);
}
