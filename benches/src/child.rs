//! A child process whose output is read line by line, and which ends with its parent.

use std::{error::Error, process::Stdio, time::Duration};

use serde::de::DeserializeOwned;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{self, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::process::{Usage, reset_peak_of, usage_of};

/// The time limit for a process's next line.
const DEADLINE: Duration = Duration::from_mins(10);

/// A process under way.
#[derive(Debug)]
pub(crate) struct Child {
    process: process::Child,
    lines: Lines<BufReader<ChildStdout>>,
}

// === impl Child ===

impl Child {
    /// Starts `command`, whose standard input is as it says.
    pub(crate) fn start(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let mut process = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let stdout = process.stdout.take().expect("standard output is piped");
        let lines = BufReader::new(stdout).lines();
        Ok(Self { process, lines })
    }

    /// Takes the standard input, if it is piped and was not taken before.
    pub(crate) fn take_input(&mut self) -> Option<ChildStdin> {
        self.process.stdin.take()
    }

    /// The next line that it prints.
    pub(crate) async fn line(&mut self) -> Result<String, Box<dyn Error>> {
        let line = timeout(DEADLINE, self.lines.next_line()).await;
        let line = line.map_err(|_| "a process said nothing for ten minutes")?;
        Ok(line?.ok_or("a process ended without an answer, and said why above")?)
    }

    /// Returns the value of its last line.
    pub(crate) async fn outcome<T: DeserializeOwned>(mut self) -> Result<T, Box<dyn Error>> {
        let outcome = serde_json::from_str(&self.line().await?)?;
        self.process.wait().await?;
        Ok(outcome)
    }

    /// Returns its usage, as the operating system reports it.
    pub(crate) fn usage(&self) -> Result<Usage, Box<dyn Error>> {
        usage_of(self.pid()?)
    }

    /// Forgets how much memory it had up to now.
    pub(crate) fn reset_peak(&self) -> Result<(), Box<dyn Error>> {
        reset_peak_of(self.pid()?)
    }

    fn pid(&self) -> Result<i32, Box<dyn Error>> {
        let pid = self.process.id().ok_or("the process has ended")?;
        Ok(pid.try_into()?)
    }
}
