//! Plays the requests of a transcript against a server in process.

use std::{collections::BTreeMap, time::Duration};

use axum::body::Body;
use fakeserver::FakeServer;
use http::Response;
use http_body_util::BodyExt;
use regex::{Captures, Regex};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};

use super::{
    normalise::Normaliser,
    transcript::{Action, Collect, Send, Step},
};
use crate::call::{self, Answer};

/// How long after the last wanted event one too many is waited for.
const LINGER: Duration = Duration::from_millis(150);
/// How long a watch is left alone after it was opened, so that what follows happens after it.
const SETTLE: Duration = Duration::from_millis(50);
/// How often a request that may fail at first is repeated.
const RETRY: Duration = Duration::from_millis(250);
/// The headers that are compared beside the content type.
const HEADERS: [&str; 5] = [
    "warning",
    "retry-after",
    "allow",
    "www-authenticate",
    "location",
];

/// What a server answered to one step; `None` where there is nothing to answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Played {
    /// The name of the step.
    pub id: String,
    /// The normalised answer.
    pub response: Option<Value>,
}

/// Plays `steps` against `server`, which must not have seen them.
///
/// Times pass on tokio's clock: on a paused one, nothing is waited for.
///
/// # Cancel safety
///
/// If dropped, the watches that were opened are closed, and the server keeps what was written.
pub async fn play(server: &FakeServer, steps: &[Step]) -> Vec<Played> {
    let mut player = Player {
        router: server.router(),
        normaliser: Normaliser::new(),
        variables: BTreeMap::new(),
        watches: BTreeMap::new(),
        tasks: JoinSet::new(),
    };
    let mut answers = Vec::with_capacity(steps.len());
    for step in steps {
        answers.push(Played {
            id: step.id.clone(),
            response: player.step(&step.request.action).await,
        });
    }
    answers
}

struct Player {
    router: axum::Router,
    normaliser: Normaliser,
    variables: BTreeMap<String, String>,
    watches: BTreeMap<String, OpenWatch>,
    /// One task a watch: a body is only driven while somebody reads it.
    tasks: JoinSet<()>,
}

struct OpenWatch {
    brought: watch::Receiver<Brought>,
    collected_count: usize,
}

#[derive(Default)]
struct Brought {
    lines: Vec<Vec<u8>>,
    is_closed: bool,
}

// === impl Player ===

impl Player {
    async fn step(&mut self, action: &Action) -> Option<Value> {
        match action {
            Action::Control { control } => {
                let path = format!("/_control/{control}");
                let response = call::open(&self.router, "POST", &path, &[], Vec::new()).await;
                call::read(response).await;
                None
            }
            Action::Sleep { sleep: seconds } => {
                sleep(Duration::from_secs_f64(*seconds)).await;
                None
            }
            Action::Collect(collect) => Some(self.collect(collect).await),
            Action::Open {
                open,
                path,
                headers,
            } => Some(self.open(open, path, headers).await),
            Action::Send(send) => Some(self.send(send).await),
        }
    }

    async fn open(
        &mut self,
        name: &str,
        path: &str,
        headers: &BTreeMap<String, Option<String>>,
    ) -> Value {
        let headers = self.headers(headers, false);
        let path = self.fill(path);
        let response = call::open(&self.router, "GET", &path, &headers, Vec::new()).await;
        let kind = response.headers().get("content-type");
        let kind = kind
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let mut answer = json!({"status": response.status().as_u16(), "type": kind});
        let (sender, brought) = watch::channel(Brought::default());
        if response.status() == 200 {
            self.tasks.spawn(read_lines(response, sender));
        } else {
            let body = call::read(response).await;
            answer["body"] = self.normaliser.value(&body_of(&body));
        }
        let opened = OpenWatch {
            brought,
            collected_count: 0,
        };
        self.watches.insert(name.to_owned(), opened);
        sleep(SETTLE).await;
        answer
    }

