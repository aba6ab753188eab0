//! The ends of containers, by an annotation of their pod or by their command.

use std::time::Duration;

use fakeserver_value::read::text;
use serde_json::Value;

use super::command::{self, CommandRun};
use crate::workloads::stages::Exit;

/// The annotation that says with which code the containers of a pod end, if not with 0.
pub(super) const EXIT_CODE: &str = "fakeserver/exit-code";

/// Returns the exit code of a pod's annotation, or why it is invalid; `None` without the annotation.
pub(super) fn exit_code(pod: &Value) -> Option<Result<i64, String>> {
    let code = pod["metadata"]["annotations"].get(EXIT_CODE)?;
    let parsed = text(code).parse::<u8>().map(i64::from);
    Some(parsed.map_err(|_| {
        format!(
            "annotation {EXIT_CODE} is {code}, and no code from 0 to 255: the containers end with 0"
        )
    }))
}

/// Returns the end of a main container that is to end: its annotation says the code, or else its command.
pub(super) fn main_exit(pod: &Value, run: Option<CommandRun>, default: Duration) -> Option<Exit> {
    let annotated = exit_code(pod).and_then(Result::ok);
    let run = run.filter(|_| annotated.is_none());
    let Some(run) = run else {
        return Some(Exit {
            after: default,
            code: annotated.unwrap_or_default(),
            reason: None,
        });
    };
    let mut exit = exit_of(run)?;
    // A command that takes no time: clients see the container run for a while, all the same.
    if exit.after.is_zero() {
        exit.after = default;
    }
    Some(exit)
}

/// Returns the end of a command; `None` if it runs for ever.
pub(super) fn exit_of(run: CommandRun) -> Option<Exit> {
    (run.time < command::FOREVER).then_some(Exit {
        after: run.time,
        code: run.code,
        reason: None,
    })
}
