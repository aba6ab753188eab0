//! Commands of the user's: functions that answer what a client executes.

use std::{fmt, sync::Arc};

use bytes::Bytes;

/// A command that a client executes in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecRequest {
    /// The namespace of the pod.
    pub namespace: String,
    /// The name of the pod.
    pub pod: String,
    /// The name of the container.
    pub container: String,
    /// The command and its arguments.
    pub command: Vec<String>,
}

/// The outcome of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct ExecOutput {
    pub stdout: Bytes,
    pub stderr: Bytes,
    pub code: u8,
}

/// A function that may answer a command.
#[derive(Clone)]
pub struct ExecHandler(Arc<Answer>);

type Answer = dyn Fn(&ExecRequest) -> Option<ExecOutput> + Send + Sync;

// === impl ExecRequest ===

impl ExecRequest {
    /// Creates the request to execute `command` in a container.
    pub fn new(namespace: &str, pod: &str, container: &str, command: Vec<String>) -> Self {
        Self {
            namespace: namespace.to_owned(),
            pod: pod.to_owned(),
            container: container.to_owned(),
            command,
        }
    }
}

// === impl ExecOutput ===

impl ExecOutput {
    /// Creates the output of a successful command that prints `stdout`.
    pub fn new(stdout: impl Into<Bytes>) -> Self {
        Self {
            stdout: stdout.into(),
            ..Self::default()
        }
    }

    /// Sets what the command writes to standard error.
    pub fn with_stderr(mut self, stderr: impl Into<Bytes>) -> Self {
        self.stderr = stderr.into();
        self
    }

    /// Sets the exit code. By default it is 0.
    pub fn with_exit_code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }
}

// === impl ExecHandler ===

impl ExecHandler {
    pub fn new(
        answer: impl Fn(&ExecRequest) -> Option<ExecOutput> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(answer))
    }

    /// Returns the outcome of a command, if the function has one.
    pub fn answer(&self, request: &ExecRequest) -> Option<ExecOutput> {
        (self.0)(request)
    }
}

impl fmt::Debug for ExecHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecHandler").finish_non_exhaustive()
    }
}
