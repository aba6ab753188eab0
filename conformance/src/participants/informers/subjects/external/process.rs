//! The operating-system process: started, spoken with, and killed with all its descendants.

use std::{
    io,
    num::NonZeroUsize,
    process::{ExitStatus, Stdio},
    sync::LazyLock,
    thread,
    time::Duration,
};

use futures::StreamExt;
use rustix::process::Pid;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    sync::{Semaphore, SemaphorePermit, mpsc, oneshot},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::codec::{FramedRead, LinesCodec};

use super::{
    Command, Introduction, Message, ProcessMessages, Program,
    error::Breach,
    machine::{Conversation, LINE_MAX_BYTES},
};
use crate::process_group::ProcessGroup;

/// The time for a process to exit after the end of its output, and for its descendants to close its standard error.
const GOING: Duration = Duration::from_secs(1);
/// The number of bytes of standard error that are kept, of which the last line is shown.
const SAID_MAX_BYTES: usize = 4 << 10;
/// Longer than any conversation, and short enough to be added to an instant.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// Permits to boot, one a processor: more at once would not be ready sooner, and would slow down those that run.
static BOOTS: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = thread::available_parallelism();
    Semaphore::new(processors.map_or(1, NonZeroUsize::get))
});

/// A process that boots. Dropping it ends the wait for it.
struct Boot {
    _permit: SemaphorePermit<'static>,
    ready: oneshot::Sender<()>,
}

/// A running process and its pipes.
struct Running {
    child: Child,
    /// Kills the descendants of the process when dropped.
    group: ProcessGroup,
    input: ChildStdin,
    lines: FramedRead<ChildStdout, LinesCodec>,
    errors: Errors,
}

/// The standard error of a process.
struct Errors {
    pipe: Option<ChildStderr>,
    last: Vec<u8>,
}

/// Runs `program` until there are no more `commands`, and then to its end. Its messages and breaches go to `seen`. `ready`
/// hears of its hello; it is dropped if there is none.
pub(super) async fn run(
    program: Program,
    seen: ProcessMessages,
    commands: mpsc::Receiver<Command>,
    ready: oneshot::Sender<()>,
) {
    let permit = BOOTS.acquire().await.expect("it is never closed");
    let boot = Boot {
        _permit: permit,
        ready,
    };
    if let Err(breach) = converse(&program, &seen, commands, boot).await {
        seen.failed(&program, &breach);
    }
}

async fn converse(
    program: &Program,
    seen: &ProcessMessages,
    mut commands: mpsc::Receiver<Command>,
    boot: Boot,
) -> Result<(), Breach> {
    let started = Running::start(&program.command);
    let mut running = started.map_err(|error| Breach::NotStarted(error.to_string()))?;
    let mut talk = Conversation::new(program.answer_limit, Instant::now());
    let mut boot = Some(boot);
    loop {
        let deadline = talk.deadline().unwrap_or_else(|| Instant::now() + LONGEST);
        tokio::select! {
            biased;
            // A process with much output has to answer, too.
            () = sleep_until(deadline) => return Err(talk.overdue()),
            command = commands.recv() => {
                let Some(command) = command else { break };
                let writing = timeout(program.answer_limit, write(&mut running.input, &command));
                match writing.await {
                    Ok(Ok(())) => talk.note_sent(&command, Instant::now()),
                    // It does not read: its output shows if it has exited.
                    Ok(Err(_)) => return Err(running.ended(&talk).await),
                    Err(_) => return Err(talk.not_read()),
                }
            }
            line = running.lines.next() => match line {
                Some(Ok(line)) => {
                    let message = talk.receive(&line, Instant::now())?;
                    seen.hear(message).map_err(|why| talk.no_message(&line, &why))?;
                    if let Some(boot) = boot.take() {
                        // The run may have ended meanwhile.
                        let _ = boot.ready.send(());
                    }
                }
                Some(Err(error)) => return Err(talk.no_line(&error)),
                None => return Err(running.ended(&talk).await),
            },
            () = running.errors.read() => {}
        }
    }
    running.end(program.ending_limit).await
}

