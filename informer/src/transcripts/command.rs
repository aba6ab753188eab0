//! One command of a transcript, taken apart.

use std::{str::FromStr, time::Duration};

use datadriven::TestCase;
use jiff::SignedDuration;

/// The output of a command; an error says what is wrong with the command, and fails the test.
pub(crate) type Outcome<T = String> = Result<T, String>;

/// A command: its name, at most one word, flags and named values, and the lines under it.
pub(crate) struct Command<'a>(&'a mut TestCase);

// === impl Command ===

impl<'a> Command<'a> {
    pub(super) fn new(case: &'a mut TestCase) -> Self {
        Self(case)
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.directive
    }

    /// The lines under the command.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.input.lines().map(str::to_owned).collect()
    }

    /// The words of the lines under the command.
    pub(crate) fn words(&self) -> Vec<String> {
        let words = self.0.input.split_whitespace();
        words.map(str::to_owned).collect()
    }

    /// Takes the flag `name`.
    pub(crate) fn flag(&mut self, name: &str) -> Outcome<bool> {
        self.0.take_flag(name).map_err(|error| error.to_string())
    }

    /// Takes the value of `name`.
    pub(crate) fn value<T: FromStr>(&mut self, name: &str) -> Outcome<Option<T>> {
        let value = self.0.try_take_arg::<String>(name);
        let Some(text) = value.map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(format!("{name} cannot be {text}")),
        }
    }

    /// Takes the time `name`, as in `5s` or `800ms`.
    pub(crate) fn time(&mut self, name: &str) -> Outcome<Option<Duration>> {
        let text = self.value::<String>(name)?;
        text.as_deref().map(time).transpose()
    }

    /// Takes the one word that is left; flags are taken first.
    pub(crate) fn word(&mut self) -> Outcome {
        let words = self.0.args.iter().filter(|(_, values)| values.is_empty());
        let words: Vec<String> = words.map(|(word, _)| word.clone()).collect();
        let [word] = &words[..] else {
            return Err(format!("one word is expected, not {words:?}"));
        };
        self.0.args.remove(word);
        Ok(word.clone())
    }

    /// Takes the one word that is left, which is a time.
    pub(crate) fn word_of_time(&mut self) -> Outcome<Duration> {
        time(&self.word()?)
    }

    pub(crate) fn unknown(&self) -> String {
        format!("no command is called {:?}", self.name())
    }

    /// Checks that all arguments were understood.
    pub(super) fn finish(&self) -> Outcome<()> {
        self.0.expect_empty().map_err(|error| error.to_string())
    }
}

fn time(text: &str) -> Outcome<Duration> {
    let time = text.parse::<SignedDuration>().ok();
    time.and_then(|time| Duration::try_from(time).ok())
        .ok_or_else(|| format!("{text} is no time"))
}
