//! The session of one page: its commands, and the state sent to it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Duration,
};

use axum::{
    body::{Body, to_bytes},
    response::{IntoResponse, Response},
};
use fakeserver_kinds::rbac::policy::Attributes;
use futures::{SinkExt, StreamExt};
use http::{StatusCode, Uri, header, request::Parts};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use super::{
    command::{Command, ControlRequest, Hello, ObjectName, View},
    objects::{OpenObject, Table},
    state::{Counts, Rate, ResourceCount, Watches},
};
use crate::{
    edge::request::Query,
    faults::{CatalogueEntry, Fault},
    server::{
        access,
        assembly::Server,
        router,
        websocket::{PATIENCE, Socket},
    },
    verbs::Requester,
};

/// The time between two states. A page that is slow to take one misses those between.
const PERIOD: Duration = Duration::from_millis(250);
/// The time limit for the token, and for the answer to the end.
const HELLO_LIMIT: Duration = Duration::from_secs(10);
/// The maximum length of an answer to a command.
const ANSWER_MAX_BYTES: usize = 64 << 10;

/// The reason why the server ends the socket of a page.
#[derive(Debug, Clone, Copy)]
enum Ending {
    TooManyPages,
    WrongToken,
}

/// A message to the page other than the state.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Reply {
    /// The faults that can be installed, first of all.
    Catalogue { faults: Vec<Entry> },
    /// The answer to a command.
    Answer {
        code: u16,
        text: String,
        warnings: Vec<String>,
    },
}

/// A fault of the catalogue.
#[derive(Debug, Serialize)]
struct Entry {
    #[serde(flatten)]
    entry: &'static CatalogueEntry,
    /// The parameters that have a default, by name.
    defaults: Value,
}

/// The message of a `Status`.
#[derive(Debug, Deserialize)]
struct StatusMessage {
    message: String,
}

/// The socket of one page.
struct Session {
    server: Weak<Server>,
    /// The request that opened the socket. Commands run as its user.
    parts: Box<Parts>,
    view: Option<View>,
    open_object: Option<ObjectName>,
    rate: Rate,
    /// The parts of the state that were sent last, by name.
    sent: BTreeMap<&'static str, String>,
}

/// Serves a page until it leaves or the server is gone.
pub(in crate::server) async fn run(mut socket: Socket, server: Weak<Server>, parts: Box<Parts>) {
    let session = Session {
        server,
        parts,
        view: None,
        open_object: None,
        rate: Rate::default(),
        sent: BTreeMap::new(),
    };
    let Some(ending) = session.run(&mut socket).await else {
        return;
    };
    let close = CloseFrame {
        code: ending.code(),
        reason: ending.reason().into(),
    };
    let ended = async {
        if socket.send(Message::Close(Some(close))).await.is_ok() {
            // The page answers with its own.
            while let Some(Ok(_)) = socket.next().await {}
        }
    };
    let _ = timeout(HELLO_LIMIT, ended).await;
}

// === impl Entry ===

impl From<Fault> for Entry {
    fn from(fault: Fault) -> Self {
        let mut spec = json!(fault);
        let defaults = spec.get_mut(fault.name()).map(Value::take);
        Self {
            entry: fault.entry(),
            defaults: defaults.unwrap_or_default(),
        }
    }
}

// === impl Ending ===

impl Ending {
    /// Returns the close code, which tells the page whether to reconnect.
    fn code(self) -> CloseCode {
        match self {
            Self::TooManyPages => CloseCode::Again,
            Self::WrongToken => CloseCode::Policy,
        }
    }

    fn reason(self) -> &'static str {
        match self {
            Self::TooManyPages => "too many pages of this server are open; close one",
            Self::WrongToken => "this is not the token of the page; the server has printed its URL",
        }
    }
}

// === impl Session ===

impl Session {
    async fn run(mut self, socket: &mut Socket) -> Option<Ending> {
        let first = timeout(HELLO_LIMIT, socket.next()).await.ok()??.ok()?;
        let server = self.server.upgrade()?;
        let page = server.page.as_ref()?;
        let hello: Option<Hello> = serde_json::from_str(first.to_text().ok()?).ok();
        if !hello.is_some_and(|hello| page.is_token(&hello.token)) {
            return Some(Ending::WrongToken);
        }
        let Some(_permit) = page.enter() else {
            return Some(Ending::TooManyPages);
        };
        drop(server);
        let faults = Fault::all().map(Entry::from).collect();
        send(socket, text(&Reply::Catalogue { faults })).await?;
        // A reconnecting page first sends its commands, so that the first state contains the objects that it showed
        // before.
        let mut ticks = interval_at(Instant::now() + PERIOD, PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let command = tokio::select! {
                received = socket.next() => match received?.ok()? {
                    Message::Close(_) => return None,
                    Message::Text(text) => Some(text),
                    _ => continue,
                },
                _ = ticks.tick() => None,
            };
            let server = self.server.upgrade()?;
            let message = match command {
                Some(command) => self.execute(&server, &command).await,
                None => self.state(&server),
            };
            drop(server);
            if let Some(message) = message {
                send(socket, message).await?;
            }
        }
    }

