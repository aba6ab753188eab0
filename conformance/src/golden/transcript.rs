//! A recorded conversation: requests, and the normalised answers of a real server.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use serde::Deserialize;
use serde_json::Value;

/// A file with a conversation.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Transcript {
    /// The name, which is also that of its namespace.
    pub name: String,
    /// The subject, in a line.
    pub about: String,
    /// The admission plugins that are off by default and that the server needs to have on.
    #[serde(default)]
    pub plugins: Vec<String>,
    /// Paths that are not compared in any step.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// An action and the answer of a real server.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// The name of the step within its file.
    pub id: String,
    /// The action.
    pub request: Request,
    /// The normalised answer; steps that only wait or control have none.
    pub response: Option<Value>,
}

/// An action and the parts of its answer that are not compared.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// Paths that are not compared in this step.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// The action itself.
    #[serde(flatten)]
    pub action: Action,
}

/// The action of a step. In the file, each variant is recognised by the field of its name.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Action {
    /// An action that the API does not offer, such as "forget history".
    Control {
        /// The control action.
        control: String,
    },
    /// Waits.
    Sleep {
        /// Seconds.
        sleep: f64,
    },
    /// Collects the events of an open watch.
    Collect(Collect),
    /// Opens a watch and leaves it open.
    Open {
        /// The name for collecting it.
        open: String,
        /// Path and query.
        path: String,
        /// Headers besides `Accept`; `None` removes one.
        #[serde(default)]
        headers: BTreeMap<String, Option<String>>,
    },
    /// Sends a request.
    Send(Send),
}

/// The parameters of [`Action::Collect`].
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Collect {
    /// The name of the watch.
    #[serde(rename = "collect")]
    pub watch: String,
    /// The number of events to wait for.
    pub events: Option<usize>,
    /// The number of seconds to wait at most.
    #[serde(default = "default_wait_seconds")]
    pub wait: f64,
    /// True if the events are sorted by type, namespace and name.
    #[serde(default)]
    pub sorted: bool,
    /// True if plain bookmarks are kept.
    #[serde(default)]
    pub bookmarks: bool,
    /// Variables to take from the events.
    #[serde(default)]
    pub save: BTreeMap<String, String>,
}

/// The parameters of [`Action::Send`].
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Send {
    /// The method.
    #[serde(default = "default_method")]
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers besides `Accept` and `Content-Type`; `None` removes one.
    #[serde(default)]
    pub headers: BTreeMap<String, Option<String>>,
    /// A body to be encoded as JSON.
    pub body: Option<Value>,
    /// A body as it is.
    pub raw: Option<String>,
    /// The number of seconds in which failures are retried.
    #[serde(default)]
    pub until: f64,
    /// Variables to take from the answer's body.
    #[serde(default)]
    pub save: BTreeMap<String, String>,
}

// === impl Transcript ===

impl Transcript {
    /// Reads a file of transcripts.
    ///
    /// # Errors
    ///
    /// The text is not JSON of that shape.
    pub fn parse(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Returns the number of steps with an answer to compare.
    pub fn compared_count(&self) -> usize {
        self.steps
            .iter()
            .filter(|step| step.response.is_some())
            .count()
    }
}

// === impl Action ===

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Control { control } => write!(f, "control {control}"),
            Self::Sleep { sleep } => write!(f, "sleep {sleep} s"),
            Self::Collect(Collect { watch, .. }) => write!(f, "what the watch {watch} brought"),
            Self::Open { open, path, .. } => write!(f, "open the watch {open}: GET {path}"),
            Self::Send(Send { method, path, .. }) => write!(f, "{method} {path}"),
        }
    }
}

fn default_wait_seconds() -> f64 {
    3.0
}

fn default_method() -> String {
    "GET".to_owned()
}
