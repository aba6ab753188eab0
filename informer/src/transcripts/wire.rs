//! A server that holds each request until a command answers it, in the words of the wire.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    sync::{Arc, Mutex, MutexGuard},
};

use bytes::Bytes;
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use http::{Request, Response, StatusCode, header};
use http_body::Frame;
use http_body_util::StreamBody;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::{Command, Outcome, clock::Journal};

type Part = Result<Frame<Bytes>, io::Error>;
type Answer = Response<StreamBody<BoxStream<'static, Part>>>;

/// The server, as the commands see it. Clones are the same server.
#[derive(Clone)]
pub(super) struct Wire {
    journal: Journal,
    held: Arc<Mutex<HeldRequests>>,
}

/// A request that waits for a command.
#[derive(Default)]
struct HeldRequests {
    requests: VecDeque<oneshot::Sender<Result<Answer, io::Error>>>,
    stream: Option<mpsc::UnboundedSender<Part>>,
}

// === impl Wire ===

impl Wire {
    pub(super) fn new(journal: &Journal) -> Self {
        Self {
            journal: journal.clone(),
            held: Arc::default(),
        }
    }

    /// A client of this server.
    pub(super) fn client(&self) -> kube::Client {
        let wire = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (answer, answered) = oneshot::channel();
            wire.journal.note(in_short(request.uri()));
            wire.held().requests.push_back(answer);
            async move { answered.await.unwrap_or_else(|_| Err(reset())) }
        });
        kube::Client::new(service, "default")
    }

    /// Does what `command` says, if it is one to a server. On a clock.
    pub(super) fn run(&self, command: &mut Command<'_>) -> Outcome<bool> {
        match command.name() {
            "respond" => {
                let body = match &command.lines()[..] {
                    [raw] if raw.starts_with('{') => raw.clone(),
                    items => list(command, items)?.to_string(),
                };
                self.answer(whole(StatusCode::OK, body))?;
            }
            "status" => {
                let status = status(command)?;
                self.answer(status)?;
            }
            "open" => {
                let (stream, answer) = streaming();
                self.answer(answer)?;
                self.held().stream = Some(stream);
            }
            "refuse" => self.fail(io::ErrorKind::ConnectionRefused)?,
            "break" if self.has_request() => self.fail(io::ErrorKind::ConnectionReset)?,
            "break" => self.stream()?.send(Err(reset())).map_err(gone)?,
            "events" => {
                for line in command.lines() {
                    self.send(format!("{}\n", frame(&line)?))?;
                }
            }
            "cut" => {
                let frame = frame(&command.lines().join(" "))?;
                self.send(frame[..frame.len() / 2].to_owned())?;
                let stream = self.stream()?;
                if command.flag("broken")? {
                    stream.send(Err(reset())).map_err(gone)?;
                }
            }
            "close" => drop(self.stream()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn answer(&self, answer: Answer) -> Outcome<()> {
        drop(self.request()?.send(Ok(answer)));
        Ok(())
    }

    fn fail(&self, kind: io::ErrorKind) -> Outcome<()> {
        drop(self.request()?.send(Err(kind.into())));
        Ok(())
    }

    /// Takes the request that waits.
    fn request(&self) -> Outcome<oneshot::Sender<Result<Answer, io::Error>>> {
        let mut held = self.held();
        held.requests.retain(|request| !request.is_closed());
        held.requests
            .pop_front()
            .ok_or_else(|| "no request waits".to_owned())
    }

    fn has_request(&self) -> bool {
        let held = self.held();
        held.requests.iter().any(|request| !request.is_closed())
    }

    /// Takes the stream that is open.
    fn stream(&self) -> Outcome<mpsc::UnboundedSender<Part>> {
        let stream = self.held().stream.take();
        stream
            .filter(|stream| !stream.is_closed())
            .ok_or_else(|| "no stream is open".to_owned())
    }

    fn send(&self, text: String) -> Outcome<()> {
        let stream = self.stream()?;
        let frame = Frame::data(Bytes::from(text));
        stream.send(Ok(frame)).map_err(gone)?;
        self.held().stream = Some(stream);
        Ok(())
    }

    fn held(&self) -> MutexGuard<'_, HeldRequests> {
        let held = self.held.lock();
        held.expect("nothing panics while it holds the requests")
    }
}

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

fn gone<E>(_: E) -> String {
    "nobody reads the stream".to_owned()
}

/// A body that is fed by hand.
fn streaming() -> (mpsc::UnboundedSender<Part>, Answer) {
    let (sender, mut parts) = mpsc::unbounded_channel();
    let body = stream::poll_fn(move |cx| parts.poll_recv(cx)).boxed();
    (sender, Response::new(StreamBody::new(body)))
}

fn whole(code: StatusCode, body: String) -> Answer {
    let part = Ok(Frame::data(Bytes::from(body)));
    let body = stream::iter([part]).boxed();
    let mut answer = Response::new(StreamBody::new(body));
    *answer.status_mut() = code;
    answer
}

/// A request in short, as in `LIST "0" limit 500`, `STREAM "7"`, or `WATCH "7"`.
fn in_short(uri: &http::Uri) -> String {
    let query = uri.query().unwrap_or_default();
    let query: BTreeMap<_, _> = form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let value = |name: &str| query.get(name).map_or("", String::as_str);
    let version = value("resourceVersion");
    if !value("sendInitialEvents").is_empty() {
        return format!("STREAM {version:?}");
    }
    if !value("watch").is_empty() {
        return format!("WATCH {version:?}");
    }
    let mut text = match value("continue") {
        "" => format!("LIST {version:?}"),
        token => format!("LIST continue {token}"),
    };
    for (name, prefix) in [("resourceVersionMatch", ""), ("limit", "limit ")] {
        if !value(name).is_empty() {
            text = format!("{text} {prefix}{}", value(name));
        }
    }
    text
}

/// `respond VERSION [more=TOKEN]` and the items.
fn list(command: &mut Command<'_>, items: &[String]) -> Outcome<Value> {
    let mut metadata = json!({"resourceVersion": command.word()?});
    if let Some(token) = command.value::<String>("more")? {
        metadata["continue"] = token.into();
    }
    let items: Vec<Value> = items.iter().map(|line| config_map(line)).collect();
    Ok(json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": metadata, "items": items}))
}

/// `status CODE [reason=R] [cause=C] [retry-after=SECONDS]` and the message.
fn status(command: &mut Command<'_>) -> Outcome<Answer> {
    let reason = command.value::<String>("reason")?.unwrap_or_default();
    let cause = command.value::<String>("cause")?;
    let retry_after = command.time("retry-after")?;
    let code = command.word()?;
    let code: StatusCode = code
        .parse()
        .map_err(|_| format!("{code} is no status code"))?;
    let message = command.lines().join(" ");
    let body = failure(code.as_u16(), &reason, &message, cause.as_deref());
    let mut answer = whole(code, body.to_string());
    if let Some(time) = retry_after {
        let headers = answer.headers_mut();
        headers.insert(header::RETRY_AFTER, time.as_secs().into());
    }
    Ok(answer)
}

fn failure(code: u16, reason: &str, message: &str, cause: Option<&str>) -> Value {
    let causes: Vec<Value> = cause.iter().map(|cause| json!({"reason": cause})).collect();
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": message, "details": {"causes": causes},
    })
}