    /// Returns the parts of the state that have changed since they were sent, if any.
    fn state(&mut self, server: &Server) -> Option<String> {
        let counts = Counts::of(server, &mut self.rate, Instant::now());
        let backend = server.backend();
        let view = self.view.as_ref();
        let table = view.map(|view| Table::of(backend, view));
        let open_object = self.open_object.as_ref();
        let parts = [
            ("counts", text(&counts)),
            ("resources", text(&ResourceCount::all(server))),
            ("watches", text(&Watches::of(server))),
            ("faults", text(&server.api.faults.installed())),
            ("table", text(&table)),
            (
                "object",
                text(&open_object.map(|open_object| OpenObject::of(backend, open_object))),
            ),
        ];
        let mut message = r#"{"type":"state""#.to_owned();
        let mut is_changed = false;
        for (name, part) in parts {
            if self.sent.get(name) == Some(&part) {
                continue;
            }
            is_changed = true;
            for piece in [",\"", name, "\":", &part] {
                message.push_str(piece);
            }
            self.sent.insert(name, part);
        }
        message.push('}');
        is_changed.then_some(message)
    }

    /// Executes a command of the page, and returns the reply message, if there is one.
    async fn execute(&mut self, server: &Arc<Server>, command: &str) -> Option<String> {
        let answer = match serde_json::from_str(command) {
            Ok(Command::View(view)) => {
                let attributes = view.as_ref().map(View::attributes);
                let refused = self.refusal(server, attributes.as_ref());
                self.view = view.filter(|_| refused.is_none());
                refused?
            }
            Ok(Command::Object(open_object)) => {
                let attributes = open_object.as_ref().map(ObjectName::attributes);
                let refused = self.refusal(server, attributes.as_ref());
                self.open_object = open_object.filter(|_| refused.is_none());
                refused?
            }
            Ok(Command::Control(control)) => self.ask(server, control.request()).await,
            Ok(Command::Fault(spec)) => self.ask(server, ControlRequest::install(&spec)).await,
            Ok(Command::Remove(id)) => self.ask(server, ControlRequest::remove(id)).await,
            Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
        };
        Some(reply_text(answer).await)
    }

    /// Returns the rejection of a command that the user of the page may not execute.
    fn refusal(&self, server: &Server, attributes: Option<&Attributes>) -> Option<Response> {
        match access::admit(
            &server.api,
            &server.access.authorizer,
            &self.parts,
            &Query::parse(None),
        ) {
            Ok(admitted) => Requester::new(admitted.user, admitted.access)
                .wanting(attributes?)
                .refusal(&self.parts.headers),
            Err(refused) => Some(*refused),
        }
    }

    /// Sends a request as the user of the page through the router, with its authorization and logs.
    async fn ask(&self, server: &Arc<Server>, request: ControlRequest) -> Response {
        let mut parts = self.parts.clone();
        parts.method = request.method;
        parts.uri =
            Uri::try_from(request.path).expect("paths of controls have no special characters");
        let responding = router::respond(server, &parts, Body::from(request.body));
        let (response, logged) = Box::pin(responding).await;
        logged.answer(response)
    }
}

/// Sends a message. There is nothing if the page does not take it.
async fn send(socket: &mut Socket, message: String) -> Option<()> {
    let sent = timeout(PATIENCE, socket.send(Message::text(message))).await;
    sent.ok()?.ok()
}

/// Returns the reply message of a response.
async fn reply_text(answer: Response) -> String {
    let (parts, body) = answer.into_parts();
    let warnings = parts.headers.get_all(header::WARNING).iter();
    let warnings = warnings.filter_map(|value| value.to_str().ok());
    let warnings = warnings.map(str::to_owned).collect();
    let body = to_bytes(body, ANSWER_MAX_BYTES).await;
    let body = body.unwrap_or_else(|_| "the answer is too long to be shown".into());
    let message = match serde_json::from_slice::<StatusMessage>(&body) {
        Ok(status) => status.message,
        Err(_) => String::from_utf8_lossy(&body).into_owned(),
    };
    text(&Reply::Answer {
        code: parts.status.as_u16(),
        text: message,
        warnings,
    })
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("parts of the state are JSON")
}