/// Starts `program`, and ends it once it has introduced itself.
pub(super) async fn introduction(program: &Program) -> Result<Introduction, Breach> {
    let started = Running::start(&program.command);
    let mut running = started.map_err(|error| Breach::NotStarted(error.to_string()))?;
    let mut talk = Conversation::new(program.answer_limit, Instant::now());
    let introduction = match timeout(program.answer_limit, running.lines.next()).await {
        Ok(Some(Ok(line))) => match talk.receive(&line, Instant::now())? {
            Message::Hello(introduction) => introduction,
            _ => return Err(talk.no_message(&line, &"it has not said hello before")),
        },
        Ok(Some(Err(error))) => return Err(talk.no_line(&error)),
        Ok(None) => return Err(running.ended(&talk).await),
        Err(_) => return Err(talk.overdue()),
    };
    running.end(program.ending_limit).await?;
    Ok(introduction)
}

async fn write(input: &mut ChildStdin, command: &Command) -> io::Result<()> {
    let mut line = serde_json::to_string(command).expect("commands are plain values");
    line.push('\n');
    input.write_all(line.as_bytes()).await?;
    input.flush().await
}

// === impl Running ===

impl Running {
    fn start(command: &str) -> io::Result<Self> {
        let mut child = tokio::process::Command::new("sh")
            .arg("-c")
            .arg(command)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let id = id.and_then(Pid::from_raw);
        let group = ProcessGroup::new(id.expect("it has not been waited for"), None)?;
        let output = child.stdout.take().expect("its output is piped");
        Ok(Self {
            input: child.stdin.take().expect("its input is piped"),
            lines: FramedRead::new(output, LinesCodec::new_with_max_length(LINE_MAX_BYTES)),
            errors: Errors {
                pipe: child.stderr.take(),
                last: Vec::new(),
            },
            child,
            group,
        })
    }

    /// Returns the breach of a process whose output has ended.
    async fn ended(mut self, talk: &Conversation) -> Breach {
        let status = timeout(GOING, self.child.wait()).await;
        // A descendant may hold it open.
        let _ = timeout(GOING, self.errors.read_to_end()).await;
        let (lines, output_text) = (talk.output_count(), self.errors.tail());
        match status {
            Ok(Ok(status)) => Breach::Died {
                how: tail(status),
                lines,
                output_text,
            },
            Ok(Err(_)) | Err(_) => Breach::OutputClosed { lines, output_text },
        }
    }

    /// Closes the input and waits until the process has exited.
    async fn end(self, limit: Duration) -> Result<(), Breach> {
        let Self {
            mut child,
            input,
            lines,
            mut errors,
            group: _group,
        } = self;
        drop(input);
        let mut output = lines.into_inner();
        // It may still be writing; a full pipe must not block it.
        let rest = async {
            let mut rest = [0; 4_096];
            while let Ok(1..) = output.read(&mut rest).await {}
            std::future::pending::<()>().await;
        };
        let ended = async {
            tokio::select! {
                biased;
                _ = child.wait() => {}
                () = rest => {}
                () = async { loop { errors.read().await } } => {}
            }
        };
        timeout(limit, ended)
            .await
            .map_err(|_| Breach::NotEnded { limit })
    }
}

// === impl Errors ===

impl Errors {
    /// Reads some of it. Stays pending after the end. Cancel safe.
    async fn read(&mut self) {
        let Some(pipe) = &mut self.pipe else {
            return std::future::pending().await;
        };
        let read = pipe.read_buf(&mut self.last).await;
        if !matches!(read, Ok(1..)) {
            self.pipe = None;
        }
        let surplus = self.last.len().saturating_sub(SAID_MAX_BYTES);
        self.last.drain(..surplus);
    }

    async fn read_to_end(&mut self) {
        while self.pipe.is_some() {
            self.read().await;
        }
    }

    /// Returns the last line, introduced; nothing if there is none.
    fn tail(&self) -> String {
        let text = String::from_utf8_lossy(&self.last);
        let last = text.lines().rfind(|line| !line.trim().is_empty());
        last.map_or_else(String::new, |line| {
            format!("; its standard error ends in `{line}`")
        })
    }
}

fn tail(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with status {code}"),
        None => format!("ended by {status}"),
    }
}
