//! The few commands that need no process, as programs that a driver performs action by action.

mod words;
mod builtin;

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use jiff::Timestamp;

use self::{
    builtin::{COMMANDS, base_name},
    words::{Joint, Piece, Redirection, SimpleCommand, Word, fields, parse},
};
use super::{
    exec::ExecOutput,
    files::{FileError, Files},
    log::OutputStream,
};

/// The code of a command that there is not.
const NOT_FOUND: u8 = 127;
/// The code of a command that cannot be run.
const NOT_EXECUTABLE: u8 = 126;
/// The code of a script that cannot be read.
const SYNTAX: u8 = 2;

/// The surroundings of a command.
#[derive(Clone, Default)]
pub(crate) struct Setting {
    /// Variables in their order. The last one of a name counts.
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) files: Files,
    pub(crate) host_name: String,
    /// The folder against which paths are resolved.
    pub(crate) folder: String,
}

/// The next thing that a program does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Write(OutputStream, Bytes),
    /// Hands standard input on, until its end, to a stream or to nowhere.
    CopyInput(Option<OutputStream>),
    /// Reads a line of standard input, for [`Program::feed`].
    ReadLine,
    Sleep(Duration),
    Exit(u8),
}

/// A command under way.
pub(crate) struct Program {
    setting: Setting,
    /// The actions of the command that runs.
    actions: VecDeque<Action>,
    /// The commands that follow.
    script: VecDeque<SimpleCommand>,
    /// The code of the last command.
    code: u8,
    /// True if further commands come from standard input.
    reads_input: bool,
    /// True if a command that fails ends the script.
    stops_at_failure: bool,
}

/// The outcome of one command.
#[derive(Debug, Default)]
struct Outcome {
    actions: Vec<Action>,
    code: u8,
    /// True if it ends the script.
    is_last: bool,
}

// === impl Setting ===

impl Setting {
    fn variable(&self, name: &str) -> Option<&str> {
        let mut values = self.variables.iter().rev();
        values
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
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
            let outcome = builtin::run(name, &words[1..], &program.setting, now);
            program.take(outcome);
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
        Self {
            actions: outputs
                .map(|(stream, bytes)| Action::Write(stream, bytes))
                .collect(),
            code,
            ..Self::of(Setting::default())
        }
    }

    /// A program that does nothing.
    fn of(setting: Setting) -> Self {
        Self {
            setting,
            actions: VecDeque::new(),
            script: VecDeque::new(),
            code: 0,
            reads_input: false,
            stops_at_failure: false,
        }
    }

    /// Returns the next action. After [`Action::Exit`] there is none.
    pub(crate) fn next(&mut self, now: Timestamp) -> Action {
        loop {
            if let Some(action) = self.actions.pop_front() {
                return action;
            }
            if let Some(command) = self.script.pop_front() {
                self.run(&command, now);
            } else if self.reads_input {
                return Action::ReadLine;
            } else {
                return Action::Exit(self.code);
            }
        }
    }

    /// Takes the line for which [`Action::ReadLine`] has asked; `None` at the end of the input.
    pub(crate) fn feed(&mut self, line: Option<&str>) {
        match line {
            None => self.reads_input = false,
            Some(line) => match parse(line) {
                Ok(commands) => self.script.extend(commands),
                Err(error) => self.complain(&error, SYNTAX),
            },
        }
    }

    /// Runs a shell with these arguments: `-c SCRIPT`, or none to read commands from standard input.
    fn run_shell(&mut self, arguments: &[String]) {
        let mut rest = arguments.iter().peekable();
        let mut has_script = false;
        while let Some(flags) = rest.next_if(|word| word.starts_with(['-', '+'])) {
            has_script |= flags.contains('c');
            self.stops_at_failure |= flags.contains('e');
        }
        match rest.next() {
            Some(script) if has_script => match parse(script) {
                Ok(commands) => self.script.extend(commands),
                Err(error) => self.complain(&error, SYNTAX),
            },
            None if !has_script => self.reads_input = true,
            None => self.complain("-c requires an argument", SYNTAX),
            Some(file) => {
                let error = format!("{file}: this server runs scripts of `sh -c SCRIPT` only");
                self.complain(&error, NOT_FOUND);
            }
        }
    }

