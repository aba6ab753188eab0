//! Which faults work inside of a server, and so cannot be made by a proxy.

use fakeserver::faults::{Action, BodyFault, Fault, FaultSpec, RequestVerdict};

use super::ProxyError;

const HISTORY: &str = "only the server has the history that it takes away";
const PAST: &str = "only the server knows the states that it shows";
const ORDER: &str = "only the server chooses the order of initial events";

/// The faults that a proxy cannot make, each with why.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("compact", HISTORY),
    ("expire", HISTORY),
    ("rollback", "it changes what the server stores"),
    ("stale_view", PAST),
    ("lagging_replica", PAST),
    ("time_travel", PAST),
    ("coalesce", PAST),
    ("initial_events_shuffled", ORDER),
    ("changed_during_initial_events", ORDER),
];

/// Whether a proxy can make a fault.
pub fn can_make(fault: Fault) -> bool {
    check(&FaultSpec::new(fault)).is_ok()
}

/// Refuses a fault that a proxy cannot make.
pub(super) fn check(spec: &FaultSpec) -> Result<(), ProxyError> {
    let fault = spec.fault.name();
    match UNSUPPORTED.iter().find(|(name, _)| *name == fault) {
        Some((_, why)) => Err(ProxyError::Unsupported { fault, why }),
        None => Ok(()),
    }
}

/// Whether a proxy can do what a rule orders.
pub(super) fn can_do(verdict: &RequestVerdict) -> bool {
    matches!(
        verdict,
        RequestVerdict::Pass
            | RequestVerdict::Delay(_)
            | RequestVerdict::Answer(_)
            | RequestVerdict::AnswerLater { .. }
            | RequestVerdict::Hang
            | RequestVerdict::Sever(_)
            | RequestVerdict::GoAway
            | RequestVerdict::Lose(_)
            | RequestVerdict::Perform(Action::Disconnect)
            | RequestVerdict::IgnoreWatchList
            | RequestVerdict::Body(
                BodyFault::Break | BodyFault::Trickle { .. } | BodyFault::Cut { .. }
            )
            | RequestVerdict::Rewrite(_)
    )
}
