//! Takes log lines that say that something is not as it should be into the trace.

use std::fmt::{Debug, Write};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};

use crate::trace::{Observation, Recorder};

/// Records warnings and errors; everything else is not even built.
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
        *metadata.level() <= Level::WARN
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        // Spans are not looked at, so that they need not be told apart.
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
