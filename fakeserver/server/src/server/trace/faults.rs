//! Faults in a trace: when they were installed and removed.

use std::collections::BTreeSet;

use serde_json::Value;

use super::TraceLog;
use crate::faults::{FaultSpec, Faults};

/// Adds to the trace which faults are installed and removed, for ever. A second call for a trace does nothing.
///
/// # Cancel safety
///
/// Faults that are installed later are not in the trace.
pub(in crate::server) async fn follow(log: TraceLog, faults: Faults) {
    if !log.start_following() {
        return;
    }
    let mut reported = BTreeSet::new();
    loop {
        // A change during the comparison wakes the next iteration.
        let changed = faults.changed();
        let installed = faults.installed();
        let now: BTreeSet<u64> = installed.iter().map(|fault| fault.id).collect();
        for gone in reported.difference(&now) {
            log.end_fault(*gone);
        }
        for fault in installed
            .iter()
            .filter(|fault| !reported.contains(&fault.id))
        {
            log.fault(fault.id, &words(&fault.spec));
        }
        reported = now;
        changed.await;
    }
}

/// Returns the name of a fault, and its parameters if it has some.
fn words(spec: &FaultSpec) -> String {
    let name = spec.fault.name();
    let mut spec = serde_json::to_value(spec).expect("a spec is JSON");
    if let Some(members) = spec.as_object_mut() {
        members.retain(|member, value| member != "fault" && !value.is_null());
    }
    match &spec {
        Value::Object(members) if !members.is_empty() => format!("{name} {spec}"),
        _ => name.to_owned(),
    }
}
