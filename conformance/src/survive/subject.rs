//! The subject: a command in any language, which is started, killed, stopped and woken as the plan orders.

use std::{
    ffi::OsString,
    fs::File,
    io,
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use rustix::process::{Pid, Signal};
use tokio::{
    process::Child,
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};

use super::{places::Places, recorder::Recorder, trace::Event};
use crate::process_group::ProcessGroup;

/// The pause before a process that ended by itself is started again, as a kubelet does.
const RESTART_AFTER: Duration = Duration::from_millis(300);
/// The number of times that it is.
const RESTARTS_MAX: usize = 3;
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

/// An order to a replica. Each is told when it was carried out.
#[derive(Debug)]
pub(super) enum Order {
    /// Kills it, and starts it again.
    Crash(oneshot::Sender<()>),
    /// Ends it as a system does, and starts it again.
    Restart(oneshot::Sender<()>),
    /// Stops it, and wakes it after this long.
    Sleep(Duration),
}

/// A process that runs.
struct Running {
    child: Child,
    group: ProcessGroup,
}

/// The event that ends a process, or does something to it.
enum Happening {
    Exit(io::Result<ExitStatus>),
    Order(Order),
    Dropped,
}

/// Keeps one replica running until its orders end.
pub(super) async fn supervise(
    command: SubjectCommand,
    places: Places,
    replica: usize,
    recorder: Arc<Recorder>,
    mut orders: mpsc::Receiver<Order>,
) {
    let mut restarts = 0;
    loop {
        let started = command.start(&places);
        recorder.started(replica);
        let mut running = match started {
            Ok(running) => running,
            Err(error) => {
                let how = format!("cannot be started: {error}");
                recorder.ended(replica, how, false);
                return;
            }
        };
        match running.until_ended(replica, &recorder, &mut orders).await {
            Some(is_planned) => {
                if !is_planned {
                    restarts += 1;
                    if restarts > RESTARTS_MAX {
                        return;
                    }
                    sleep(RESTART_AFTER).await;
                }
            }
            None => return,
        }
    }
}

// === impl SubjectCommand ===

impl SubjectCommand {
    fn start(&self, places: &Places) -> io::Result<Running> {
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
            Ok(group) => Ok(Running { child, group }),
            Err(error) => {
                let _ = child.start_kill();
                Err(error)
            }
        }
    }
}

// === impl Running ===

impl Running {
    /// Carries out orders until the process has ended. Returns whether the plan wanted that, or `None` when there are no more
    /// orders.
    async fn until_ended(
        &mut self,
        replica: usize,
        recorder: &Recorder,
        orders: &mut mpsc::Receiver<Order>,
    ) -> Option<bool> {
        loop {
            match self.next(orders).await {
                Happening::Exit(status) => {
                    let how = status.map_or_else(|error| error.to_string(), |it| it.to_string());
                    recorder.ended(replica, how, false);
                    return Some(false);
                }
                Happening::Order(Order::Sleep(time)) => {
                    let _ = self.group.signal(Signal::STOP);
                    recorder.note(Event::Stopped { replica, time });
                    sleep(time).await;
                    let _ = self.group.signal(Signal::CONT);
                    recorder.note(Event::Woken { replica });
                }
                Happening::Order(Order::Crash(done)) => {
                    let _ = self.group.signal(Signal::KILL);
                    let _ = timeout(ENDING, self.child.wait()).await;
                    recorder.ended(replica, "killed".to_owned(), true);
                    let _ = done.send(());
                    return Some(true);
                }
                Happening::Order(Order::Restart(done)) => {
                    let _ = self.group.signal(Signal::TERM);
                    if timeout(ENDING, self.child.wait()).await.is_err() {
                        let _ = self.group.signal(Signal::KILL);
                        let _ = self.child.wait().await;
                    }
                    recorder.ended(replica, "ended for the restart".to_owned(), true);
                    let _ = done.send(());
                    return Some(true);
                }
                Happening::Dropped => {
                    let _ = self.group.signal(Signal::KILL);
                    let _ = self.child.wait().await;
                    return None;
                }
            }
        }
    }

    async fn next(&mut self, orders: &mut mpsc::Receiver<Order>) -> Happening {
        tokio::select! {
            biased;
            order = orders.recv() => order.map_or(Happening::Dropped, Happening::Order),
            status = self.child.wait() => Happening::Exit(status),
        }
    }
}
