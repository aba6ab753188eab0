//! The server that transcripts are played against: in process, or remote.

use std::{io, time::Duration};

use axum::body::Body;
use fakeserver::FakeServer;
use http::Response;
use http_body_util::Limited;
use thiserror::Error;
use tokio::{process::Command, time::timeout};

use crate::call::{self, Answer};

/// The default time for an answer: longer than any wait of a real server.
const PATIENCE: Duration = Duration::from_secs(30);
/// The maximal size of an answer, or of all events of a watch.
const BODY_SIZE_BYTES_MAX: usize = 64 << 20;

/// A server and the time for its answers.
///
/// A clone reaches the same server, over the same connections.
#[derive(Clone, Debug)]
pub struct Endpoint {
    way: Connection,
    patience: Duration,
    control_command: Option<String>,
}

/// The failure of a request.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The request is malformed: its method, path or a header. Correct the transcript.
    #[error("no request")]
    Request(#[from] http::Error),
    /// The server was not reached, or the connection broke off. A retry may help.
    #[error("no answer")]
    Unreached(#[source] Box<kube::Error>),
    /// The server did not answer, or did not complete its answer, in time. A retry may help.
    #[error("no answer within {} s", .0.as_secs_f64())]
    TooSlow(Duration),
}

/// The failure of a control, which is an action that the API does not offer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The server has no such control: it is no fake one. A command may stand in for it; see
    /// [`Endpoint::with_control_command`].
    #[error("the server has no /_control/{control}: it answered {status}")]
    Unknown {
        /// The name of the control.
        control: String,
        /// The status of the answer.
        status: u16,
    },
    /// The request failed.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The command could not be run, or did not exit in time.
    #[error("cannot run {command}")]
    Command {
        /// The command.
        command: String,
        /// The failure.
        #[source]
        source: io::Error,
    },
    /// The command failed.
    #[error("{command} failed: {status}")]
    Failed {
        /// The command.
        command: String,
        /// The exit status.
        status: std::process::ExitStatus,
    },
}

#[derive(Clone)]
enum Connection {
    InProcess(axum::Router, FakeServer),
    Remote(kube::Client),
}

// === impl Endpoint ===

impl Endpoint {
    /// Reaches a fake server in process: without sockets, so that the clock may be paused.
    pub fn in_process(server: &FakeServer) -> Self {
        Self::new(Connection::InProcess(server.router(), server.clone()))
    }

    /// Reaches the server of a client, which must not retry by itself: a transcript has one answer a request.
    pub fn remote(client: kube::Client) -> Self {
        Self::new(Connection::Remote(client))
    }

    fn new(way: Connection) -> Self {
        Self {
            way,
            patience: PATIENCE,
            control_command: None,
        }
    }

    setters! {
        /// Limits the time for an answer, to its end; 30 s by default.
        with_patience(patience: Duration) |this| this.patience = patience;
        /// Runs `command` with the name of a control as its argument, in place of POST `/_control/NAME`.
        ///
        /// For example, `expire` has to make the server forget its history, so that older versions are answered with 410.
        with_control_command(command: impl Into<String>) |this| this.control_command = Some(command.into());
    }

    /// Returns the version of `kube-apiserver`, if the server has one.
    ///
    /// # Errors
    ///
    /// The server was not reached: a retry may help. Answers of any status are fine.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn version(&self) -> Result<Option<String>, EndpointError> {
        let answer = self.ask("GET", "/version", &[], Vec::new()).await?;
        let version: Option<serde_json::Value> = serde_json::from_slice(&answer.body).ok();
        let version = version.and_then(|version| version["gitVersion"].as_str().map(str::to_owned));
        Ok(version)
    }

    /// Waits until the controllers of a server in process have done what is due, for 30 s at most: between requests over a
    /// connection they have the time for that.
    pub(crate) async fn settle(&self) {
        if let Connection::InProcess(_, server) = &self.way
            && let Err(error) = server.ready().await
        {
            tracing::warn!(%error, "the server in process is not at rest");
        }
    }

    /// Sends a request and returns the whole answer. A body that breaks off counts as far as it has arrived.
    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Result<Answer, EndpointError> {
        let exchange = async {
            let response = self.send(method, path, headers, body).await?;
            Ok(call::read(response).await)
        };
        let answered = timeout(self.patience, exchange).await;
        answered.unwrap_or(Err(EndpointError::TooSlow(self.patience)))
    }

    /// Sends a request and returns the answer as soon as its headers have arrived.
    pub(super) async fn open(
        &self,
        path: &str,
        headers: &[(String, String)],
    ) -> Result<Response<Body>, EndpointError> {
        let opened = timeout(self.patience, self.send("GET", path, headers, Vec::new())).await;
        opened.unwrap_or(Err(EndpointError::TooSlow(self.patience)))
    }

    /// Reads an answer to its end.
    pub(super) async fn read(&self, response: Response<Body>) -> Result<Answer, EndpointError> {
        let read = timeout(self.patience, call::read(response)).await;
        read.map_err(|_| EndpointError::TooSlow(self.patience))
    }

    /// Performs a control.
    pub(super) async fn control(&self, control: &str) -> Result<(), ControlError> {
        if let Some(command) = &self.control_command {
            return self.run(command, control).await;
        }
        let path = format!("/_control/{control}");
        let answer = self.ask("POST", &path, &[], Vec::new()).await?;
        if answer.status < 300 {
            return Ok(());
        }
        Err(ControlError::Unknown {
            control: control.to_owned(),
            status: answer.status,
        })
    }

    async fn run(&self, command: &str, control: &str) -> Result<(), ControlError> {
        let failed = |source| ControlError::Command {
            command: command.to_owned(),
            source,
        };
        let mut child = Command::new(command);
        // Its output is for people, and standard output may be a report.
        let output = child.arg(control).kill_on_drop(true).output();
        let output = timeout(self.patience, output).await;
        let output = output.unwrap_or(Err(io::ErrorKind::TimedOut.into()));
        let status = output.map_err(failed)?.status;
        if status.success() {
            return Ok(());
        }
        Err(ControlError::Failed {
            command: command.to_owned(),
            status,
        })
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Result<Response<Body>, EndpointError> {
        let request = call::request(method, path, headers, body)?;
        match &self.way {
            Connection::InProcess(router, _) => Ok(call::send(router, request).await),
            Connection::Remote(client) => {
                let request = request.map(kube::client::Body::from);
                let response = client.send(request).await;
                let response = response.map_err(|error| EndpointError::Unreached(Box::new(error)));
                Ok(response?.map(|body| Body::new(Limited::new(body, BODY_SIZE_BYTES_MAX))))
            }
        }
    }
}

// === impl Connection ===

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InProcess(..) => f.write_str("InProcess"),
            Self::Remote(_) => f.write_str("Remote"),
        }
    }
}
