//! A command in any language, and its process.

use std::{ffi::OsString, fmt, io, path::PathBuf, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal};
use support::process_group::ProcessGroup;
use tokio::{
    process::Child,
    time::{interval, timeout},
};

use super::{environment::Environment, running_subject::RunningSubject};

/// The time that a process gets to end by itself.
const ENDING: Duration = Duration::from_secs(5);
/// The interval at which the processes that it has started are noted.
const NOTED_EVERY: Duration = Duration::from_millis(200);

/// A command, and what is replaced in its arguments.
#[derive(Clone, Debug)]
pub struct SubjectCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments. `{server}`, `{kubeconfig}`, `{workdir}` and `{port}` are replaced in them.
    pub arguments: Vec<OsString>,
    /// The folder in which it is started; that of this process if there is none.
    pub folder: Option<PathBuf>,
}

impl fmt::Display for SubjectCommand {
    /// Writes the program and its arguments, with spaces between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.display())?;
        self.arguments
            .iter()
            .try_for_each(|argument| write!(f, " {}", argument.display()))
    }
}

/// A process of a command.
pub(super) struct Process {
    child: Child,
    group: ProcessGroup,
}

// === impl SubjectCommand ===

impl SubjectCommand {
    pub(super) fn start(&self, environment: &Environment) -> io::Result<Process> {
        let mut command = environment.command(&self.program, &self.arguments);
        command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(environment.output.writer()?)
            .stderr(environment.output.writer()?)
            .kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut child = command.spawn().map_err(|error| {
            let program = self.program.display();
            io::Error::new(error.kind(), format!("{program}: {error}"))
        })?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let id = id.and_then(Pid::from_raw);
        let group = ProcessGroup::new(
            id.expect("it has not been waited for"),
            Some(environment.mark()),
        );
        match group {
            Ok(group) => Ok(Process { child, group }),
            Err(error) => {
                let _ = child.start_kill();
                Err(error)
            }
        }
    }
}

impl RunningSubject for Process {
    async fn ended(&mut self) -> String {
        let mut looks = interval(NOTED_EVERY);
        loop {
            tokio::select! {
                biased;
                status = self.child.wait() => {
                    return status.map_or_else(|error| error.to_string(), |it| it.to_string());
                }
                _ = looks.tick() => {
                    self.group.note();
                }
            }
        }
    }

    fn stop(&mut self) {
        self.group.signal(Signal::STOP);
    }

    fn wake(&mut self) {
        self.group.signal(Signal::CONT);
    }

    async fn kill(&mut self) {
        self.group.kill();
        let _ = timeout(ENDING, self.child.wait()).await;
    }

    async fn end(&mut self) {
        self.group.signal(Signal::TERM);
        let _ = timeout(ENDING, self.child.wait()).await;
        self.kill().await;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        net::{Ipv4Addr, SocketAddr},
    };

    use super::*;

    #[tokio::test]
    async fn a_command_is_started_in_its_folder() {
        let (runs, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let environment = Environment::make(runs.path(), 0, address, None)
            .await
            .unwrap();
        fs::write(own.path().join("operator"), "pwd").unwrap();
        let command = SubjectCommand {
            program: "sh".into(),
            arguments: vec!["operator".into()],
            folder: Some(own.path().to_owned()),
        };
        let mut process = command.start(&environment).unwrap();
        assert_eq!(process.ended().await, "exit status: 0");
        environment.output.end().unwrap();
        let output = fs::read_to_string(environment.output.path()).unwrap();
        assert_eq!(
            output.trim(),
            own.path().canonicalize().unwrap().to_str().unwrap()
        );
    }
}
