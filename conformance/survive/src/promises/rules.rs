//! The rules of the user, in CEL over the whole state.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver::{CelExpression, CelInput, Clock};
use serde_json::{Map, Value};

use super::Case;
use crate::{
    finding::{Finding, Promise},
    history::{History, ServedObject},
    kinds::ServedKinds,
    workload::{Rule, When, Workload},
};

/// The variable with the lists of all resources, by their names with groups.
const RESOURCES: &str = "resources";
/// The beginning of the error of a key that a map does not have.
const NO_KEY: &str = "no such key: ";

/// The compiled rules.
#[derive(Debug, Default)]
pub(in super::super) struct Rules {
    compiled: Vec<(Rule, CelExpression)>,
    /// The names of variables, and the resources with groups that they stand for.
    variables: BTreeMap<String, String>,
    /// The names of all resources, with their groups.
    resources: BTreeSet<String>,
}

/// The objects of each resource, by uid.
type State = BTreeMap<String, BTreeMap<String, ServedObject>>;

// === impl Rules ===

impl Rules {
    /// Compiles the rules of a workload for the resources of a server.
    ///
    /// # Errors
    ///
    /// An expression is wrong; the error names the rule.
    pub(in super::super) fn compile(
        workload: &Workload,
        kinds: &ServedKinds,
    ) -> Result<Self, String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let resources = kinds.resources();
        for kind in resources {
            *counts.entry(&kind.resource).or_default() += 1;
        }
        let is_name = |name: &str| {
            let mut letters = name.chars();
            letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        let variables: BTreeMap<String, String> = resources
            .iter()
            .filter(|kind| is_name(&kind.resource))
            // Of several, that of the core; the others are among `resources`.
            .filter(|kind| counts[kind.resource.as_str()] == 1 || kind.group.is_empty())
            .map(|kind| (kind.resource.clone(), kind.full_name()))
            .collect();
        let mut names: Vec<&str> = variables.keys().map(String::as_str).collect();
        names.extend([RESOURCES, "now"]);
        let mut all = Vec::new();
        for rule in &workload.rules {
            let compiled = CelExpression::compile(&rule.expression, &names);
            let compiled = compiled.map_err(|error| format!("{}: {error}", rule.named()))?;
            all.push((rule.clone(), compiled));
        }
        let rules = Self {
            compiled: all,
            variables,
            resources: resources.iter().map(|kind| kind.full_name()).collect(),
        };
        for (rule, expression) in &rules.compiled {
            let checked = rules.check_form(expression);
            checked.map_err(|reason| format!("{}: {reason}", rule.named()))?;
        }
        Ok(rules)
    }

    /// Fails if an expression is neither true nor false, or asks for a resource that is not served, as far as that shows where
    /// there are no objects.
    fn check_form(&self, expression: &CelExpression) -> Result<(), String> {
        let now = Clock::wall().now_text();
        match self.value(expression, &State::new(), &now) {
            Ok(Value::Bool(_)) => Ok(()),
            Ok(value) => Err(format!("it is {value}, but has to be true or false")),
            Err(error) => {
                let key = error.strip_prefix(NO_KEY).map(|key| key.trim_matches('"'));
                match key.filter(|key| expression.uses(RESOURCES) && !self.resources.contains(*key))
                {
                    Some(key) => Err(format!(
                        "`{RESOURCES}` has no {key:?}; its keys are plural names with their groups, as in deployments.apps"
                    )),
                    None => Ok(()),
                }
            }
        }
    }

    /// Returns what makes a rule untrue in a state; nothing if it is true.
    fn fault(&self, expression: &CelExpression, state: &State, now: &str) -> Option<String> {
        match self.value(expression, state, now) {
            Ok(Value::Bool(true)) => None,
            Ok(value) => Some(format!("it is {value}")),
            Err(error) => Some(error),
        }
    }

    fn value(&self, expression: &CelExpression, state: &State, now: &str) -> Result<Value, String> {
        let list = |resource: &str| -> Value {
            let objects = state.get(resource).into_iter().flat_map(BTreeMap::values);
            objects.map(ServedObject::value).collect()
        };
        let mut inputs: BTreeMap<&str, CelInput> = BTreeMap::new();
        for (name, resource) in &self.variables {
            if expression.uses(name) {
                inputs.insert(name, CelInput::Json(list(resource)));
            }
        }
        if expression.uses(RESOURCES) {
            let resources = self.resources.iter();
            let all: Map<String, Value> = resources
                .map(|resource| (resource.clone(), list(resource)))
                .collect();
            inputs.insert(RESOURCES, CelInput::Json(Value::Object(all)));
        }
        inputs.insert("now", CelInput::Timestamp(now.to_owned()));
        let value = expression.evaluate(&inputs);
        value.map_err(|error| error.to_string())
    }

    /// Returns whether an expression reads a resource.
    fn reads(&self, expression: &CelExpression, resource: &str) -> bool {
        expression.uses(RESOURCES)
            || self
                .variables
                .iter()
                .any(|(name, of)| of == resource && expression.uses(name))
    }
}

pub(super) fn check(case: &Case<'_>) -> Vec<Finding> {
    let rules = case.rules;
    if rules.compiled.is_empty() {
        return Vec::new();
    }
    let (history, now) = (&case.outcome.history, &case.outcome.now);
    let mut state = beginning(history);
    let mut broken: BTreeSet<usize> = BTreeSet::new();
    let mut findings = Vec::new();
    let mut look = |state: &State, changed: Option<&str>, when: &dyn std::fmt::Display| {
        for (place, (rule, expression)) in rules.compiled.iter().enumerate() {
            let is_new = changed.is_none_or(|resource| rules.reads(expression, resource));
            if rule.when != When::Always || broken.contains(&place) || !is_new {
                continue;
            }
            if let Some(fault) = rules.fault(expression, state, now) {
                broken.insert(place);
                let text = format!("{}: {when} {fault}", rule.name);
                findings.push(Finding::new(Promise::Rule, text));
            }
        }
    };
    look(&state, None, &"before the first step");
    for recorded in &history.changes {
        let resource = recorded.kind.full_name();
        let objects = state.entry(resource.clone()).or_default();
        if let Some(before) = recorded.change.before() {
            objects.remove(before.uid());
        }
        if let Some(after) = recorded.change.after() {
            let found = ServedObject {
                kind: recorded.kind.clone(),
                object: after.clone(),
            };
            objects.insert(after.uid().to_owned(), found);
        }
        let when = format!("at revision {}", recorded.change.revision());
        look(&state, Some(&resource), &when);
    }
    for (rule, expression) in &rules.compiled {
        if rule.when == When::Eventually
            && let Some(fault) = rules.fault(expression, &state, now)
        {
            let text = format!("{}: in the end {fault}", rule.name);
            findings.push(Finding::new(Promise::Rule, text));
        }
    }
    findings
}

fn beginning(history: &History) -> State {
    let mut state = State::new();
    for found in &history.beginning {
        let objects = state.entry(found.kind.full_name()).or_default();
        objects.insert(found.object.uid().to_owned(), found.clone());
    }
    state
}