    fn run(&mut self, command: &SimpleCommand, now: Timestamp) {
        let is_wanted = match command.joint {
            Joint::Always => true,
            Joint::Success => self.code == 0,
            Joint::Failure => self.code != 0,
        };
        if !is_wanted {
            return;
        }
        let mut words = self.expanded(&command.words);
        let is_assignment = |word: &String| {
            let name = word.split_once('=').map(|(name, _)| name);
            name.is_some_and(|name| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        };
        let assignments = words.iter().take_while(|word| is_assignment(word)).count();
        let assigned = words.drain(..assignments);
        for assignment in assigned {
            let (name, value) = assignment.split_once('=').expect("it is an assignment");
            self.setting.set(name, value);
        }
        let mut outcome = match words.split_first() {
            None => Outcome::default(),
            Some((name, arguments)) => self.call(name, arguments, now),
        };
        outcome.redirect(&command.redirections);
        let is_over = self.stops_at_failure
            && outcome.code != 0
            && !matches!(self.script.front(), Some(next) if next.joint != Joint::Always);
        outcome.is_last |= is_over;
        self.take(outcome);
    }

    /// Runs a command of a script.
    fn call(&mut self, name: &str, arguments: &[String], now: Timestamp) -> Outcome {
        match base_name(name) {
            "exit" => {
                let code = arguments.first().and_then(|code| code.parse().ok());
                Outcome {
                    code: code.unwrap_or(self.code),
                    is_last: true,
                    ..Outcome::default()
                }
            }
            "export" | "set" => {
                self.stops_at_failure |= name == "set" && arguments.iter().any(|flag| flag == "-e");
                for (name, value) in arguments.iter().filter_map(|word| word.split_once('=')) {
                    self.setting.set(name, value);
                }
                Outcome::default()
            }
            known if COMMANDS.contains(&known) => {
                builtin::run(known, arguments, &self.setting, now)
            }
            _ => {
                let error = format!("sh: {name}: not found; {}\n", offer());
                Outcome::failed(&error, NOT_FOUND)
            }
        }
    }

    /// Replaces the variables of words. The value of one without quotes is as many words as it has fields.
    fn expanded(&self, words: &[Word]) -> Vec<String> {
        let mut expanded = Vec::new();
        for word in words {
            let mut open = word.is_quoted.then(String::new);
            for piece in &word.pieces {
                match piece {
                    Piece::Text(text) => open.get_or_insert_default().push_str(text),
                    Piece::Variable { name, is_quoted } => {
                        let value = self.value(name);
                        if *is_quoted {
                            open.get_or_insert_default().push_str(&value);
                            continue;
                        }
                        for (index, field) in fields(&value).enumerate() {
                            if index > 0 {
                                expanded.extend(open.take());
                            }
                            open.get_or_insert_default().push_str(field);
                        }
                    }
                }
            }
            expanded.extend(open);
        }
        expanded
    }

    fn value(&self, name: &str) -> String {
        match name {
            "?" => self.code.to_string(),
            _ => self.setting.variable(name).unwrap_or_default().to_owned(),
        }
    }

    fn take(&mut self, outcome: Outcome) {
        self.code = outcome.code;
        self.actions.extend(outcome.actions);
        if outcome.is_last {
            self.script.clear();
            self.reads_input = false;
        }
    }

    /// Ends as a shell does that cannot go on.
    fn complain(&mut self, error: &str, code: u8) {
        self.take(Outcome::failed(&format!("sh: {error}\n"), code));
    }

    /// Refuses a command that there is not, in the words of a container runtime.
    fn refuse(&mut self, name: &str) {
        let found = self.setting.files.read(&self.setting.folder, name);
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
        self.take(Outcome::failed(&error, code));
    }
}

/// Returns the commands that there are, for those who have asked for another one.
fn offer() -> String {
    format!("this server runs {} and sh", COMMANDS.join(", "))
}

// === impl Outcome ===

impl Outcome {
    fn said(text: impl Into<Bytes>) -> Self {
        Self {
            actions: vec![Action::Write(OutputStream::Stdout, text.into())],
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

    /// Sends what goes to a stream to another one, or nowhere, as these redirections say, one after the other.
    fn redirect(&mut self, redirections: &[Redirection]) {
        let (mut stdout, mut stderr) = (Some(OutputStream::Stdout), Some(OutputStream::Stderr));
        for redirection in redirections {
            let to = match redirection.to {
                None => None,
                Some(OutputStream::Stdout) => stdout,
                Some(OutputStream::Stderr) => stderr,
            };
            match redirection.from {
                OutputStream::Stdout => stdout = to,
                OutputStream::Stderr => stderr = to,
            }
        }
        let target = |stream| match stream {
            OutputStream::Stdout => stdout,
            OutputStream::Stderr => stderr,
        };
        let actions = std::mem::take(&mut self.actions).into_iter();
        let redirected = actions.filter_map(|action| match action {
            Action::Write(stream, bytes) => {
                target(stream).map(|stream| Action::Write(stream, bytes))
            }
            Action::CopyInput(stream) => Some(Action::CopyInput(stream.and_then(target))),
            action => Some(action),
        });
        self.actions = redirected.collect();
    }
}

#[cfg(test)]
mod tests;
