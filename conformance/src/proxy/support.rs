//! The faults and verdicts that a proxy can make.

use fakeserver::faults::{Action, BodyFault, Fault, FaultSpec, RequestVerdict};

use super::ProxyError;

/// Returns whether a proxy can make a fault.
pub fn can_make(fault: Fault) -> bool {
    fault.entry().server_only().is_none()
}

/// Refuses a fault that a proxy cannot make.
pub(super) fn check(spec: &FaultSpec) -> Result<(), ProxyError> {
    let entry = spec.fault.entry();
    match entry.server_only() {
        Some(why) => Err(ProxyError::Unsupported {
            fault: entry.fault,
            why,
        }),
        None => Ok(()),
    }
}

/// Returns whether a proxy can carry out a verdict.
pub(super) fn can_do(verdict: &RequestVerdict) -> bool {
    matches!(
        verdict,
        RequestVerdict::Pass
            | RequestVerdict::Delay(_)
            | RequestVerdict::DelayHead(_)
            | RequestVerdict::Answer(_)
            | RequestVerdict::AnswerLater { .. }
            | RequestVerdict::Hang
            | RequestVerdict::Sever(_)
            | RequestVerdict::GoAway
            | RequestVerdict::ReplaceAnswer(_)
            | RequestVerdict::Perform(Action::Disconnect)
            | RequestVerdict::IgnoreWatchList
            | RequestVerdict::Body(
                BodyFault::Break | BodyFault::Trickle { .. } | BodyFault::Cut { .. }
            )
            | RequestVerdict::Rewrite(_)
    )
}
