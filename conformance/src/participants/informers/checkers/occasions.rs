//! The observations that could break an invariant: without any, that it holds says nothing.

use crate::{
    checkers::Occasion,
    trace::{Ending, NotifiedCause, NotifiedChange, Observation, Phase, RequestKind},
};

pub(super) const REQUEST: Occasion = |seen| matches!(seen, Observation::Request { .. });
pub(super) const RESUMED: Occasion = |seen| matches!(seen, Observation::InformerResumes { .. });
pub(super) const LIST_GATE: Occasion = |seen| matches!(seen, Observation::ListGate { .. });
pub(super) const STATUS: Occasion = |seen| matches!(seen, Observation::Status { .. });
pub(super) const REPORTED: Occasion = |seen| matches!(seen, Observation::Reported { .. });

pub(super) const RELIST: Occasion = |seen| {
    matches!(
        seen,
        Observation::Request {
            kind: RequestKind::List {
                is_continued: false,
                ..
            } | RequestKind::Watch {
                is_streaming_list: true,
                ..
            },
            ..
        }
    )
};

pub(super) const REWATCH: Occasion = |seen| {
    matches!(
        seen,
        Observation::Request {
            kind: RequestKind::Watch {
                is_streaming_list: false,
                ..
            },
            ..
        }
    )
};

pub(super) const WATCH_TIMEOUT: Occasion = |seen| matches!(seen, Observation::WatchTimeout { .. });
pub(super) const ASKED_TO_WAIT: Occasion = |seen| matches!(seen, Observation::AskedToWait { .. });

pub(super) const FAILURE: Occasion = |seen| match seen {
    Observation::Answer { status, .. } => *status >= 400,
    Observation::Ended { ending, .. } => *ending == Ending::Broken,
    _ => false,
};

pub(super) const PAGE: Occasion = |seen| matches!(seen, Observation::Page { .. });
pub(super) const EVENT: Occasion = |seen| matches!(seen, Observation::Frame { .. });
pub(super) const BOOKMARK: Occasion = |seen| matches!(seen, Observation::Bookmark { .. });

pub(super) const CACHED: Occasion = |seen| {
    matches!(
        seen,
        Observation::Cached {
            revision: Some(_),
            ..
        }
    )
};

pub(super) const READ: Occasion = |seen| matches!(seen, Observation::Read { .. });

pub(super) const UNDECODABLE: Occasion =
    |seen| matches!(seen, Observation::Undecodable { members, .. } if !members.is_empty());

pub(super) const WAIT_ENDS: Occasion = |seen| matches!(seen, Observation::WaitEnds { .. });

pub(super) const HANDLER_SYNC: Occasion = |seen| {
    matches!(
        seen,
        Observation::HandlerSync {
            has_synced: true,
            ..
        }
    )
};

pub(super) const NOTIFIED: Occasion = |seen| matches!(seen, Observation::Notified(_));
pub(super) const NOTIFIED_OF_DELETION: Occasion = |seen| matches!(seen, Observation::Notified(notified) if matches!(notified.change, NotifiedChange::Deleted { .. }));

pub(super) const NOTIFIED_BY_RELIST_OR_RESYNC: Occasion = |seen| {
    matches!(
        seen,
        Observation::Notified(notified)
            if matches!(notified.cause, Some(NotifiedCause::Relist | NotifiedCause::Resync))
    )
};

pub(super) const RESYNC_WANTED: Occasion = |seen| matches!(seen, Observation::ResyncWanted { .. });
pub(super) const FAULT_BEGINS: Occasion = |seen| matches!(seen, Observation::FaultBegins { .. });
pub(super) const FAULT_ENDS: Occasion = |seen| matches!(seen, Observation::FaultEnds { .. });

pub(super) const INFORMER_STOPPED: Occasion =
    |seen| matches!(seen, Observation::InformerStopped { .. });

pub(super) const RUN: Occasion = |seen| matches!(seen, Observation::Phase(Phase::Shutdown));
pub(super) const RECOVERY: Occasion = |seen| matches!(seen, Observation::Phase(Phase::Recovery));
