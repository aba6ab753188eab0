//! Reads workloads and rules from files.

use std::{fs, path::Path, time::Duration};

use fakeserver::value::yaml;
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::Value;

use super::{
    kinds::ObjectRef,
    workload::{Action, PatchType, Rule, Step, WITHIN, When, Workload, WorkloadError, one},
};

/// The form of a workload in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkloadDocument {
    #[serde(default)]
    steps: Vec<StepDocument>,
    #[serde(default = "one")]
    replicas: usize,
    #[serde(default)]
    rules: Vec<RuleDocument>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepDocument {
    name: Option<String>,
    apply: Option<Value>,
    patch: Option<PatchDocument>,
    delete: Option<DeleteDocument>,
    wait: Option<WaitDocument>,
    quiet: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PatchDocument {
    object: ObjectRef,
    merge: Option<Value>,
    json: Option<Value>,
    #[serde(default)]
    status: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeleteDocument {
    object: ObjectRef,
    propagation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitDocument {
    object: ObjectRef,
    until: String,
    within: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleDocument {
    name: String,
    always: Option<String>,
    eventually: Option<String>,
}

// === impl Workload ===

impl Workload {
    /// Reads a workload. Paths in it are relative to the file.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or is not a workload.
    pub fn read(path: &Path) -> Result<Self, WorkloadError> {
        let written: WorkloadDocument = parse(path)?;
        if written.steps.is_empty() {
            return Err(WorkloadError::Malformed {
                path: path.to_owned(),
                reason: "it has no `steps:`; the first one is usually `- apply: FILE`".to_owned(),
            });
        }
        if written.replicas == 0 {
            return Err(WorkloadError::Malformed {
                path: path.to_owned(),
                reason: "`replicas: 0` runs nothing; 1 is the default".to_owned(),
            });
        }
        let mut steps = Vec::new();
        for (place, step) in (1..).zip(written.steps) {
            let wrong = |reason| WorkloadError::Wrong {
                path: path.to_owned(),
                place: format!("step {place}"),
                reason,
            };
            let name = step.name.clone();
            let action = match (&step.apply, path.parent()) {
                (Some(Value::String(file)), Some(folder)) if step.actions().len() == 1 => {
                    let objects = documents(&folder.join(file));
                    Action::Apply(objects.map_err(|error| WorkloadError::Applied {
                        path: path.to_owned(),
                        step: place,
                        error: Box::new(error),
                    })?)
                }
                _ => step.action().map_err(wrong)?,
            };
            steps.push(Step { name, action });
        }
        Ok(Self {
            steps,
            replicas: written.replicas,
            rules: rules(path, written.rules)?,
            file: Some(path.to_owned()),
        })
    }

    /// Adds the rules of another file, which has the form of a workload's `rules:`.
    ///
    /// # Errors
    ///
    /// It cannot be read, or does not parse.
    pub fn add_rules(&mut self, path: &Path) -> Result<(), WorkloadError> {
        let mut document: Value = parse(path)?;
        let written = match document.get_mut("rules") {
            Some(rules) => rules.take(),
            None => document,
        };
        let written = serde_json::from_value(written);
        let written: Vec<RuleDocument> = written.map_err(|error| WorkloadError::Malformed {
            path: path.to_owned(),
            reason: format!("it has not the form of a workload's `rules:`: {error}"),
        })?;
        self.rules.extend(rules(path, written)?);
        Ok(())
    }
}

fn rules(path: &Path, written: Vec<RuleDocument>) -> Result<Vec<Rule>, WorkloadError> {
    let mut rules = Vec::new();
    for rule in written {
        let (when, expression) = match (rule.always, rule.eventually) {
            (Some(always), None) => (When::Always, always),
            (None, Some(eventually)) => (When::Eventually, eventually),
            (always, _) => {
                let reason = match always {
                    Some(_) => "it has both `always:` and `eventually:`: make it two rules",
                    None => "it needs one of `always:` and `eventually:`",
                };
                return Err(WorkloadError::Wrong {
                    path: path.to_owned(),
                    place: format!("rule {:?}", rule.name),
                    reason: reason.to_owned(),
                });
            }
        };
        rules.push(Rule {
            name: rule.name,
            when,
            expression,
            file: Some(path.to_owned()),
        });
    }
    Ok(rules)
}

fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, WorkloadError> {
    let text = text_of(path)?;
    yaml::from_str(&text).map_err(|reason| WorkloadError::Malformed {
        path: path.to_owned(),
        reason,
    })
}

/// Returns the objects in a file.
fn documents(path: &Path) -> Result<Vec<Value>, WorkloadError> {
    let text = text_of(path)?;
    let documents = yaml::documents(text.as_bytes());
    let documents = documents.map_err(|reason| WorkloadError::Malformed {
        path: path.to_owned(),
        reason,
    })?;
    let objects: Vec<Value> = documents.into_iter().map(|it| it.value).collect();
    for (place, object) in (1..).zip(&objects) {
        check_object(object).map_err(|reason| WorkloadError::Wrong {
            path: path.to_owned(),
            place: format!("document {place}"),
            reason,
        })?;
    }
    Ok(objects)
}

fn text_of(path: &Path) -> Result<String, WorkloadError> {
    fs::read_to_string(path).map_err(|source| WorkloadError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn check_object(object: &Value) -> Result<(), String> {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    if is_text(&object["apiVersion"])
        && is_text(&object["kind"])
        && is_text(&object["metadata"]["name"])
    {
        Ok(())
    } else {
        Err("an object needs `apiVersion`, `kind` and `metadata.name`".to_owned())
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<SignedDuration>();
    let parsed = parsed.map_err(|_| format!("{text:?} is no duration; try \"2s\" or \"500ms\""))?;
    Duration::try_from(parsed).map_err(|_| format!("{text:?} is less than nothing"))
}

// === impl StepDocument ===

impl StepDocument {
    /// Returns the names of its actions.
    fn actions(&self) -> Vec<&'static str> {
        let all = [
            ("`apply`", self.apply.is_some()),
            ("`patch`", self.patch.is_some()),
            ("`delete`", self.delete.is_some()),
            ("`wait`", self.wait.is_some()),
            ("`quiet`", self.quiet.is_some()),
        ];
        let present = all.into_iter().filter(|(_, is_there)| *is_there);
        present.map(|(name, _)| name).collect()
    }

    fn action(self) -> Result<Action, String> {
        match self.actions().as_slice() {
            [] => {
                return Err(
                    "it needs one of `apply`, `patch`, `delete`, `wait` and `quiet`".to_owned(),
                );
            }
            [_] => {}
            several => {
                return Err(format!(
                    "it has {}: make each a step of its own, which begins with `- `",
                    several.join(" and ")
                ));
            }
        }
        if let Some(object) = self.apply {
            check_object(&object)?;
            return Ok(Action::Apply(vec![object]));
        }
        if let Some(patch) = self.patch {
            return patch.action();
        }
        if let Some(delete) = self.delete {
            let policies = ["Background", "Foreground", "Orphan"];
            if let Some(propagation) = &delete.propagation
                && !policies.contains(&propagation.as_str())
            {
                return Err(format!(
                    "`propagation: {propagation}` is none of {policies:?}"
                ));
            }
            return Ok(Action::Delete {
                object: delete.object,
                propagation: delete.propagation,
            });
        }
        if let Some(wait) = self.wait {
            return Ok(Action::Wait {
                object: wait.object,
                until: wait.until,
                within: wait.within.map_or(Ok(WITHIN), |text| duration(&text))?,
            });
        }
        Ok(Action::Quiet(duration(&self.quiet.unwrap_or_default())?))
    }
}

// === impl PatchDocument ===

impl PatchDocument {
    fn action(self) -> Result<Action, String> {
        let (media_type, body) = match (self.merge, self.json) {
            (Some(merge), None) => (PatchType::Merge, merge),
            (None, Some(json)) => (PatchType::Json, json),
            (Some(_), Some(_)) => {
                return Err("`patch` has both `merge` and `json`: make it two steps".to_owned());
            }
            (None, None) => return Err("`patch` needs one of `merge` and `json`".to_owned()),
        };
        if media_type == PatchType::Json {
            let parsed: Result<json_patch::Patch, _> = serde_json::from_value(body.clone());
            parsed.map_err(|error| {
                format!("`json` is no list of operations, as in `[{{op: remove, path: /spec/size}}]`: {error}")
            })?;
        }
        Ok(Action::Patch {
            object: self.object,
            media_type,
            body,
            status: self.status,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Workload, String> {
        let folder = tempfile::tempdir().unwrap();
        let objects = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n\
                       apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: a}\n";
        fs::write(folder.path().join("objects.yaml"), objects).unwrap();
        let file = folder.path().join("survive.yaml");
        fs::write(&file, text).unwrap();
        let place = format!("{}: ", file.display());
        Workload::read(&file).map_err(|error| error.to_string().replace(&place, ""))
    }

    #[test]
    fn the_form_of_the_guide_is_read() {
        let workload = read(
            "steps:\n\
             - apply: objects.yaml\n\
             - {name: three, wait: {object: apps/v1 Deployment shop/web, until: object != null, within: 5s}}\n\
             - patch: {object: v1 ConfigMap a/b, merge: {data: {k: v}}}\n\
             - quiet: 500ms\n\
             - delete: {object: v1 Namespace a, propagation: Background}\n\
             replicas: 2\n\
             rules:\n\
             - {name: none, eventually: pods.size() == 0}\n",
        )
        .unwrap();
        let steps: Vec<String> = workload.steps.iter().map(ToString::to_string).collect();
        assert_eq!(
            steps,
            [
                "apply v1 Namespace a, v1 ConfigMap a/b",
                "three",
                "patch v1 ConfigMap a/b",
                "quiet for 500ms",
                "delete v1 Namespace a",
            ]
        );
        assert_eq!((workload.replicas, workload.rules.len()), (2, 1));
        assert!(
            matches!(&workload.steps[1].action, Action::Wait { within, .. } if within.as_secs() == 5)
        );
    }

    #[test]
    fn mistakes_are_reported_with_their_step() {
        for (text, expected) in [
            ("steps: []", "it has no `steps:`"),
            ("steps: [{quiet: 1s}]\nreplicas: 0", "`replicas: 0`"),
            ("steps: [{quiet: soon}]", "step 1: \"soon\" is no duration"),
            (
                "steps: [{quiet: 1s, wait: {object: v1 Pod a/b, until: x}}]",
                "step 1: it has `wait` and `quiet`: make each a step of its own",
            ),
            ("steps: [{name: x}]", "step 1: it needs one of"),
            (
                "steps: [{patch: {object: v1 Pod a/b, merge: {}, json: []}}]",
                "step 1: `patch` has both",
            ),
            (
                "steps: [{quiet: 1s}]\nrules: [{name: x, always: 'true', eventually: 'true'}]",
                "rule \"x\": it has both",
            ),
            (
                "steps: [{quiet: 1s}, {patch: {object: v1 Pod a/b}}]",
                "step 2: `patch` needs one of `merge` and `json`",
            ),
            (
                "steps: [{delete: {object: v1 Pod a/b, propagation: Later}}]",
                "step 1: `propagation: Later`",
            ),
            ("steps: [{apply: {kind: Pod}}]", "step 1: an object needs"),
            (
                "steps: [{delete: {object: Pod a}}]",
                "no reference to an object",
            ),
            ("steps: [{sleep: 1s}]", "sleep"),
            ("steps: [", "line 1"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
