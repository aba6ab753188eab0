//! Amounts of resources, as nodes have them and pods request them.
//!
//! Upstream: the plugin `NodeResourcesFit`. Resources that devices of claims stand for are not known.

use std::collections::BTreeMap;

use fakeserver_kinds::usage::{Amounts, Side, effective};
use serde_json::Value;

use super::rejection::{Reason, Rejection};

const CPU: &str = "cpu";
const PODS: &str = "pods";
/// The power of ten in which processors are counted.
const MILLI: i64 = -3;

/// Amounts by name, without zeros: thousandths of processors, and whole units of all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Resources(BTreeMap<Box<str>, i64>);

// === impl Resources ===

impl Resources {
    /// Returns the requests of a pod.
    pub(super) fn requested(pod: &Value) -> Self {
        Self::of(&effective(pod, Side::Requests))
    }

    /// Reads the allocatable resources of a node.
    pub(super) fn allocatable(status: &Value) -> Self {
        Self::of(&Amounts::of(&status["allocatable"]))
    }

    fn of(amounts: &Amounts) -> Self {
        let counted = amounts.iter().filter(|(name, _)| *name != PODS);
        let counted = counted.map(|(name, amount)| {
            let scale = if name == CPU { MILLI } else { 0 };
            (name.into(), amount.in_units_of(scale))
        });
        Self(counted.filter(|(_, amount)| *amount != 0).collect())
    }

    pub(super) fn get(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Returns all amounts.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, amount)| (&**name, *amount))
    }

    /// Adds amounts, or takes them away.
    pub(super) fn change(&mut self, others: &Self, is_added: bool) {
        for (name, amount) in &others.0 {
            let own = self.0.entry(name.clone()).or_default();
            *own = if is_added {
                own.saturating_add(*amount)
            } else {
                own.saturating_sub(*amount)
            };
            if *own == 0 {
                self.0.remove(name);
            }
        }
    }

    /// Returns what there is too little of for `wanted` where `used` of `self` are taken; `None` if it fits.
    pub(super) fn lack(&self, wanted: &Self, used: &Self) -> Option<Rejection> {
        let mut rejection = Rejection {
            reasons: Vec::new(),
            is_final: false,
        };
        for (name, amount) in wanted.iter() {
            let offered = self.get(name);
            if amount > offered.saturating_sub(used.get(name)) {
                rejection.reasons.push(insufficient(name));
                rejection.is_final |= amount > offered;
            }
        }
        (!rejection.reasons.is_empty()).then_some(rejection)
    }
}

fn insufficient(name: &str) -> Reason {
    match name {
        CPU => "Insufficient cpu".into(),
        "memory" => "Insufficient memory".into(),
        _ => format!("Insufficient {name}").into(),
    }
}
