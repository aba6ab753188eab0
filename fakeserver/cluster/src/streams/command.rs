//! Commands in containers, and containers that are watched at their work, for one client.

use fakeserver_server::{Clock, server::websocket::Socket};
use futures::{StreamExt as _, stream::SplitStream};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{
    IDLE_LIMIT,
    channels::{ClientMessage, ERROR, Protocol, STDIN, STDOUT, channel_of},
    input::{Input, InputSender},
    output::{Disconnection, Output},
    status::SessionEnd,
    terminal,
};
use crate::containers::{Action, CommandSession, CommandWork, LogFollower, Program};

/// The code of a command that was ended from outside: by its container's end, or by a key.
const KILLED: u8 = 137;
const INTERRUPTED: u8 = 130;

/// The reason why the input of a client ends.
enum InputEnd {
    Left,
    Interrupted,
}

/// Serves a session until it ends, its client leaves, or the container ends.
pub(super) async fn serve(
    socket: Socket,
    protocol: Protocol,
    session: CommandSession,
    life: Option<LogFollower>,
    clock: Clock,
) {
    let CommandSession {
        work,
        has_stdin,
        is_terminal,
    } = session;
    let (sender, mut receiver) = socket.split();
    let mut output = Output::new(sender, protocol, is_terminal);
    // Clients take an empty message for the sign that the connection is there.
    if output.write(STDOUT, b"").await.is_err() {
        return;
    }
    let (mut input_sender, input) = Input::new(is_terminal);
    if !has_stdin {
        input_sender.end();
    }
    let command = match &work {
        CommandWork::Run { command, .. } => command.clone(),
        _ => String::new(),
    };
    let exited = |code| {
        let command = command.clone();
        Ok(Some(SessionEnd::Exited { command, code }))
    };
    let ending = tokio::select! {
        biased;
        silence = hear(&mut receiver, protocol, input_sender, is_terminal) => match silence {
            InputEnd::Left => return,
            InputEnd::Interrupted => exited(INTERRUPTED),
        },
        ending = perform(work, &mut output, input, clock) => ending,
        is_leaving = super::ended(life) => if is_leaving { Ok(None) } else { exited(KILLED) },
    };
    let code = match ending {
        Err(Disconnection) => return,
        Ok(None) => CloseCode::Away,
        Ok(Some(ending)) => {
            if let Some(error_text) = ending.error_text(protocol)
                && output.write(ERROR, &error_text).await.is_err()
            {
                return;
            }
            CloseCode::Normal
        }
    };
    output.close(receiver, code).await;
}

/// Hears the client until it leaves, and hands its input on, which the command may not read yet.
async fn hear(
    receiver: &mut SplitStream<Socket>,
    protocol: Protocol,
    mut input: InputSender,
    is_terminal: bool,
) -> InputEnd {
    loop {
        let next = async {
            tokio::select! {
                biased;
                () = input.hand_on() => None,
                message = receiver.next(), if input.hears() => Some(message),
            }
        };
        let message = match timeout(IDLE_LIMIT, next).await {
            Ok(None) => continue,
            Ok(Some(Some(Ok(message)))) => message,
            Ok(Some(_)) | Err(_) => return InputEnd::Left,
        };
        match protocol.decode(message) {
            ClientMessage::Leave => return InputEnd::Left,
            ClientMessage::Data(STDIN, bytes) => {
                if is_terminal && terminal::is_interrupt(&bytes) {
                    return InputEnd::Interrupted;
                }
                input.take(bytes);
            }
            ClientMessage::End(STDIN) => input.end(),
            // Terminal sizes and other channels have no effect.
            ClientMessage::Data(..) | ClientMessage::End(_) | ClientMessage::Nothing => {}
        }
    }
}

/// Performs the work of a session. There is no ending if the client is to leave before.
async fn perform(
    work: CommandWork,
    output: &mut Output,
    input: Input,
    clock: Clock,
) -> Result<Option<SessionEnd>, Disconnection> {
    match work {
        CommandWork::Fail(why) => Ok(Some(SessionEnd::Failed(why))),
        CommandWork::Attach(follower) => {
            // An attached container reads no input.
            drop(input);
            show(follower, output).await
        }
        CommandWork::Run { program, command } => {
            let code = run(program, output, input, clock).await?;
            Ok(Some(SessionEnd::Exited { command, code }))
        }
    }
}

/// Shows the output of a container until it has ended.
async fn show(
    mut follower: LogFollower,
    output: &mut Output,
) -> Result<Option<SessionEnd>, Disconnection> {
    while let Some(lines) = follower.next_lines().await {
        for line in lines {
            let text = [&*line.text, b"\n"].concat();
            output.show(channel_of(line.stream), &text).await?;
        }
    }
    Ok((!follower.is_leaving()).then_some(SessionEnd::Shown))
}

/// Runs a program, and returns its code.
async fn run(
    mut program: Program,
    output: &mut Output,
    mut input: Input,
    clock: Clock,
) -> Result<u8, Disconnection> {
    loop {
        match program.next(clock.now()) {
            Action::Write(stream, bytes) => output.show(channel_of(stream), &bytes).await?,
            Action::CopyInput(to) => {
                while let Some(bytes) = input.read(output).await? {
                    if let Some(stream) = to {
                        output.show(channel_of(stream), &bytes).await?;
                    }
                }
            }
            Action::ReadLine { is_continued } => {
                if output.is_terminal() {
                    let prompt: &[u8] = if is_continued { b"> " } else { b"# " };
                    output.show(STDOUT, prompt).await?;
                }
                let line = input.read_line(output).await?;
                program.feed(line.as_deref());
            }
            Action::Sleep(time) => sleep(time).await,
            Action::Exit(code) => return Ok(code),
        }
    }
}
