//! Reports of a reflector to its observer, as lines of a transcript.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{Command, Outcome, clock::Journal};
use crate::{
    object::{DecodeError, ResourceVersion},
    reflector::{Failure, Phase, ReflectorObserver, ReflectorOptions},
};

/// Notes failures, and keeps the phase.
pub(super) struct PhaseObserver {
    pub(super) journal: Journal,
    pub(super) phase: Arc<Mutex<Option<Phase>>>,
}

// === impl PhaseObserver ===

impl ReflectorObserver for PhaseObserver {
    fn phase_changed(&self, phase: Phase) {
        *self.phase.lock().unwrap() = Some(phase);
    }

    fn failed(&self, failure: &Failure<'_>) {
        let what = match failure.error {
            Some(error) => error.in_full(),
            None => failure.cause.to_string(),
        };
        let then = match failure.delay {
            Duration::ZERO => "at once".to_owned(),
            delay => format!("in {:?}", rounded(delay)),
        };
        let Failure { cause, attempt, .. } = failure;
        let line = format!("! {cause:?} ({what}), attempt {attempt}, goes on {then}");
        self.journal.note(line);
    }

    fn undecodable(&self, error: &DecodeError) {
        let DecodeError {
            key,
            resource_version,
            ..
        } = error;
        let line = format!("! {key}@{resource_version} cannot be decoded");
        self.journal.note(line);
    }

    fn version_went_back(&self, from: &ResourceVersion, to: &ResourceVersion, is_accepted: bool) {
        let verdict = if is_accepted { "accepted" } else { "refused" };
        let line = format!("! the server went back from {from} to {to}, {verdict}");
        self.journal.note(line);
    }
}

/// Returns the text of a reflector's phase.
pub(super) fn phase_text(phase: Phase) -> String {
    match phase {
        Phase::BackingOff { cause, delay } => format!("BackingOff {:?}, {cause:?}", rounded(delay)),
        Phase::Paused {
            cause: Some(cause), ..
        } => format!("Paused, {cause:?}"),
        Phase::Paused { .. } => "Paused by the owner".to_owned(),
        phase => format!("{phase:?}"),
    }
}

/// As the clock counts: in milliseconds.
fn rounded(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// The options of a reflector: `[lists] [page-size=N] [no-pause]`. Delays have no jitter, so that they can be read.
pub(super) fn reflector_options(command: &mut Command<'_>) -> Outcome<ReflectorOptions> {
    let mut options = ReflectorOptions::default()
        .with_streaming_lists(!command.flag("lists")?)
        .with_seed(0);
    options.backoff = options.backoff.with_jitter(0.0);
    if let Some(page_size) = command.value("page-size")? {
        options = options.with_page_size(page_size);
    }
    if command.flag("no-pause")? {
        options = options.without_pause();
    }
    Ok(options)
}
