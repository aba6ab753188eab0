//! Transcripts: text tests of the stages. Commands go in; what came of each stands under it, and is rewritten on request.
//!
//! The texts are in `tests/transcripts`, a folder a stage. The page there tells the commands, and which transcript shows what
//! becomes of each failure.

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

    /// Does what `command` says and tells what came of it.
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
