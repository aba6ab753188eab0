//! Texts of placeholders: times, addresses, and digits that follow from uids.

use std::fmt::Write;

use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use crate::{
    simulated::world::{App, Cron, Job},
    workloads::template_hash as hash_of,
};

/// Returns the hash of the pod template of a revision.
pub(in crate::simulated) fn template_hash(app: &App, revision: u32) -> String {
    hash_of(&json!([&*app.name, app.uid.to_string(), revision]), 0)
}

/// Prints a time as objects write it.
pub(in crate::simulated) fn time(second: i64) -> String {
    Timestamp::from_second(second)
        .unwrap_or(Timestamp::MAX)
        .to_string()
}

/// The first three parts of the addresses of pods on a node, and the address of the node.
pub(super) fn addresses(node: u32) -> [String; 2] {
    let [_, _, high, low] = node.to_be_bytes();
    [
        format!("10.{}.{low}", 128 | (high & 127)),
        format!("10.{}.{low}.10", high & 127),
    ]
}

pub(super) fn service_address(number: u32) -> String {
    let [_, b, c, d] = number.to_be_bytes();
    format!("172.{}.{c}.{d}", 16 | (b & 15))
}

pub(super) fn version(revision: u32) -> String {
    format!("v1.{}.{}", revision / 10 + 1, revision % 10)
}

/// The digest of the image of a revision, which all its pods have.
pub(super) fn digest(app: &App, revision: u32) -> String {
    hex(app.uid, revision)
}

/// The name of a job: that of its cron job, and the minute that it was scheduled for.
pub(super) fn job_name(cron: &Cron, job: &Job) -> String {
    format!("{}-{}", cron.name, 29_453_000 + job.number)
}

/// A further uid for what belongs to something and comes with it.
pub(super) fn derived(uid: Uuid, number: usize) -> Uuid {
    let digits = mixed(uid.as_u128() ^ ((number as u128 + 1) << 64));
    uuid::Builder::from_random_bytes(digits.to_be_bytes()).into_uuid()
}

/// Sixty-four hexadecimal digits that follow from a uid and a number.
pub(super) fn hex(uid: Uuid, number: u32) -> String {
    let first = mixed(uid.as_u128() ^ u128::from(number));
    let second = mixed(first ^ 0x5bd1_e995);
    let mut digits = String::with_capacity(64);
    let written = write!(digits, "{first:032x}{second:032x}");
    debug_assert!(written.is_ok(), "a text takes what is written");
    digits
}

/// Every bit of the result depends on every bit of `value`.
pub(super) fn mixed(value: u128) -> u128 {
    const FACTOR: u128 = 0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15;
    let mut value = value.wrapping_add(FACTOR);
    for _ in 0..3 {
        value ^= value >> 61;
        value = value.wrapping_mul(FACTOR);
    }
    value ^ (value >> 64)
}

pub(super) fn text(suffix: &[u8; 5]) -> &str {
    std::str::from_utf8(suffix).expect("generated names are ASCII")
}
