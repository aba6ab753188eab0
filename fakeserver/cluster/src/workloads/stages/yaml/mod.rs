//! Files of stages.

use std::{collections::BTreeMap, time::Duration};

use fakeserver_kinds::metrics::usage::Amount;
use fakeserver_value::{
    names::{label_value_problems, qualified_name_problems},
    yaml,
};
use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use super::{
    Exit, FailingProbe, Line, ProbeKind, Readiness, Stage, StageError, StageOutcome, UsageStep,
    select::Selector,
};

/// The type of the documents.
const API_VERSION: &str = "stages/v1";
/// The group of the stages of kwok, which this server does not take.
const KWOK: &str = "kwok.x-k8s.io/";
const OF_KWOK: &str = "a stage of kwok has to be rewritten: this server's say what containers do, as stages.md of its \
                       documentation shows, and are of `stages/v1`";
/// The highest exit code.
const CODE_MAX: i64 = 255;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    api_version: String,
    kind: String,
    metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Metadata {
    name: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Spec {
    #[serde(default)]
    resource_ref: ResourceRef,
    #[serde(default)]
    selector: SelectorFields,
    #[serde(default, deserialize_with = "duration")]
    delay: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    jitter: Option<Duration>,
    #[serde(default, deserialize_with = "times")]
    times: Option<u32>,
    next: EffectFields,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResourceRef {
    api_version: String,
    kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct SelectorFields {
    namespace: Option<String>,
    match_labels: BTreeMap<String, String>,
    owner: Option<Owner>,
    container: Option<String>,
    image: Option<String>,
    expression: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Owner {
    kind: String,
    #[serde(default = "any")]
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct EffectFields {
    pull_error: Option<String>,
    #[serde(deserialize_with = "readiness")]
    ready: Option<Readiness>,
    failing_probe: Option<ProbeFields>,
    exit: Option<ExitFields>,
    logs: Vec<LogFields>,
    usage: Vec<UsageFields>,
    status: Option<Value>,
    delete: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProbeFields {
    kind: ProbeKind,
    #[serde(default, deserialize_with = "duration")]
    after: Option<Duration>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExitFields {
    #[serde(default, deserialize_with = "duration")]
    after: Option<Duration>,
    #[serde(default, deserialize_with = "code")]
    code: u8,
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LogFields {
    #[serde(default, deserialize_with = "duration")]
    after: Option<Duration>,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UsageFields {
    #[serde(default, deserialize_with = "duration")]
    after: Option<Duration>,
    #[serde(default, deserialize_with = "cpu")]
    cpu: Option<Amount>,
    #[serde(default, deserialize_with = "memory")]
    memory: Option<Amount>,
}

/// Reads the stages of a file.
pub(super) fn parse(text: &str) -> Result<Vec<Stage>, StageError> {
    let documents = yaml::documents(text.as_bytes());
    let documents = documents.map_err(|error| StageError::new("stages", error))?;
    if documents.is_empty() {
        let why = "there is none: give documents of the kind `Stage`, or leave the file out";
        return Err(StageError::new("stages", why));
    }
    let mut stages: Vec<Stage> = Vec::with_capacity(documents.len());
    for (number, document) in documents.into_iter().enumerate() {
        let stage = read(document.value, number)?.stage(number)?;
        if let Some(other) = stages.iter().position(|other| other.name == stage.name) {
            let why = format!("document {} has this name already: give another", other + 1);
            return Err(StageError::new(place(number, &stage.name), why));
        }
        stages.push(stage);
    }
    Ok(stages)
}

/// Reads a document of a file.
fn read(document: Value, number: usize) -> Result<Document, StageError> {
    let api_version = document["apiVersion"].as_str().unwrap_or_default();
    let is_of_kwok = api_version.starts_with(KWOK);
    let name = document["metadata"]["name"].as_str();
    let place = name.map_or_else(
        || format!("stages, document {}", number + 1),
        |name| place(number, name),
    );
    yaml::from_value(document).map_err(|error| {
        let why = if is_of_kwok {
            format!("{OF_KWOK}: {error}")
        } else {
            error
        };
        StageError::new(place, why)
    })
}

/// Returns the place of a stage in its file.
fn place(number: usize, name: &str) -> String {
    format!("stages, document {}, {name:?}", number + 1)
}

fn any() -> String {
    "*".to_owned()
}

/// Reads a duration: `5s`, `200ms`, `1m30s`.
fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    parse_duration(&text).map(Some).map_err(D::Error::custom)
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<SignedDuration>();
    let parsed = parsed.map_err(|_| format!("{text:?} is no duration; try `5s` or `200ms`"))?;
    Duration::try_from(parsed).map_err(|_| format!("{text:?} is negative"))
}

/// Reads a number of starts.
fn times<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let Some(number) = Option::<i64>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let times = u32::try_from(number).ok().filter(|times| *times > 0);
    let wrong = || {
        format!("times: {number} is no number of starts: give 1 or more, or leave it out for all")
    };
    times.map(Some).ok_or_else(|| D::Error::custom(wrong()))
}

/// Reads an exit code.
fn code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let number = i64::deserialize(deserializer)?;
    let wrong = || format!("code: {number} is no exit code: give 0 to {CODE_MAX}");
    u8::try_from(number).map_err(|_| D::Error::custom(wrong()))
}

/// Reads an amount of processor time, also one that YAML takes for a number.
fn cpu<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Amount>, D::Error> {
    amount(deserializer, Amount::of_cpu)
}

/// Reads an amount of memory.
fn memory<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Amount>, D::Error> {
    amount(deserializer, Amount::of_memory)
}

fn amount<'de, D: Deserializer<'de>>(
    deserializer: D,
    read: impl Fn(&str) -> Result<Amount, String>,
) -> Result<Option<Amount>, D::Error> {
    let text = match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        other => other.to_string(),
    };
    read(&text).map(Some).map_err(D::Error::custom)
}

/// Reads the time until a container is ready, or `never`.
fn readiness<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Readiness>, D::Error> {
    Ok(
        match Option::<String>::deserialize(deserializer)?.as_deref() {
            None => None,
            Some("never") => Some(Readiness::Never),
            Some(text) => {
                let time = parse_duration(text);
                let wrong = |why| D::Error::custom(format!("ready: {why}, or `never`"));
                Some(Readiness::After(time.map_err(wrong)?))
            }
        },
    )
}

impl Default for ResourceRef {
    fn default() -> Self {
        Self {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
        }
    }
}

// === impl Document ===

impl Document {
    fn stage(self, number: usize) -> Result<Stage, StageError> {
        let name = self.metadata.name;
        let error = |why: String| StageError::new(place(number, &name), why);
        if (&*self.api_version, &*self.kind) != (API_VERSION, "Stage") {
            let (api_version, kind) = (&self.api_version, &self.kind);
            if api_version.starts_with(KWOK) {
                return Err(error(OF_KWOK.to_owned()));
            }
            return Err(error(format!(
                "it is a {kind:?} of {api_version:?}; a stage is a `Stage` of `{API_VERSION}`"
            )));
        }
        let spec = self.spec;
        spec.selector.check().map_err(error)?;
        if let Some(expression) = &spec.selector.expression {
            check(expression).map_err(error)?;
        }
        let stage = Stage {
            selector: spec.selector.selector(spec.resource_ref),
            name: name.clone(),
            delay: spec.delay,
            jitter: spec.jitter.unwrap_or_default(),
            next: spec.next.next(spec.times),
        };
        match misplaced(&stage) {
            Some(why) => Err(error(why)),
            None => Ok(stage),
        }
    }
}

/// Returns the error of a stage of pods with properties of other kinds, or the other way round.
fn misplaced(stage: &Stage) -> Option<String> {
    let StageOutcome {
        times,
        pull_error,
        readiness,
        failing,
        exit,
        lines,
        usage,
        status,
        is_deleted,
    } = &stage.next;
    let of_containers = times.is_some()
        || pull_error.is_some()
        || readiness.is_some()
        || failing.is_some()
        || exit.is_some()
        || !lines.is_empty()
        || !usage.is_empty()
        || stage.selector.container.is_some()
        || stage.selector.image.is_some();
    let of_objects = status.is_some() || *is_deleted;
    if stage.is_of_pods() && of_objects {
        let why = "a stage of pods says what containers do: `pullError`, `ready`, `failingProbe`, `exit`, `logs`, `usage`, `delay`; \
                   the kubelet writes the status";
        return Some(why.to_owned());
    }
    if !stage.is_of_pods() && of_containers {
        let why = "`times`, `pullError`, `ready`, `failingProbe`, `exit`, `logs`, `usage`, and the selectors `container` and \
                   `image` are for pods";
        return Some(why.to_owned());
    }
    if !stage.is_of_pods() && !of_objects {
        return Some("it says nothing: give `next.status` or `next.delete`".to_owned());
    }
    None
}

fn check(expression: &str) -> Result<(), String> {
    super::select::compile(expression).map(drop)
}

// === impl SelectorFields ===

impl SelectorFields {
    /// Checks that the selector can select an object.
    fn check(&self) -> Result<(), String> {
        for (key, value) in &self.match_labels {
            if let Some(why) = qualified_name_problems(key).first() {
                return Err(format!("matchLabels: {key:?} is no key of a label: {why}"));
            }
            if let Some(why) = label_value_problems(value).first() {
                return Err(format!(
                    "matchLabels: {value:?} is no value of a label: {why}"
                ));
            }
        }
        let name = self.owner.as_ref().map_or("", |owner| &owner.name);
        if name.strip_suffix('*').unwrap_or(name).contains('*') {
            return Err(format!(
                "owner: name {name:?}: `*` stands for any text at the end only"
            ));
        }
        Ok(())
    }

    fn selector(self, resource: ResourceRef) -> Selector {
        Selector {
            namespace: self.namespace,
            labels: self.match_labels,
            owner: self.owner.map(|owner| [owner.kind, owner.name]),
            container: self.container,
            image: self.image,
            expression: self.expression,
            ..Selector::of(&resource.api_version, resource.kind)
        }
    }
}

// === impl EffectFields ===

impl EffectFields {
    fn next(self, times: Option<u32>) -> StageOutcome {
        let mut usage: Vec<UsageStep> = self
            .usage
            .into_iter()
            .flat_map(UsageFields::steps)
            .collect();
        usage.sort_by_key(|step| step.after);
        StageOutcome {
            times,
            pull_error: self.pull_error,
            readiness: self.ready,
            failing: self.failing_probe.map(|fails| FailingProbe {
                kind: fails.kind,
                after: fails.after.unwrap_or_default(),
            }),
            exit: self.exit.map(|exit| Exit {
                after: exit.after.unwrap_or_default(),
                code: exit.code.into(),
                reason: exit.reason,
            }),
            lines: self.logs.into_iter().map(LogFields::line).collect(),
            usage,
            status: self.status,
            is_deleted: self.delete,
        }
    }
}

// === impl LogFields ===

impl LogFields {
    fn line(self) -> Line {
        Line {
            after: self.after.unwrap_or_default(),
            text: self.text,
        }
    }
}

// === impl UsageFields ===

impl UsageFields {
    fn steps(self) -> impl Iterator<Item = UsageStep> {
        let after = self.after.unwrap_or_default();
        let amounts = [self.cpu, self.memory].into_iter().flatten();
        amounts.map(move |amount| UsageStep { after, amount })
    }
}

#[cfg(test)]
mod tests;
