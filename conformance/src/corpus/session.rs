//! Plays the requests of a corpus against a server.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use thiserror::Error;
use tokio::time::{Instant, sleep};

use super::request::{Body, Request, SetUp};
use crate::{
    call::Answer,
    golden::{Endpoint, EndpointError, replaced},
};

/// The time in which a request of the set-up has to succeed, if it may fail at first, and the pause before a retry.
const UNTIL: Duration = Duration::from_secs(15);
const RETRY: Duration = Duration::from_millis(100);
/// The number of characters of an answer without JSON that are compared.
const TEXT_LENGTH_MAX: usize = 3_000;
/// The name of the client, which is also the field manager of objects in the set-up.
const USER_AGENT: &str = "corpus/1";

/// The play of a corpus against one server, which knows the objects of the set-up.
#[derive(Clone, Debug)]
pub struct Session {
    endpoint: Endpoint,
    /// Versions and uids, by their references.
    variables: BTreeMap<String, String>,
    /// The paths of the objects in the set-up, by their keys.
    paths: BTreeMap<String, String>,
}

/// The failure of a request of the set-up.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetUpError {
    /// The server was not reached. A retry may help.
    #[error("no answer to {request}")]
    Unanswered {
        /// The request, in a line.
        request: String,
        /// The failure.
        #[source]
        source: EndpointError,
    },
    /// The server rejected the request; `is_unauthorized` tells whether any other would do better.
    #[error("{request}: {status} {message}")]
    Rejected {
        /// The request, in a line.
        request: String,
        /// The status of the answer.
        status: u64,
        /// The message of the answer.
        message: String,
    },
}

// === impl SetUpError ===

impl SetUpError {
    /// Returns true if the server answers no request of this client.
    pub fn is_fatal(&self) -> bool {
        match self {
            Self::Unanswered { .. } => true,
            Self::Rejected { status, .. } => [401, 403].contains(status),
        }
    }
}

// === impl Session ===

