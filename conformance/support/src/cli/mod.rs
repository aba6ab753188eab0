//! The parts that command lines share: output, progress, signals, and the end of a command.

mod partition_args;
mod signals;
mod trace_args;

use std::{
    future::Future,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::runtime::Builder;

pub use self::{
    partition_args::PartitionArgs,
    signals::{Signals, StopFlag},
    trace_args::TraceArgs,
};

/// Writes to standard output. A closed pipe (`conformance | head`) is no failure.
pub fn say(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

/// Prints a line on standard error, if that takes it.
pub fn say_error(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Runs a command to its end: true is success, false a failed check, an error that it could not run.
pub fn finish(command: impl Future<Output = Result<bool, String>>) -> ExitCode {
    finish_on(&mut Builder::new_current_thread(), command)
}

/// Does the same on another runtime.
pub fn finish_on(
    runtime: &mut Builder,
    command: impl Future<Output = Result<bool, String>>,
) -> ExitCode {
    let outcome = match runtime.enable_all().build() {
        Ok(runtime) => runtime.block_on(command),
        Err(error) => Err(format!("no runtime: {error}")),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            say_error(&message);
            ExitCode::from(2)
        }
    }
}

/// Creates a progress bar, which is shown on a terminal only.
pub fn progress_bar(length: usize, unit: &str) -> ProgressBar {
    let target = if io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let template = format!("{{bar:40}} {{pos}}/{{len}} {unit} {{elapsed}} {{msg}}");
    let style = ProgressStyle::with_template(&template);
    ProgressBar::with_draw_target(u64::try_from(length).ok(), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
