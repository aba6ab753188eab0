//! The subject: a command in any language or a function, which is started, killed, stopped and woken as the plan orders.

use std::{ffi::OsString, io, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};

use super::{
    function::{Ending, Function},
    process::SubjectCommand,
    recorder::Recorder,
    running_subject::RunningSubject,
    trace::Event,
};

/// The pause before a process that ended by itself is started again, as a kubelet does.
const RESTART_AFTER: Duration = Duration::from_millis(300);
/// The number of times that it is.
const RESTARTS_MAX: usize = 3;

/// The controller that is tried.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum Subject {
    /// A command in any language, in real time.
    Command(SubjectCommand),
    /// A function of this process, on a paused clock.
    Function(Function),
}

/// An order to a replica, with a sender that fires when it was carried out.
#[derive(Debug)]
pub(super) enum Order {
    /// Kills it, and starts it again.
    Crash(oneshot::Sender<()>),
    /// Ends it as a system does, and starts it again.
    Restart(oneshot::Sender<()>),
    /// Stops it, and wakes it after this long.
    Sleep(Duration),
}

/// An event in the life of a subject.
enum SubjectEvent {
    Exit(String),
    Order(Order),
    Dropped,
}

/// Keeps one replica running until its orders end.
pub(super) async fn supervise<R: RunningSubject>(
    mut start: impl FnMut() -> io::Result<R>,
    replica: usize,
    recorder: Arc<Recorder>,
    mut orders: mpsc::Receiver<Order>,
) {
    let mut restarts = 0;
    loop {
        // What it asks for at once is its own: it may be quicker than this thread.
        recorder.started(replica);
        let mut running = match start() {
            Ok(running) => running,
            Err(error) => {
                let how = format!("cannot be started: {error}");
                recorder.ended(replica, how, false);
                recorder.give_up(replica);
                return;
            }
        };
        let is_planned = until_ended(&mut running, replica, &recorder, &mut orders).await;
        // What it has started ends with it.
        drop(running);
        match is_planned {
            Some(is_planned) => {
                if !is_planned {
                    restarts += 1;
                    if restarts > RESTARTS_MAX {
                        recorder.give_up(replica);
                        return;
                    }
                    sleep(RESTART_AFTER).await;
                }
            }
            None => return,
        }
    }
}

/// Carries out orders until the subject has ended. Returns whether the plan wanted that, or `None` when there are no more orders.
async fn until_ended(
    running: &mut impl RunningSubject,
    replica: usize,
    recorder: &Recorder,
    orders: &mut mpsc::Receiver<Order>,
) -> Option<bool> {
    loop {
        match next(running, orders).await {
            SubjectEvent::Exit(how) => {
                recorder.ended(replica, format!("ended by itself: {how}"), false);
                return Some(false);
            }
            SubjectEvent::Order(Order::Sleep(time)) => {
                running.stop();
                recorder.note(Event::Stopped { replica, time });
                sleep(time).await;
                running.wake();
                recorder.note(Event::Woken { replica });
            }
            SubjectEvent::Order(Order::Crash(done)) => {
                running.kill().await;
                // Recorded before the sender fires, at which the tap continues.
                recorder.ended(replica, "killed".to_owned(), true);
                let _ = done.send(());
                return Some(true);
            }
            SubjectEvent::Order(Order::Restart(done)) => {
                running.end().await;
                recorder.ended(replica, "ended for the restart".to_owned(), true);
                let _ = done.send(());
                return Some(true);
            }
            SubjectEvent::Dropped => {
                running.kill().await;
                return None;
            }
        }
    }
}

async fn next(
    running: &mut impl RunningSubject,
    orders: &mut mpsc::Receiver<Order>,
) -> SubjectEvent {
    tokio::select! {
        biased;
        // Orders first: a process that ends in the moment of its kill was killed.
        order = orders.recv() => order.map_or(SubjectEvent::Dropped, SubjectEvent::Order),
        how = running.ended() => SubjectEvent::Exit(how),
    }
}

// === impl Subject ===

impl Subject {
    /// Returns a command, which is executed without a shell.
    pub fn command<A: Into<OsString>>(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        Self::Command(SubjectCommand {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            folder: None,
        })
    }

    /// Returns a function, which is called with a client of its own whenever the subject is started, and works until it is dropped.
    pub fn function<F>(function: impl Fn(kube::Client) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output: Ending> + Send + 'static,
    {
        Self::Function(Function::new(move |client, _| function(client)))
    }

    /// Returns a function that is also told the number of its replica, from 0: what a candidate for a lease makes its identity of. A
    /// replica that is started again has the number that it had, as in a stateful set.
    pub fn replica_function<F>(
        function: impl Fn(kube::Client, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output: Ending> + Send + 'static,
    {
        Self::Function(Function::new(function))
    }

    /// Returns whether it runs in this process, on a paused clock.
    pub(super) fn is_function(&self) -> bool {
        matches!(self, Self::Function(_))
    }
}
