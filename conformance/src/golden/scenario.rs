//! Requests without answers, and the transcript that they become with the answers of a server.

use std::fmt::Write;

use fakeserver::value::yaml;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::{
    player::PlayedStep,
    transcript::{Step, Transcript},
};

/// The requests of a transcript that is to be recorded. Answers in its file are dropped.
#[derive(Clone, Debug)]
pub struct Scenario {
    transcript: Transcript,
    /// The requests as written, for the file.
    requests: Vec<Value>,
}

/// The error of a file that is no scenario. Correct the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// The file is no YAML.
    #[error("no YAML: {0}")]
    Yaml(String),
    /// The file is no JSON, or a step is malformed.
    #[error("no scenario")]
    Shape(#[from] serde_json::Error),
    /// The file has no list of steps.
    #[error("there is no list `steps`")]
    NoSteps,
}

// === impl Scenario ===

impl Scenario {
    /// Reads a scenario in JSON; `name` is its name unless it has one itself.
    ///
    /// A step is as in a transcript, or flat: its `id` beside the fields of its request.
    ///
    /// # Errors
    ///
    /// The text is no scenario.
    pub fn from_json(name: &str, text: &str) -> Result<Self, ScenarioError> {
        Self::from_value(name, &serde_json::from_str(text)?)
    }

    /// Reads a scenario in YAML; see [`from_json`](Self::from_json).
    ///
    /// # Errors
    ///
    /// The text is no scenario.
    pub fn from_yaml(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let value = yaml::from_str(text).map_err(ScenarioError::Yaml)?;
        Self::from_value(name, &value)
    }

    fn from_value(name: &str, value: &Value) -> Result<Self, ScenarioError> {
        let steps = value["steps"].as_array().ok_or(ScenarioError::NoSteps)?;
        let steps: Vec<Value> = steps.iter().enumerate().map(step).collect();
        let or = |field: &str, otherwise: Value| match &value[field] {
            Value::Null => otherwise,
            given => given.clone(),
        };
        let transcript = json!({
            "name": or("name", json!(name)),
            "about": or("about", json!("")),
            "plugins": or("plugins", json!([])),
            "ignore": or("ignore", json!([])),
            "steps": steps,
        });
        Ok(Self {
            transcript: serde_json::from_value(transcript)?,
            requests: steps.iter().map(|step| step["request"].clone()).collect(),
        })
    }

    /// Returns the name, which is also that of the file.
    pub fn name(&self) -> &str {
        &self.transcript.name
    }

    /// Returns the steps.
    pub fn steps(&self) -> &[Step] {
        &self.transcript.steps
    }

    /// Formats the transcript with the answers in `played`, which has all steps; `server` names their origin.
    pub fn recorded(&self, server: &str, played: &[PlayedStep]) -> String {
        let Transcript {
            name,
            about,
            plugins,
            ignore,
            ..
        } = &self.transcript;
        let (name, about, server) = (json!(name), json!(about), json!(server));
        let plugins = if plugins.is_empty() {
            String::new()
        } else {
            format!("\"plugins\":{},", json!(plugins))
        };
        let ignore = json!(ignore);
        let mut text = format!(
            "{{\"name\":{name},\"about\":{about},\"server\":{server},{plugins}\"ignore\":{ignore},\"steps\":["
        );
        for (place, (request, played)) in self.requests.iter().zip(played).enumerate() {
            let comma = if place == 0 { "" } else { "," };
            let id = json!(played.id);
            write!(text, "{comma}\n{{\"id\":{id},\"request\":{request}").expect(WRITES);
            if let Some(response) = &played.response {
                write!(text, ",\"response\":{response}").expect(WRITES);
            }
            text.push('}');
        }
        text.push_str("\n]}\n");
        text
    }
}

/// Converts a step to the shape of a transcript.
fn step((place, step): (usize, &Value)) -> Value {
    let id = match &step["id"] {
        Value::Null => json!(format!("s{}", place + 1)),
        id => id.clone(),
    };
    if !step["request"].is_null() {
        return json!({"id": id, "request": step["request"]});
    }
    let request: Map<String, Value> = step
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(field, _)| *field != "id")
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect();
    json!({"id": id, "request": request})
}

const WRITES: &str = "a string takes what is written";
