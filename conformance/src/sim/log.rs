//! Records warnings and errors of the log in the trace.

use std::fmt::{Debug, Write};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};

use crate::trace::{Observation, Recorder};

/// A crate whose errors are left out: a client over TCP logs each failed request, deliberate failures included.
const CLIENT: &str = "kube_client";

/// Records warnings and errors; other levels are disabled.
#[derive(Debug)]
pub(super) struct WarningRecorder {
    recorder: Recorder,
}

/// The fields of a line, the message first.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

// === impl WarningRecorder ===

impl WarningRecorder {
    pub(super) fn new(recorder: Recorder) -> Self {
        Self { recorder }
    }
}

impl Subscriber for WarningRecorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && !metadata.target().starts_with(CLIENT)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        // Spans are not read and need no distinct ids.
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.recorder.record(Observation::Warned {
            message: line.message,
            fields: line.fields,
        });
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

// === impl Line ===

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let written = if field.name() == "message" {
            write!(self.message, "{value:?}")
        } else {
            write!(self.fields, " {}={value:?}", field.name())
        };
        written.expect("a string takes what is written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_recorded_and_what_the_client_logs_of_requests_is_not() {
        let recorder = Recorder::default();
        let log = WarningRecorder::new(recorder.clone());
        tracing::subscriber::with_default(log, || {
            tracing::error!(target: "kube_client::client::builder", "failed with status 503");
            tracing::info!("all is well");
            tracing::warn!(rv = 5, "the server went back");
        });
        let trace = recorder.take();
        let lines: Vec<String> = trace
            .numbered()
            .map(|(_, lines)| lines.to_string())
            .collect();
        assert_eq!(lines, ["warned: the server went back rv=5"]);
    }
}
