//! The probes of containers. Nothing runs that they could ask: they succeed, as late as their fields say, unless a stage says
//! otherwise.

use std::time::Duration;

use serde_json::Value;

use super::command::FOREVER;
use crate::workloads::stages::{FailingProbe, Failures, ProbeKind, Readiness, Script};

/// The times and the counts of a probe.
#[derive(Clone, Copy, Debug)]
struct Probe {
    delay: Duration,
    period: Duration,
    successes: u32,
    failures: u32,
}

/// Sets when a container has started up and is ready, as its probes have it.
pub(super) fn set_times(container: &Value, script: &mut Script) {
    let startup = Probe::of(container, "startupProbe");
    let startup = startup.map_or(Duration::ZERO, |probe| probe.succeeds(Duration::ZERO));
    let readiness = Probe::of(container, "readinessProbe");
    // A readiness probe is not asked before the startup probe has succeeded.
    let ready = readiness.map_or(startup, |probe| probe.succeeds(startup));
    script.startup = Readiness::After(startup);
    script.readiness = Readiness::After(ready);
}

/// Sets which probes fail, and when, by what stages say.
pub(super) fn set_failures(container: &Value, script: &mut Script) {
    let readiness = Probe::of(container, "readinessProbe");
    let (stays_unready, is_told) = match script.readiness {
        Readiness::Never => (true, true),
        Readiness::After(time) => (!time.is_zero(), readiness.is_some() && script.is_told_ready),
    };
    if is_told && stays_unready {
        let probe = readiness.unwrap_or_default();
        script.unready = Some(probe.failures(ProbeKind::Readiness, Duration::ZERO));
    }
    if let Some(FailingProbe { kind, after }) = script.failing {
        let probe = Probe::of(container, kind.field()).unwrap_or_default();
        // Before its startup probe succeeds a container has no other probe.
        if kind == ProbeKind::Startup {
            script.startup = Readiness::Never;
            script.readiness = Readiness::Never;
            script.unready = None;
        }
        script.failures = Some(probe.failures(kind, after));
    }
}

// === impl Probe ===

impl Default for Probe {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            period: Duration::from_secs(10),
            successes: 1,
            failures: 3,
        }
    }
}

impl Probe {
    fn of(container: &Value, field: &str) -> Option<Self> {
        let probe = container.get(field).filter(|probe| probe.is_object())?;
        let default = Self::default();
        let number = |name: &str| {
            let number = probe[name].as_u64().filter(|number| *number > 0);
            number.map(|number| u32::try_from(number).unwrap_or(u32::MAX))
        };
        let seconds = |name: &str, default: Duration| {
            number(name).map_or(default, |seconds| Duration::from_secs(seconds.into()))
        };
        Some(Self {
            delay: seconds("initialDelaySeconds", default.delay),
            period: seconds("periodSeconds", default.period),
            successes: number("successThreshold").unwrap_or(default.successes),
            failures: number("failureThreshold").unwrap_or(default.failures),
        })
    }

    /// Returns the time from the start of the container at which it has succeeded often enough, if it is not asked before `from`.
    fn succeeds(self, from: Duration) -> Duration {
        let more = self.period.saturating_mul(self.successes - 1);
        self.delay.max(from).saturating_add(more).min(FOREVER)
    }

    /// Returns its failures from a time on.
    fn failures(self, kind: ProbeKind, from: Duration) -> Failures {
        Failures {
            kind,
            first: self.delay.max(from),
            period: self.period,
            limit: (kind != ProbeKind::Readiness).then_some(self.failures),
        }
    }
}
