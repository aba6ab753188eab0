//! Transcripts: text tests of the stages. Each command is followed by its observed output, which is regenerated on
//! request.
//!
//! The texts are in `tests/transcripts`, a folder a stage. The page there lists the commands, and the transcript of
//! each failure.

mod command;
mod clock;
mod wire;
mod watched;
mod reflector;
mod delta_fifo;
mod indexer;
mod processor;
mod work_queue;
mod shared_informer;
mod page;

use datadriven::walk;

pub(crate) use self::command::{Command, Outcome};

/// The folder of the texts.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts");

/// The world that the commands of a stage's transcripts act on.
pub(crate) trait World: Sized {
    fn new() -> Self;

    /// Runs `command` and returns its outcome.
    fn run(&mut self, command: &mut Command<'_>) -> Outcome;
}

/// Plays all transcripts of `stage`, each in a world of its own.
pub(crate) fn play<W: World>(stage: &str) {
    walk(&format!("{FOLDER}/{stage}"), |file| {
        let mut world = W::new();
        let path = file.filename.clone();
        file.run(|case| {
            let mut command = Command::new(case);
            let outcome = world.run(&mut command).and_then(|outcome| {
                command.finish()?;
                Ok(outcome)
            });
            let outcome =
                outcome.map_err(|wrong| format!("{path}: {}: {wrong}", command.name()))?;
            // Every output ends its last line.
            Ok::<_, String>(format!("{}\n", outcome.trim_end()))
        });
    });
}
