//! The few commands that need no process, as programs that a driver performs action by action.
//!
//! A script is read as a whole (`lexer`, `grammar`), and runs step by step (`machine`): its memory is bounded, and after some steps
//! without an action it pauses, so that it ends with its driver also if it repeats itself for ever.

mod lexer;
mod grammar;
mod arithmetic;
mod expansion;
mod machine;
mod test_command;
mod builtin;

use std::time::Duration;

use bytes::Bytes;
use fakeserver_server::nodes::exec::ExecOutput;
use jiff::Timestamp;

pub(crate) use self::builtin::slept;
use self::{
    builtin::{COMMANDS, base_name},
    grammar::{ParseError, parse},
    machine::{Machine, TEXT_MAX},
};
use super::{
    files::{FileError, Files},
    log::OutputStream,
};

/// The code of a command that there is not.
const NOT_FOUND: u8 = 127;
/// The code of a command that cannot be run.
const NOT_EXECUTABLE: u8 = 126;
/// The code of a script that cannot be read.
const SYNTAX: u8 = 2;
/// The steps of a script after which it pauses, and for how long.
const STEPS_MAX: usize = 256;
const PAUSE: Duration = Duration::from_millis(1);

/// Variables in their order.
type Variables = Vec<(String, String)>;

/// The surroundings of a command.
#[derive(Clone, Default)]
pub(crate) struct Setting {
    /// The last one of a name counts.
    pub(crate) variables: Variables,
    pub(crate) files: Files,
    pub(crate) host_name: String,
    /// The folder against which paths are resolved.
    pub(crate) folder: String,
    /// The time since which the pod runs, if it does.
    pub(crate) started: Option<Timestamp>,
}

/// The next thing that a program does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Write(OutputStream, Bytes),
    /// Hands standard input on, until its end, to a stream or to nowhere.
    CopyInput(Option<OutputStream>),
    /// Reads a line of standard input, for [`Program::feed`].
    ReadLine {
        /// True if it continues the line before.
        is_continued: bool,
    },
    Sleep(Duration),
    Exit(u8),
}

/// A command under way.
pub(crate) struct Program {
    machine: Machine,
    /// True if further commands come from standard input.
    reads_input: bool,
    /// The lines of a command that has not ended.
    unfinished: String,
}

/// The outcome of one command.
#[derive(Debug, Default)]
struct Outcome {
    actions: Vec<Action>,
    code: u8,
    flow: Flow,
}

/// The place where a script continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flow {
    #[default]
    Next,
    /// At its end.
    Exit,
    /// Behind this number of enclosing loops.
    Break(usize),
    /// At the next turn of the outermost of this number of loops.
    Continue(usize),
}

// === impl Setting ===

impl Setting {
    fn variable(&self, name: &str) -> Option<&str> {
        let mut values = self.variables.iter().rev();
        values
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(own, _)| own != name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }
}

// === impl Program ===

impl Program {
    /// Creates a program that runs `words`, of which the first is the command.
    pub(crate) fn new(words: &[String], setting: Setting, now: Timestamp) -> Self {
        let mut program = Self::of(setting);
        let name = words.first().map_or("", |word| base_name(word));
        if matches!(name, "sh" | "bash" | "ash" | "dash") {
            program.run_shell(&words[1..]);
        } else if COMMANDS.contains(&name) {
            let outcome = builtin::run(name, &words[1..], &program.machine.setting, now);
            program.machine.take(outcome);
        } else {
            program.refuse(words.first().map_or("", String::as_str));
        }
        program
    }

    /// Creates a program that has run already.
    pub(crate) fn finished(output: ExecOutput) -> Self {
        let ExecOutput {
            stdout,
            stderr,
            code,
        } = output;
        let outputs = [
            (OutputStream::Stdout, stdout),
            (OutputStream::Stderr, stderr),
        ];
        let outputs = outputs.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        let mut program = Self::of(Setting::default());
        program.machine.take(Outcome {
            actions: outputs
                .map(|(stream, bytes)| Action::Write(stream, bytes))
                .collect(),
            code,
            ..Outcome::default()
        });
        program
    }

    /// A program that does nothing.
    fn of(setting: Setting) -> Self {
        Self {
            machine: Machine::new(setting),
            reads_input: false,
            unfinished: String::new(),
        }
    }

    /// Returns the next action. [`Action::Exit`] is the last one.
    pub(crate) fn next(&mut self, now: Timestamp) -> Action {
        for _ in 0..STEPS_MAX {
            if let Some(action) = self.machine.pop_action() {
                return action;
            }
            if self.machine.step(now) {
                continue;
            }
            self.reads_input &= !self.machine.has_exited;
            if !self.reads_input {
                return Action::Exit(self.machine.code);
            }
            return Action::ReadLine {
                is_continued: !self.unfinished.is_empty(),
            };
        }
        Action::Sleep(PAUSE)
    }

