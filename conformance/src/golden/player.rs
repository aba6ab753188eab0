//! Plays the requests of a transcript against a server.

use std::{collections::BTreeMap, time::Duration};

use axum::body::Body;
use http::Response;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout_at},
};

use super::{
    endpoint::{ControlError, Endpoint, EndpointError},
    normalise::Normaliser,
    transcript::{Action, Collect, Send, Step},
    variables::Variables,
};
use crate::{
    call::{Answer, whole},
    task::TaskSet,
};

/// The time after the last expected event in which a surplus one would arrive.
const LINGER: Duration = Duration::from_millis(150);
/// The pause after the opening of a watch, so that later steps happen after it.
const SETTLE: Duration = Duration::from_millis(50);
/// The pause before a retry of a request that may fail at first.
const RETRY: Duration = Duration::from_millis(250);
/// The number of consecutive requests without an answer after which the server counts as lost.
const UNANSWERED_COUNT_MAX: usize = 3;
/// The headers that are compared, besides the content type.
const HEADERS: [&str; 5] = [
    "warning",
    "retry-after",
    "allow",
    "www-authenticate",
    "location",
];

/// A server's answer to one step; `None` if the step has none.
///
/// A request without an answer becomes an object with the single field `failed`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlayedStep {
    /// The name of the step.
    pub id: String,
    /// The normalised answer.
    pub response: Option<Value>,
}

/// The answers to a transcript.
#[derive(Debug)]
#[non_exhaustive]
pub struct Playback {
    /// The steps that were played, in order.
    pub played: Vec<PlayedStep>,
    /// The reason why the rest was not played, if there is a rest.
    pub stopped: Option<PlayError>,
}

/// The reason why a transcript was not played to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// A control failed on which the rest depends.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Several requests in a row had no answer. The server may be gone.
    #[error("{UNANSWERED_COUNT_MAX} requests in a row were not answered")]
    Unanswered(#[source] EndpointError),
}

/// Plays `steps` against a server that has not seen them yet; `watch` sees each as it is played.
///
/// Times pass on tokio's clock; a paused one skips all waits. Every wait has a limit: that of a step, and that of the
/// endpoint for an answer.
///
/// # Cancel safety
///
/// Watches are closed, and the server keeps its objects.
///
/// # Memory
///
/// Holds all answers, and all events of each watch.
pub async fn play(
    endpoint: &Endpoint,
    steps: &[Step],
    mut watch: impl FnMut(&PlayedStep),
) -> Playback {
    let mut session = Player::new(endpoint.clone());
    let mut playback = Playback {
        played: Vec::with_capacity(steps.len()),
        stopped: None,
    };
    for step in steps {
        let response = match session.step(&step.request.action).await {
            Ok(response) => response,
            Err(stopped) => {
                playback.stopped = Some(stopped);
                break;
            }
        };
        let answered = PlayedStep {
            id: step.id.clone(),
            response,
        };
        watch(&answered);
        playback.played.push(answered);
    }
    playback
}

struct Player {
    endpoint: Endpoint,
    normaliser: Normaliser,
    variables: Variables,
    watches: BTreeMap<String, OpenWatch>,
    /// One task a watch: a body makes progress only while it is read.
    tasks: TaskSet,
    unanswered_count: usize,
}

struct OpenWatch {
    collected: watch::Receiver<CollectedLines>,
    collected_count: usize,
}

#[derive(Default)]
struct CollectedLines {
    lines: Vec<Vec<u8>>,
    is_closed: bool,
}

// === impl PlayedStep ===

impl PlayedStep {
    /// Returns true if a request of this step had no answer.
    pub fn has_failed(&self) -> bool {
        let response = self.response.as_ref();
        response.is_some_and(|response| response.get("failed").is_some())
    }
}

// === impl Player ===

