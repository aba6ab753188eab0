//! A command in any language, and its process.

use std::{ffi::OsString, fs::File, io, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal};
use tokio::{process::Child, time::timeout};

use super::{places::Places, running::Running};
use crate::process_group::ProcessGroup;

/// The time that a process gets to end by itself.
const ENDING: Duration = Duration::from_secs(5);

/// A command, and what is replaced in its arguments.
#[derive(Clone, Debug)]
pub struct SubjectCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments. `{server}`, `{kubeconfig}`, `{workdir}` and `{port}` are replaced in them.
    pub arguments: Vec<OsString>,
}

/// A process of a command.
pub(super) struct Process {
    child: Child,
    group: ProcessGroup,
}

// === impl SubjectCommand ===

impl SubjectCommand {
    pub(super) fn start(&self, places: &Places) -> io::Result<Process> {
        let output = File::options()
            .create(true)
            .append(true)
            .open(&places.output)?;
        let mut child = places
            .command(&self.program, &self.arguments)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .kill_on_drop(true)
            .spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let id = id.and_then(Pid::from_raw);
        let group = ProcessGroup::new(id.expect("it has not been waited for"));
        match group {
            Ok(group) => Ok(Process { child, group }),
            Err(error) => {
                let _ = child.start_kill();
                Err(error)
            }
        }
    }
}

impl Running for Process {
    async fn ended(&mut self) -> String {
        let status = self.child.wait().await;
        status.map_or_else(|error| error.to_string(), |it| it.to_string())
    }

    fn stop(&mut self) {
        let _ = self.group.signal(Signal::STOP);
    }

    fn wake(&mut self) {
        let _ = self.group.signal(Signal::CONT);
    }

    async fn kill(&mut self) {
        let _ = self.group.signal(Signal::KILL);
        let _ = timeout(ENDING, self.child.wait()).await;
    }

    async fn end(&mut self) {
        let _ = self.group.signal(Signal::TERM);
        if timeout(ENDING, self.child.wait()).await.is_err() {
            let _ = self.group.signal(Signal::KILL);
            let _ = self.child.wait().await;
        }
    }
}