    /// Takes the line for which [`Action::ReadLine`] has asked; `None` at the end of the input.
    pub(crate) fn feed(&mut self, line: Option<&str>) {
        self.reads_input = line.is_some();
        self.unfinished.push_str(line.unwrap_or_default());
        if line.is_some() {
            self.unfinished.push('\n');
        }
        let script = std::mem::take(&mut self.unfinished);
        match parse(&script) {
            Err(ParseError::Incomplete) if line.is_some() && script.len() <= TEXT_MAX => {
                self.unfinished = script;
            }
            parsed => self.begin(parsed),
        }
    }

    /// Runs a shell with these arguments: `-c SCRIPT`, or none to read commands from standard input.
    fn run_shell(&mut self, arguments: &[String]) {
        let mut rest = arguments.iter().peekable();
        let mut has_script = false;
        while let Some(flags) = rest.next_if(|word| word.starts_with(['-', '+'])) {
            has_script |= flags.contains('c');
            self.machine.stops_at_failure |= flags.contains('e');
        }
        match rest.next() {
            Some(script) if has_script => self.begin(parse(script)),
            None if !has_script => self.reads_input = true,
            None => self.complain("-c requires an argument", SYNTAX),
            Some(file) => {
                let error = format!("{file}: this server runs scripts of `sh -c SCRIPT` only");
                self.complain(&error, NOT_FOUND);
            }
        }
    }

    fn begin(&mut self, parsed: Result<grammar::List, ParseError>) {
        match parsed {
            Ok(list) => self.machine.begin(list),
            Err(error) => self.complain(&error.into_message(), SYNTAX),
        }
    }

    /// Ends as a shell does that cannot read a command.
    fn complain(&mut self, error: &str, code: u8) {
        self.machine
            .take(Outcome::failed(&format!("sh: {error}\n"), code));
    }

    /// Refuses a command that there is not, in the words of a container runtime.
    fn refuse(&mut self, name: &str) {
        let setting = &self.machine.setting;
        let found = setting.files.read(&setting.folder, name);
        let (why, code) = if name.contains('/') && found == Err(FileError::Missing) {
            (format!("stat {name}: no such file or directory"), NOT_FOUND)
        } else if name.contains('/') {
            ("permission denied".to_owned(), NOT_EXECUTABLE)
        } else {
            ("executable file not found in $PATH".to_owned(), NOT_FOUND)
        };
        let error = format!(
            "exec failed: unable to start container process: exec: {name:?}: {why}; {}\n",
            offer()
        );
        self.machine.take(Outcome::failed(&error, code));
    }
}

/// Runs a command of a script.
fn run_in_script(machine: &mut Machine, name: &str, arguments: &[String], now: Timestamp) {
    let of_number = |default: usize| match arguments.first().map(|number| number.parse()) {
        None => Some(default),
        Some(number) => number.ok().filter(|number: &usize| *number > 0),
    };
    let outcome = match (base_name(name), of_number(1)) {
        ("exit", _) => {
            let code = arguments.first().and_then(|code| code.parse().ok());
            Outcome {
                code: code.unwrap_or(machine.code),
                flow: Flow::Exit,
                ..Outcome::default()
            }
        }
        ("break", Some(levels)) => Outcome::flowing(Flow::Break(levels)),
        ("continue", Some(levels)) => Outcome::flowing(Flow::Continue(levels)),
        ("break" | "continue", None) => {
            let error = format!("sh: {name}: Illegal number: {}\n", arguments[0]);
            Outcome {
                flow: Flow::Exit,
                ..Outcome::failed(&error, SYNTAX)
            }
        }
        ("export" | "set", _) => {
            machine.stops_at_failure |= name == "set" && arguments.iter().any(|flag| flag == "-e");
            for (name, value) in arguments.iter().filter_map(|word| word.split_once('=')) {
                if !machine.set(name, value) {
                    return;
                }
            }
            Outcome::default()
        }
        (command, _) if COMMANDS.contains(&command) => {
            builtin::run(command, arguments, &machine.setting, now)
        }
        _ => {
            let error = format!("sh: {name}: not found; {}\n", offer());
            Outcome::failed(&error, NOT_FOUND)
        }
    };
    machine.take(outcome);
}

/// Returns the commands that there are, for those who have asked for another one.
fn offer() -> String {
    format!("this server runs {} and sh", COMMANDS.join(", "))
}

// === impl Outcome ===

impl Outcome {
    fn printing(text: impl Into<Bytes>) -> Self {
        Self {
            actions: vec![Action::Write(OutputStream::Stdout, text.into())],
            ..Self::default()
        }
    }

    fn flowing(flow: Flow) -> Self {
        Self {
            flow,
            ..Self::default()
        }
    }

    fn failed(error: &str, code: u8) -> Self {
        let mut outcome = Self {
            code,
            ..Self::default()
        };
        outcome.complain(error);
        outcome
    }

    fn complain(&mut self, error: &str) {
        let error = Bytes::copy_from_slice(error.as_bytes());
        self.actions
            .push(Action::Write(OutputStream::Stderr, error));
    }
}

#[cfg(test)]
mod tests;
