//! Files of stages.

use std::{collections::BTreeMap, time::Duration};

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use super::{Exit, Line, Next, Readiness, Stage, StageError, UsageStep, select::Selector};
use crate::kinds::metrics::usage::Amount;

/// The type of the documents.
const API_VERSION: &str = "stages/v1";

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
    selector: Selects,
    #[serde(default, deserialize_with = "duration")]
    delay: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    jitter: Option<Duration>,
    times: Option<u32>,
    next: Then,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResourceRef {
    api_version: String,
    kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Selects {
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
struct Then {
    pull_error: Option<String>,
    #[serde(deserialize_with = "readiness")]
    ready: Option<Readiness>,
    exit: Option<Exits>,
    logs: Vec<Logs>,
    usage: Vec<Uses>,
    status: Option<Value>,
    delete: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exits {
    #[serde(default, deserialize_with = "duration")]
    after: Option<Duration>,
    #[serde(default)]
    code: u8,
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Logs {
    #[serde(default, deserialize_with = "duration")]
    after: Option<Duration>,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Uses {
    #[serde(default, deserialize_with = "duration")]
    after: Option<Duration>,
    #[serde(default, deserialize_with = "cpu")]
    cpu: Option<Amount>,
    #[serde(default, deserialize_with = "memory")]
    memory: Option<Amount>,
}

/// Reads the stages of a file.
pub(super) fn parse(text: &str) -> Result<Vec<Stage>, StageError> {
    let documents = serde_saphyr::from_multiple::<Document>(text);
    let documents = documents.map_err(|error| StageError::new("stages", error))?;
    let stages = documents.into_iter().enumerate();
    stages
        .map(|(number, document)| document.stage(number))
        .collect()
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
            Some(text) => Some(Readiness::After(
                parse_duration(text).map_err(D::Error::custom)?,
            )),
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
        let error = |why: String| {
            let place = format!("stages, document {}, {name:?}", number + 1);
            StageError::new(place, why)
        };
        if (&*self.api_version, &*self.kind) != (API_VERSION, "Stage") {
            let (api_version, kind) = (&self.api_version, &self.kind);
            return Err(error(format!(
                "it is a {kind:?} of {api_version:?}; a stage is a `Stage` of `{API_VERSION}`"
            )));
        }
        let spec = self.spec;
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

/// Returns what is wrong with a stage that says of pods what only others have, or the other way round.
fn misplaced(stage: &Stage) -> Option<String> {
    let Next {
        times,
        pull_error,
        readiness,
        exit,
        lines,
        usage,
        status,
        is_deleted,
    } = &stage.next;
    let of_containers = times.is_some()
        || pull_error.is_some()
        || readiness.is_some()
        || exit.is_some()
        || !lines.is_empty()
        || !usage.is_empty()
        || stage.selector.container.is_some()
        || stage.selector.image.is_some();
    let of_objects = status.is_some() || *is_deleted;
    if stage.is_of_pods() && of_objects {
        let why = "a stage of pods says what containers do: `pullError`, `ready`, `exit`, `logs`, `usage`, `delay`; \
                   the kubelet writes the status";
        return Some(why.to_owned());
    }
    if !stage.is_of_pods() && of_containers {
        let why = "`times`, `pullError`, `ready`, `exit`, `logs`, `usage`, and the selectors `container` and `image` are for \
                   pods";
        return Some(why.to_owned());
    }
    if !stage.is_of_pods() && !of_objects {
        return Some("it says nothing: give `next.status` or `next.delete`".to_owned());
    }
    None
}

#[cfg(feature = "cel")]
fn check(expression: &str) -> Result<(), String> {
    super::select::compile(expression).map(drop)
}

#[cfg(not(feature = "cel"))]
fn check(_: &str) -> Result<(), String> {
    Err("expressions need the feature `cel`".to_owned())
}

// === impl Selects ===

impl Selects {
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

// === impl Then ===

impl Then {
    fn next(self, times: Option<u32>) -> Next {
        let mut usage: Vec<UsageStep> = self.usage.into_iter().flat_map(Uses::steps).collect();
        usage.sort_by_key(|step| step.after);
        Next {
            times,
            pull_error: self.pull_error,
            readiness: self.ready,
            exit: self.exit.map(|exit| Exit {
                after: exit.after.unwrap_or_default(),
                code: exit.code.into(),
                reason: exit.reason,
            }),
            lines: self.logs.into_iter().map(Logs::line).collect(),
            usage,
            status: self.status,
            is_deleted: self.delete,
        }
    }
}

// === impl Logs ===

impl Logs {
    fn line(self) -> Line {
        Line {
            after: self.after.unwrap_or_default(),
            text: self.text,
        }
    }
}

// === impl Uses ===

impl Uses {
    fn steps(self) -> impl Iterator<Item = UsageStep> {
        let after = self.after.unwrap_or_default();
        let amounts = [self.cpu, self.memory].into_iter().flatten();
        amounts.map(move |amount| UsageStep { after, amount })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CRASH_LOOP: &str = "
apiVersion: stages/v1
kind: Stage
metadata: {name: crash-loop}
spec:
  selector: {matchLabels: {app: web}, image: '*/web:*'}
  delay: 500ms
  times: 2
  next:
    ready: never
    exit: {after: 3s, code: 1, reason: OOMKilled}
    logs:
    - text: booting
    - {after: 1s, text: out of memory}
    usage:
    - {after: 2s, cpu: 2}
    - {cpu: 250m, memory: 64Mi}
---
apiVersion: stages/v1
kind: Stage
metadata: {name: ready}
spec:
  resourceRef: {apiVersion: example.com/v1, kind: Website}
  delay: 2s
  next: {status: {ready: true}}
";

    #[test]
    fn a_file_says_what_the_builder_says() {
        let crash_loop = Stage::of_pods("crash-loop")
            .with_label("app", "web")
            .with_image("*/web:*")
            .with_delay(Duration::from_millis(500))
            .with_times(2)
            .with_readiness(None)
            .with_exit(Duration::from_secs(3), 1)
            .with_exit_reason("OOMKilled")
            .with_log(Duration::ZERO, "booting")
            .with_log(Duration::from_secs(1), "out of memory")
            .with_cpu(Duration::from_secs(2), "2")
            .and_then(|stage| stage.with_cpu(Duration::ZERO, "250m"))
            .and_then(|stage| stage.with_memory(Duration::ZERO, "64Mi"))
            .unwrap();
        let ready = Stage::of("ready", "example.com/v1", "Website")
            .with_delay(Duration::from_secs(2))
            .with_status(json!({"ready": true}));
        assert_eq!(parse(CRASH_LOOP), Ok(vec![crash_loop, ready]));
    }

    #[test]
    #[cfg(feature = "cel")]
    fn the_recipes_of_the_page_are_stages() {
        let page = include_str!("../../../../docs/stages.md");
        let blocks = page.split("```yaml\n").skip(1);
        let recipes: Vec<&str> = blocks
            .filter_map(|block| block.split("```").next())
            .collect();
        assert_eq!(recipes.len(), 8);
        for recipe in recipes {
            assert_eq!(parse(recipe).map(|stages| stages.len()), Ok(1), "{recipe}");
        }
    }

    #[test]
    fn a_file_that_is_wrong_is_told_so() {
        for (from, to, told) in [
            (
                "kind: Stage\nmetadata: {name: ready}",
                "kind: Pod\nmetadata: {name: ready}",
                "document 2, \"ready\": it is a \"Pod\"",
            ),
            ("delay: 2s", "delay: soon", "\"soon\" is no duration"),
            ("delay: 2s", "delay: -2s", "negative"),
            ("times: 2", "time: 2", "time"),
            (
                "next: {status: {ready: true}}",
                "next: {}",
                "it says nothing",
            ),
            (
                "ready: never",
                "status: {phase: Failed}",
                "the kubelet writes the status",
            ),
            ("ready: true}}", "ready: true}, ready: 1s}", "are for pods"),
            (
                "ready: true}}",
                "ready: true}, logs: [{text: a}]}",
                "are for pods",
            ),
            ("text: booting", "after: 1s", "text"),
        ] {
            assert!(CRASH_LOOP.contains(from), "{from}");
            let told_here = parse(&CRASH_LOOP.replacen(from, to, 1))
                .unwrap_err()
                .to_string();
            assert!(told_here.contains(told), "{told_here}");
        }
    }
}
