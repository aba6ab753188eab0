//! A client's connection with a container, before the client's connection is upgraded.

use super::{command::Program, follower::LogFollower};

/// A connection with a container, and what happens on it.
pub(crate) struct Session {
    pub(crate) work: SessionWork,
    /// The log whose end is that of the session; none if it ends by itself.
    pub(crate) life: Option<LogFollower>,
}

/// The work of a session.
pub(crate) enum SessionWork {
    Command(CommandSession),
    /// Connects with ports of a pod.
    Forward(ForwardTarget),
}

/// A session with standard streams.
pub(crate) struct CommandSession {
    pub(crate) work: CommandWork,
    pub(crate) has_stdin: bool,
    /// True if both outputs are one stream, as of a terminal.
    pub(crate) is_terminal: bool,
}

/// The work of a session with standard streams.
pub(crate) enum CommandWork {
    /// Runs a command, which stands in messages as it does here.
    Run { program: Program, command: String },
    /// Shows the output of the container.
    Attach(LogFollower),
    /// Ends with this error.
    Fail(String),
}

/// The pod with whose ports a client is connected.
#[derive(Clone, Debug)]
pub(crate) struct ForwardTarget {
    /// The ports, unless the protocol names them.
    pub(crate) ports: Vec<u16>,
    /// The pod as errors name it.
    pub(crate) name: String,
    pub(crate) uid: String,
    /// The address that stands for the pod, or the reason why it has none.
    pub(crate) address: Result<String, String>,
}
