//! Texts of placeholders: times, addresses, and digits that follow from uids.

use std::{fmt::Write, net::Ipv6Addr};

use fakeserver_kinds::core::service::range::IpFamily;
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

/// Returns the address of a node in a family.
pub(super) fn node_address(family: IpFamily, node: u32) -> String {
    let [_, _, high, low] = node.to_be_bytes();
    match family {
        IpFamily::V4 => format!("10.{}.{low}.10", high & 127),
        IpFamily::V6 => {
            let [first, second] = [[0, high & 127], [low, 10]].map(u16::from_be_bytes);
            Ipv6Addr::new(0xfd00, 0x172, 0x18, 0, 0, 0, first, second).to_string()
        }
    }
}

/// Returns the range of the pods of a node in a family.
pub(super) fn pod_range(family: IpFamily, node: u32) -> String {
    let bits = match family {
        IpFamily::V4 => 24,
        IpFamily::V6 => 64,
    };
    format!("{}/{bits}", pod_address(family, node, 0))
}

/// Returns the address of a pod on a node in a family.
pub(super) fn pod_address(family: IpFamily, node: u32, pod: u8) -> String {
    let [_, _, high, low] = node.to_be_bytes();
    match family {
        IpFamily::V4 => format!("10.{}.{low}.{pod}", 128 | (high & 127)),
        IpFamily::V6 => {
            let part = u16::from_be_bytes([high, low]);
            Ipv6Addr::new(0xfd00, 0x10, 0x128, part, 0, 0, 0, pod.into()).to_string()
        }
    }
}

pub(super) fn service_address(family: IpFamily, number: u32) -> String {
    let [a, b, c, d] = number.to_be_bytes();
    match family {
        IpFamily::V4 => format!("172.{}.{c}.{d}", 16 | (b & 15)),
        IpFamily::V6 => {
            let [high, low] = [[a, b], [c, d]].map(u16::from_be_bytes);
            Ipv6Addr::new(0xfd00, 0x172, 0x16, 0, 0, 0, high, low).to_string()
        }
    }
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
