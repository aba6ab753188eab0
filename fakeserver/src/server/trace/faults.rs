//! Faults in a trace: when they were installed and removed.

use std::collections::BTreeSet;

use super::TraceLog;
use crate::faults::Faults;

/// Adds to the trace which faults are installed and removed, for ever. A second call for a trace does nothing.
///
/// # Cancel safety
///
/// Faults that are installed later are not in the trace.
pub(in crate::server) async fn follow(log: TraceLog, faults: Faults) {
    if !log.begins_to_follow() {
        return;
    }
    let mut known = BTreeSet::new();
    loop {
        // What changes while it looks is seen in the next turn.
        let changed = faults.changed();
        let installed = faults.installed();
        let now: BTreeSet<u64> = installed.iter().map(|fault| fault.id).collect();
        for gone in known.difference(&now) {
            log.heal(*gone);
        }
        for fault in installed.iter().filter(|fault| !known.contains(&fault.id)) {
            let spec = serde_json::to_string(&fault.spec);
            log.fault(fault.id, &spec.expect("a spec is JSON"));
        }
        known = now;
        changed.await;
    }
}
