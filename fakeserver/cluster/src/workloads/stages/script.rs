//! The script of a container, from one start to the next.

use std::time::Duration;

use fakeserver_kinds::metrics::usage::Amount;
use serde::Deserialize;
use tokio::time::Instant;

/// The script of a container from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workloads) struct Script {
    pub(in crate::workloads) start_after: Duration,
    pub(in crate::workloads) pull: Pull,
    /// The reason why its image cannot be pulled, which is not there then.
    pub(in crate::workloads) pull_error: Option<String>,
    /// The time at which it has started up.
    pub(in crate::workloads) startup: Readiness,
    pub(in crate::workloads) readiness: Readiness,
    /// True if a stage says when it is ready.
    pub(in crate::workloads) is_told_ready: bool,
    /// The probe that a stage lets fail.
    pub(in crate::workloads) failing: Option<FailingProbe>,
    /// The failures of its probe of readiness while it is not ready, of which events tell.
    pub(in crate::workloads) unready: Option<Failures>,
    /// The failures of a probe for which it is killed.
    pub(in crate::workloads) failures: Option<Failures>,
    /// Its end, if it ends by itself.
    pub(in crate::workloads) exit: Option<Exit>,
    /// The lines that it logs.
    pub(in crate::workloads) lines: Vec<Line>,
    /// The amounts that it uses, the earliest first.
    pub(in crate::workloads) usage: Vec<UsageStep>,
}

/// The way in which a container gets its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workloads) enum Pull {
    /// The image is absent, and is pulled.
    Needed,
    /// The image is present.
    Unneeded,
    /// The image is never pulled, whether it is present or not.
    Forbidden,
}

/// The time at which a container becomes ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workloads) enum Readiness {
    After(Duration),
    Never,
}

/// A probe that fails from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workloads) struct FailingProbe {
    pub(in crate::workloads) kind: ProbeKind,
    /// The time from the start of the container.
    pub(in crate::workloads) after: Duration,
}

/// The failures of a probe of a container that starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workloads) struct Failures {
    pub(in crate::workloads) kind: ProbeKind,
    /// The time from the start of the container to the first one.
    pub(in crate::workloads) first: Duration,
    pub(in crate::workloads) period: Duration,
    /// The number after which the container is killed; `None` if it is not.
    pub(in crate::workloads) limit: Option<u32>,
}

/// The kind of a probe.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(in crate::workloads) enum ProbeKind {
    Liveness,
    #[serde(skip)]
    Readiness,
    Startup,
}

/// A part of a container's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workloads) struct Line {
    /// The time from the start of the container.
    pub(in crate::workloads) after: Duration,
    pub(in crate::workloads) text: String,
}

/// A change of the usage of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workloads) struct UsageStep {
    /// The time from the start of the container.
    pub(in crate::workloads) after: Duration,
    pub(in crate::workloads) amount: Amount,
}

/// The end of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::workloads) struct Exit {
    pub(in crate::workloads) after: Duration,
    pub(in crate::workloads) code: i64,
    pub(in crate::workloads) reason: Option<String>,
}

// === impl Script ===

impl Script {
    /// Creates that of a container that starts after a time, is ready at once, and runs for ever.
    pub(in crate::workloads) fn starting(after: Duration) -> Self {
        Self {
            start_after: after,
            pull: Pull::Needed,
            pull_error: None,
            startup: Readiness::After(Duration::ZERO),
            readiness: Readiness::After(Duration::ZERO),
            is_told_ready: false,
            failing: None,
            unready: None,
            failures: None,
            exit: None,
            lines: Vec::new(),
            usage: Vec::new(),
        }
    }

    /// Returns whether its image is pulled.
    pub(in crate::workloads) fn pulls(&self) -> bool {
        match self.pull {
            Pull::Needed => true,
            Pull::Unneeded => self.pull_error.is_some(),
            Pull::Forbidden => false,
        }
    }
}

// === impl Readiness ===

impl Readiness {
    /// Returns whether a container that starts now is so at once, and else from when on, if ever.
    pub(in crate::workloads) fn from(self, now: Instant) -> (bool, Option<Instant>) {
        match self {
            Self::After(Duration::ZERO) => (true, None),
            Self::After(time) => (false, Some(now + time)),
            Self::Never => (false, None),
        }
    }
}

// === impl ProbeKind ===

impl ProbeKind {
    /// Returns its name in events.
    pub(in crate::workloads) fn name(self) -> &'static str {
        match self {
            Self::Liveness => "Liveness",
            Self::Readiness => "Readiness",
            Self::Startup => "Startup",
        }
    }

    /// Returns the field of a container that has it.
    pub(in crate::workloads) fn field(self) -> &'static str {
        match self {
            Self::Liveness => "livenessProbe",
            Self::Readiness => "readinessProbe",
            Self::Startup => "startupProbe",
        }
    }
}