    async fn collect(&mut self, collect: &Collect) -> Value {
        let Some(open) = self.watches.get_mut(&collect.watch) else {
            return json!({"missing": true});
        };
        let end = Instant::now() + Duration::from_secs_f64(collect.wait);
        let wanted = collect.events.map(|count| open.collected_count + count);
        let enough = |brought: &Brought| {
            brought.is_closed || wanted.is_some_and(|count| brought.lines.len() >= count)
        };
        // An end of the time limit or of the reader is an answer too: what came so far.
        let _ = timeout_at(end, open.brought.wait_for(enough)).await;
        if wanted.is_some() {
            sleep(LINGER).await;
        }
        let (mut events, is_closed) = {
            let brought = open.brought.borrow();
            let new = &brought.lines[open.collected_count..];
            (
                new.iter().map(|line| parsed(line)).collect::<Vec<_>>(),
                brought.is_closed,
            )
        };
        open.collected_count += events.len();
        self.save(&collect.save, &Value::Array(events.clone()));
        if !collect.bookmarks {
            events.retain(|event| event["type"] != "BOOKMARK" || ends_initial_events(event));
        }
        if collect.sorted {
            events.sort_by_key(sort_key);
        }
        json!({"events": self.normaliser.value(&Value::Array(events)), "closed": is_closed})
    }

    async fn send(&mut self, send: &Send) -> Value {
        let body = match (&send.raw, &send.body) {
            (Some(raw), _) => Some(self.fill(raw).into_bytes()),
            (None, Some(body)) => Some(self.fill_value(body).to_string().into_bytes()),
            (None, None) => None,
        };
        let headers = self.headers(&send.headers, body.is_some());
        let path = self.fill(&send.path);
        let end = Instant::now() + Duration::from_secs_f64(send.until);
        let answer = loop {
            let body = body.clone().unwrap_or_default();
            let response = call::open(&self.router, &send.method, &path, &headers, body).await;
            let answer = call::read(response).await;
            if answer.status < 400 || Instant::now() >= end {
                break answer;
            }
            sleep(RETRY).await;
        };
        let body = body_of(&answer);
        self.save(&send.save, &body);
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
        response
    }

    /// The request's headers: the player's own, changed as the step says.
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
                Some(value) => headers.insert(name.to_lowercase(), self.fill(value)),
                None => headers.remove(&name.to_lowercase()),
            };
        }
        headers.into_iter().collect()
    }

    fn save(&mut self, wanted: &BTreeMap<String, String>, from: &Value) {
        for (variable, path) in wanted {
            let value = match dig(from, path) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => "<none>".to_owned(),
            };
            self.variables.insert(variable.clone(), value);
        }
    }

    /// Puts saved values in place of `${name}`, `${name+N}` and `${name-1}`.
    fn fill(&self, text: &str) -> String {
        let reference = Regex::new(r"\$\{([^}]+)\}").expect("the pattern is a constant");
        let filled = reference.replace_all(text, |found: &Captures<'_>| {
            let (name, offset) = match found[1].split_once('+') {
                Some((name, offset)) => (name, offset.parse().expect("a number after +")),
                None => match found[1].strip_suffix("-1") {
                    Some(name) => (name, -1),
                    None => (&found[1], 0),
                },
            };
            match self.variables.get(name) {
                None => format!("<unset:{name}>"),
                Some(value) if offset == 0 => value.clone(),
                // What a failed step did not save is no number; the difference shows where.
                Some(value) => match value.parse::<i64>() {
                    Ok(number) => (number + offset).to_string(),
                    Err(_) => value.clone(),
                },
            }
        });
        filled.into_owned()
    }

    fn fill_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.fill_value(item)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| (self.fill(key), self.fill_value(value)))
                .collect(),
            other => other.clone(),
        }
    }
}

/// Keeps the lines of a watch for whoever collects them.
async fn read_lines(response: Response<Body>, brought: watch::Sender<Brought>) {
    let mut body = response.into_body();
    let mut rest = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(data) = frame.into_data() else {
            continue;
        };
        rest.extend_from_slice(&data);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = rest.drain(..=end).collect();
            brought.send_modify(|brought| brought.lines.push(line));
        }
    }
    brought.send_modify(|brought| {
        if !rest.is_empty() {
            brought.lines.push(rest);
        }
        brought.is_closed = true;
    });
}

fn body_of(answer: &Answer) -> Value {
    let kind = answer.header("content-type");
    if kind.contains("json") {
        parsed(&answer.body)
    } else if kind.contains("protobuf") {
        json!("<protobuf>")
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

/// The value at a path like `items[0].metadata.name`.
fn dig<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split(['.', '[', ']'])
        .filter(|part| !part.is_empty())
        .try_fold(value, |value, part| match value {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?),
            other => other.get(part),
        })
}
