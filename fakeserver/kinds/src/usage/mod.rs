//! Usage: the amounts of resources that objects take, and the quotas that they count against.
//!
//! ```text
//! object ──► Evaluator (of its resource) ──► Amounts ──┐
//! ResourceQuota ──► Quota (hard, used, scopes) ────────┴─► charge: the usage after a write, or the reason against it
//! ```
//!
//! Upstream has this in `pkg/quota/v1/evaluator/core` and in `apiserver/pkg/quota/v1`.

mod amounts;
mod pod_resources;
mod scope;
mod pod;
mod service;
mod claim;
mod device_claim;
mod evaluator;
mod quota;
mod charge;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use serde_json::Value;

pub use self::pod_resources::effective;
pub use self::{
    amounts::Amounts,
    charge::{Change, charge},
    evaluator::Evaluator,
    pod::is_terminating,
    pod_resources::{Side, declared},
    quota::Quota,
};
use crate::Kind;

/// The time and the other objects that the usage of an object depends on.
pub trait UsageContext {
    fn now(&self) -> Timestamp;

    /// Lists the objects of a kind, of one namespace or of the cluster.
    fn list(&self, kind: &'static Kind, namespace: Option<&str>) -> Vec<Value>;
}