/// One frame of a watch: `TYPE OBJECT`, `BOOKMARK VERSION [end]`, `ERROR CODE REASON MESSAGE`, or plain JSON.
fn frame(line: &str) -> Outcome {
    if line.starts_with('{') {
        return Ok(line.to_owned());
    }
    let (kind, rest) = line
        .split_once(' ')
        .ok_or_else(|| format!("{line} is no event"))?;
    let object = match kind {
        "BOOKMARK" => bookmark(rest),
        "ERROR" => {
            let mut words = rest.splitn(3, ' ');
            let mut next = || words.next().unwrap_or_default();
            let code = next().parse().map_err(|_| format!("{line} has no code"))?;
            failure(code, next(), next(), None)
        }
        _ => config_map(rest),
    };
    Ok(json!({"type": kind, "object": object}).to_string())
}

fn bookmark(text: &str) -> Value {
    let (version, is_end) = match text.split_once(' ') {
        Some((version, _)) => (version, true),
        None => (text, false),
    };
    let mut metadata = json!({"resourceVersion": version});
    if is_end {
        metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata})
}

/// `a/x@5#uid` and the words of its text; the uid is the key if none is written. After `undecodable`, the data are not what
/// the data of a config map are.
fn config_map(line: &str) -> Value {
    let (object, text) = line.split_once(' ').unwrap_or((line, ""));
    let (identity, uid) = object.split_once('#').unwrap_or((object, ""));
    let (key, version) = identity.split_once('@').unwrap_or((identity, ""));
    let (namespace, name) = key.split_once('/').unwrap_or(("default", key));
    let uid = if uid.is_empty() { key } else { uid };
    let data = match text {
        "undecodable" => json!(5),
        text => json!({"text": text}),
    };
    json!({
        "kind": "ConfigMap", "apiVersion": "v1", "data": data,
        "metadata": {"namespace": namespace, "name": name, "uid": uid, "resourceVersion": version},
    })
}