impl Player {
    fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            normaliser: Normaliser::new(),
            variables: Variables::default(),
            watches: BTreeMap::new(),
            tasks: TaskSet::new(),
            unanswered_count: 0,
        }
    }

    async fn step(&mut self, action: &Action) -> Result<Option<Value>, PlayError> {
        let answered = match action {
            Action::Control { control } => {
                self.endpoint.control(control).await?;
                return Ok(None);
            }
            Action::Sleep { sleep: seconds } => {
                sleep(duration(*seconds)).await;
                return Ok(None);
            }
            Action::Collect(collect) => return Ok(Some(self.collect(collect).await)),
            Action::Open {
                open,
                path,
                headers,
            } => self.open(open, path, headers).await,
            Action::Send(send) => self.send(send).await,
        };
        match answered {
            Ok(answer) => {
                self.unanswered_count = 0;
                Ok(Some(answer))
            }
            Err(error) => {
                self.unanswered_count += 1;
                if self.unanswered_count == UNANSWERED_COUNT_MAX {
                    return Err(PlayError::Unanswered(error));
                }
                Ok(Some(json!({"failed": whole(&error)})))
            }
        }
    }

    async fn open(
        &mut self,
        name: &str,
        path: &str,
        headers: &BTreeMap<String, Option<String>>,
    ) -> Result<Value, EndpointError> {
        let headers = self.headers(headers, false);
        let path = self.variables.fill(path);
        let response = self.endpoint.open(&path, &headers).await?;
        let kind = response.headers().get("content-type");
        let kind = kind
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let mut answer = json!({"status": response.status().as_u16(), "type": kind});
        let (sender, collected) = watch::channel(CollectedLines::default());
        if response.status() == 200 {
            self.tasks.spawn(read_lines(response, sender));
        } else {
            let body = self.endpoint.read(response).await?;
            answer["body"] = self.normaliser.value(&body_of(&body));
        }
        let opened = OpenWatch {
            collected,
            collected_count: 0,
        };
        self.watches.insert(name.to_owned(), opened);
        sleep(SETTLE).await;
        Ok(answer)
    }

    async fn collect(&mut self, collect: &Collect) -> Value {
        let Some(open) = self.watches.get_mut(&collect.watch) else {
            return json!({"missing": true});
        };
        let end = Instant::now() + duration(collect.wait);
        let wanted = collect.events.map(|count| open.collected_count + count);
        let enough = |collected: &CollectedLines| {
            collected.is_closed || wanted.is_some_and(|count| collected.lines.len() >= count)
        };
        // The end of the time limit or of the reader is an answer too: the events so far.
        let _ = timeout_at(end, open.collected.wait_for(enough)).await;
        if wanted.is_some() {
            sleep(LINGER).await;
        }
        let (mut events, is_closed) = {
            let collected = open.collected.borrow();
            let new = &collected.lines[open.collected_count..];
            (
                new.iter().map(|line| parsed(line)).collect::<Vec<_>>(),
                collected.is_closed,
            )
        };
        open.collected_count += events.len();
        // All events are there for variables, those included that are not compared.
        self.variables
            .save(&collect.save, &Value::Array(events.clone()));
        if !collect.bookmarks {
            events.retain(|event| event["type"] != "BOOKMARK" || ends_initial_events(event));
        }
        if collect.sorted {
            events.sort_by_key(sort_key);
        }
        json!({"events": self.normaliser.value(&Value::Array(events)), "closed": is_closed})
    }

    async fn send(&mut self, send: &Send) -> Result<Value, EndpointError> {
        let body = match (&send.raw, &send.body) {
            (Some(raw), _) => Some(self.variables.fill(raw).into_bytes()),
            (None, Some(body)) => Some(self.variables.fill_value(body).to_string().into_bytes()),
            (None, None) => None,
        };
        let headers = self.headers(&send.headers, body.is_some());
        let path = self.variables.fill(&send.path);
        let end = Instant::now() + duration(send.until);
        let answer = loop {
            let body = body.clone().unwrap_or_default();
            let outcome = self.endpoint.ask(&send.method, &path, &headers, body).await;
            let answer = outcome?;
            if answer.status < 400 || Instant::now() >= end {
                break answer;
            }
            sleep(RETRY).await;
        };
        let body = body_of(&answer);
        self.variables.save(&send.save, &body);
        let mut response = json!({"status": answer.status, "type": answer.header("content-type")});
        for name in HEADERS {
            let value = match answer.header(name) {
                "" => continue,
                _ if name == "retry-after" => "<secs>".to_owned(),
                value => self.normaliser.text(value),
            };
            response["headers"][name] = json!(value);
        }
        response["body"] = self.normaliser.value(&body);
        Ok(response)
    }

    /// Returns the request's headers: the defaults with the changes of the step.
    fn headers(
        &self,
        step: &BTreeMap<String, Option<String>>,
        has_body: bool,
    ) -> Vec<(String, String)> {
        let mut headers = BTreeMap::from([("accept".to_owned(), "application/json".to_owned())]);
        if has_body {
            headers.insert("content-type".to_owned(), "application/json".to_owned());
        }
        for (name, value) in step {
            match value {
                Some(value) => headers.insert(name.to_lowercase(), self.variables.fill(value)),
                None => headers.remove(&name.to_lowercase()),
            };
        }
        headers.into_iter().collect()
    }
}

/// Collects the lines of a watch.
async fn read_lines(response: Response<Body>, collected: watch::Sender<CollectedLines>) {
    let mut body = response.into_body();
    let mut rest = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else {
            continue;
        };
        rest.extend_from_slice(&data);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = rest.drain(..=end).collect();
            collected.send_modify(|collected| collected.lines.push(line));
        }
    }
    collected.send_modify(|collected| {
        if !rest.is_empty() {
            collected.lines.push(rest);
        }
        collected.is_closed = true;
    });
}

/// Converts a transcript's seconds; an hour at most.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.min(3_600.0)).unwrap_or_default()
}

fn body_of(answer: &Answer) -> Value {
    let kind = answer.header("content-type");
    if kind.contains("json") {
        parsed(&answer.body)
    } else if kind.contains("protobuf") {
        let magic = answer.body.get(..4).unwrap_or_default();
        let magic = magic
            .iter()
            .fold(0_u32, |magic, byte| (magic << 8) | u32::from(*byte));
        json!(format!("<protobuf {magic:08x}>"))
    } else {
        json!(String::from_utf8_lossy(&answer.body))
    }
}

fn parsed(text: &[u8]) -> Value {
    serde_json::from_slice(text)
        .unwrap_or_else(|_| json!({"<notjson>": String::from_utf8_lossy(text)}))
}

fn ends_initial_events(event: &Value) -> bool {
    let annotations = &event["object"]["metadata"]["annotations"];
    annotations["k8s.io/initial-events-end"].is_string()
}

fn sort_key(event: &Value) -> [String; 3] {
    let metadata = &event["object"]["metadata"];
    [&event["type"], &metadata["namespace"], &metadata["name"]]
        .map(|value| value.as_str().unwrap_or_default().to_owned())
}
