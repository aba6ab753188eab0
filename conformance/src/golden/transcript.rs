//! A recorded conversation: requests and the normalised answers of a real server.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use serde::Deserialize;
use serde_json::Value;

/// One file of transcripts.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Transcript {
    /// The name, which is also the namespace that it plays in.
    pub name: String,
    /// What it shows, in a line.
    pub about: String,
    /// Paths that are not compared in any step.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// What was done, in order.
    pub steps: Vec<Step>,
}

/// One action and what a real server answered to it.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Step {
    /// The name of the step within its file.
    pub id: String,
    /// What is done.
    pub request: Request,
    /// The normalised answer; steps that only wait or control have none.
    pub response: Option<Value>,
}

/// An action with what is not compared of its answer.
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

/// What a step does. The variants are told apart by the field that names them in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Action {
    /// Something that a client cannot ask for, as in "forget history".
    Control {
        /// The control action.
        control: String,
    },
    /// Wait.
    Sleep {
        /// Seconds.
        sleep: f64,
    },
    /// Look at what an open watch has brought.
    Collect(Collect),
    /// Open a watch and leave it open.
    Open {
        /// The name to collect it under.
        open: String,
        /// Path and query.
        path: String,
        /// Headers beside `Accept`; `None` takes one away.
        #[serde(default)]
        headers: BTreeMap<String, Option<String>>,
    },
    /// One request with its answer.
    Send(Send),
}

/// See [`Action::Collect`].
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Collect {
    /// The name of the watch.
    #[serde(rename = "collect")]
    pub watch: String,
    /// How many events to wait for.
    pub events: Option<usize>,
    /// How many seconds to wait at most.
    #[serde(default = "default_wait_seconds")]
    pub wait: f64,
    /// Whether the events are put in order of type, namespace, name.
    #[serde(default)]
    pub sorted: bool,
    /// Whether plain bookmarks are kept.
    #[serde(default)]
    pub bookmarks: bool,
    /// Variables to take from the events.
    #[serde(default)]
    pub save: BTreeMap<String, String>,
}

/// See [`Action::Send`].
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Send {
    /// The method.
    #[serde(default = "default_method")]
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers beside `Accept` and `Content-Type`; `None` takes one away.
    #[serde(default)]
    pub headers: BTreeMap<String, Option<String>>,
    /// A body to be encoded as JSON.
    pub body: Option<Value>,
    /// A body as it is.
    pub raw: Option<String>,
    /// For how many seconds to try again while it fails.
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

    /// How many steps have an answer to compare.
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
