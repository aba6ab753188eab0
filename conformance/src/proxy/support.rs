//! Which faults work inside of a server, and so cannot be made by a proxy.

use fakeserver::faults::{Action, FaultSpec, RequestVerdict};

use super::ProxyError;

/// The faults that a proxy cannot make, each with why.
const UNSUPPORTED: &[(&str, &str)] = &[
    (
        "compact",
        "only the server has the history that it takes away",
    ),
    (
        "expire",
        "only the server has the history that it takes away",
    ),
];

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
    )
}