impl Session {
    /// Creates a session with the server of an endpoint.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            variables: BTreeMap::new(),
            paths: BTreeMap::new(),
        }
    }

    /// Makes an object of the set-up, or reads it if it exists.
    ///
    /// # Errors
    ///
    /// The server did not answer, or rejected the request. Requests about other objects can be played.
    ///
    /// # Cancel safety
    ///
    /// The object may exist; another call reads it.
    pub async fn set_up(&mut self, set_up: &SetUp) -> Result<(), SetUpError> {
        let end = Instant::now() + UNTIL;
        let unanswered = |request: &Request, source| SetUpError::Unanswered {
            request: request.to_string(),
            source,
        };
        let request = &set_up.request;
        let path = set_up
            .name
            .as_ref()
            .map(|name| format!("{}/{name}", request.path));
        let mut answer = loop {
            let answer = self.ask(request).await;
            let answer = answer.map_err(|error| unanswered(request, error))?;
            let is_over = !is_failure(&answer) || answer["status"] == 409;
            if is_over || !set_up.until || Instant::now() > end {
                break answer;
            }
            sleep(RETRY).await;
        };
        if answer["status"] == 409
            && let Some(path) = &path
        {
            let read = Request::new("GET", path);
            let read_answer = self.ask(&read).await;
            answer = read_answer.map_err(|error| unanswered(&read, error))?;
        }
        if let Some(key) = &set_up.key {
            self.learn(key, &answer);
            self.paths.extend(path.map(|path| (key.clone(), path)));
        }
        if is_failure(&answer) {
            let body = &answer["body"];
            let message = body["message"].as_str().or(body.as_str());
            return Err(SetUpError::Rejected {
                request: request.to_string(),
                status: answer["status"].as_u64().unwrap_or_default(),
                message: message.unwrap_or_default().to_owned(),
            });
        }
        Ok(())
    }

    /// Waits until the controllers of a server in process have looked at the objects of the set-up.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn settle(&self) {
        self.endpoint.settle().await;
    }

    /// Reads the objects of the set-up again: references stand for the versions that controllers have made since.
    ///
    /// An object that cannot be read keeps its known version.
    ///
    /// # Errors
    ///
    /// The server did not answer.
    ///
    /// # Cancel safety
    ///
    /// Some versions may be newer than before; another call reads them all.
    pub async fn refresh(&mut self) -> Result<(), EndpointError> {
        for (key, path) in self.paths.clone() {
            let answer = self.ask(&Request::new("GET", path)).await?;
            if !is_failure(&answer) {
                self.learn(&key, &answer);
            }
        }
        Ok(())
    }

    /// Sends a request and returns the answer: status, content type, warnings and body. A lost connection is retried once.
    ///
    /// # Errors
    ///
    /// The server did not answer.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the request changes nothing.
    pub async fn ask(&self, request: &Request) -> Result<Value, EndpointError> {
        Ok(as_value(&self.answer(request).await?))
    }

    /// Sends a request and returns the unchanged answer. A lost connection is retried once.
    pub(super) async fn answer(&self, request: &Request) -> Result<Answer, EndpointError> {
        let path = self.filled(&request.path);
        let body = match &request.body {
            Some(Body::Json(text)) => Some(self.filled(text).into_bytes()),
            Some(Body::Raw(text)) => Some(latin1(text)),
            None => None,
        };
        let headers = headers(request, body.is_some());
        let body = body.unwrap_or_default();
        let sent = self
            .endpoint
            .ask(&request.method, &path, &headers, body.clone());
        match sent.await {
            Ok(answer) => Ok(answer),
            Err(EndpointError::Request(error)) => Err(error.into()),
            Err(_) => {
                let again = self.endpoint.ask(&request.method, &path, &headers, body);
                again.await
            }
        }
    }

    fn learn(&mut self, key: &str, answer: &Value) {
        let metadata = &answer["body"]["metadata"];
        for (reference, field) in [("rv", "resourceVersion"), ("uid", "uid")] {
            if let Some(value) = metadata[field].as_str().filter(|value| !value.is_empty()) {
                let reference = format!("{reference}:{key}");
                self.variables.insert(reference, value.to_owned());
            }
        }
    }

    /// Replaces the references to objects; an unknown one becomes 0.
    fn filled(&self, text: &str) -> String {
        replaced(text, |reference| {
            let is_one = ["rv:", "uid:"]
                .iter()
                .any(|kind| reference.starts_with(kind));
            is_one.then(|| {
                self.variables
                    .get(reference)
                    .map_or("0", |variables| variables)
                    .to_owned()
            })
        })
    }
}

fn is_failure(answer: &Value) -> bool {
    answer["status"].as_u64().is_none_or(|status| status >= 300)
}

fn headers(request: &Request, has_body: bool) -> Vec<(String, String)> {
    let mut headers = BTreeMap::from([
        ("accept".to_owned(), "application/json".to_owned()),
        ("user-agent".to_owned(), USER_AGENT.to_owned()),
    ]);
    if has_body {
        headers.insert("content-type".to_owned(), "application/json".to_owned());
    }
    for (name, value) in &request.headers {
        headers.insert(name.to_lowercase(), value.clone());
    }
    headers.into_iter().collect()
}

fn as_value(answer: &Answer) -> Value {
    let all = |name| {
        let values = answer.headers.get_all(name).iter();
        values.map(|value| from_latin1(value.as_bytes()))
    };
    let kind = all("content-type").collect::<Vec<_>>().join(", ");
    let mut warnings: Vec<String> = all("warning").collect();
    warnings.sort();
    let parsed = kind
        .contains("json")
        .then(|| serde_json::from_slice(&answer.body).ok());
    let body = parsed.flatten().unwrap_or_else(|| {
        let text = String::from_utf8_lossy(&answer.body);
        Value::String(text.chars().take(TEXT_LENGTH_MAX).collect())
    });
    json!({"status": answer.status, "type": kind, "warnings": warnings, "body": body})
}

/// Encodes a text, each character as a byte; others than those of Latin-1 become question marks.
fn latin1(text: &str) -> Vec<u8> {
    let bytes = text
        .chars()
        .map(|letter| u8::try_from(letter).unwrap_or(b'?'));
    bytes.collect()
}

fn from_latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
