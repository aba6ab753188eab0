//! The run of a command that needs no process, as far as its words tell.

use std::time::Duration;

use fakeserver_value::read::text;
use serde_json::Value;

use crate::containers::slept;

/// The time of a command that never ends.
pub(super) const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);
/// The characters by which a script is more than a sequence of commands.
const SYNTAX: [char; 10] = ['|', '&', '<', '>', '$', '`', '(', ')', '{', '}'];

/// The time that a command takes, and the code with which it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommandRun {
    pub(super) time: Duration,
    pub(super) code: i64,
}

/// Returns the run of the words that a list of JSON holds, one list after the other; nothing if they do not tell it.
pub(super) fn run_of<'a>(lists: impl IntoIterator<Item = &'a Value>) -> Option<CommandRun> {
    let lists = lists.into_iter().filter_map(Value::as_array);
    let words: Vec<&str> = lists.flatten().map(text).collect();
    match words[..] {
        [shell, "-c", script, ..] if matches!(program(shell), "sh" | "bash" | "ash" | "dash") => {
            of_script(script)
        }
        _ => of_command(&words),
    }
}

/// Returns the name of a program without its folder.
fn program(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Adds up the commands of a script, which are done one after the other.
fn of_script(script: &str) -> Option<CommandRun> {
    let script = script.replace("&&", ";");
    if script.contains(SYNTAX) {
        return None;
    }
    let mut whole = CommandRun {
        time: Duration::ZERO,
        code: 0,
    };
    for command in script.split([';', '\n']) {
        let words: Vec<&str> = command.split_whitespace().collect();
        if words.first() == Some(&"exit") {
            let code = words.get(1).map(|code| code.parse());
            whole.code = code.unwrap_or(Ok(whole.code)).ok()?;
            break;
        }
        if !words.is_empty() {
            let CommandRun { time, code } = of_command(&words)?;
            whole.time = whole.time.saturating_add(time).min(FOREVER);
            whole.code = code;
        }
    }
    Some(whole)
}

fn of_command(words: &[&str]) -> Option<CommandRun> {
    let (name, arguments) = words.split_first()?;
    let (time, code) = match program(name) {
        "sleep" if !arguments.is_empty() => (slept(arguments).ok()?.min(FOREVER), 0),
        "true" | ":" | "echo" | "printf" | "date" | "hostname" | "pwd" | "uptime" | "env" => {
            (Duration::ZERO, 0)
        }
        "false" => (Duration::ZERO, 1),
        _ => return None,
    };
    Some(CommandRun { time, code })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(words: &Value) -> Option<(f64, i64)> {
        run_of([words]).map(|run| (run.time.as_secs_f64(), run.code))
    }

    #[test]
    fn simple_commands_have_a_time_and_an_exit_code() {
        for (words, expected) in [
            (json!(["sleep", "5"]), (5.0, 0)),
            (json!(["/bin/sleep", "1m", "0.5s"]), (60.5, 0)),
            (
                json!(["/bin/sh", "-c", "echo bye; sleep 2 && sleep 1"]),
                (3.0, 0),
            ),
            (json!(["sh", "-c", "sleep 1\nexit 3; sleep 9"]), (1.0, 3)),
            (json!(["false"]), (0.0, 1)),
            (json!(["sleep", "infinity"]), (FOREVER.as_secs_f64(), 0)),
            (json!(["sleep", "1e99"]), (FOREVER.as_secs_f64(), 0)),
        ] {
            assert_eq!(check(&words), Some(expected), "{words}");
        }
        for words in [
            json!(["nginx", "-s", "quit"]),
            json!(["sh"]),
            json!(["sh", "-c", "while true; do sleep 1; done"]),
            json!(["sh", "-c", "sleep $TIME"]),
            json!(["sleep"]),
            json!(["sleep", "soon"]),
            json!(["sleep", "ä"]),
            json!([]),
        ] {
            assert_eq!(check(&words), None, "{words}");
        }
        let [command, arguments] = [json!(["sleep"]), json!(["4"])];
        assert_eq!(run_of([&command, &arguments]).unwrap().time.as_secs(), 4);
    }
}
