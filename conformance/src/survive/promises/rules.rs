//! The rules of the user, in CEL over the whole state.

use std::collections::{BTreeMap, BTreeSet};

use fakeserver::{CelExpression, CelInput};
use serde_json::{Map, Value};

use super::Case;
use crate::survive::{
    finding::{Finding, Promise},
    history::{Found, History},
    kinds::ServedKinds,
    workload::{Rule, When, Workload},
};

/// The variable with the lists of all resources, by their names with groups.
const RESOURCES: &str = "resources";

/// The compiled rules.
#[derive(Debug, Default)]
pub(in super::super) struct Rules {
    rules: Vec<(Rule, CelExpression)>,
    /// The names of variables, and the resources with groups that they stand for.
    variables: BTreeMap<String, String>,
}

/// The objects of each resource, by uid.
type State = BTreeMap<String, BTreeMap<String, Found>>;

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
        let mut rules = Vec::new();
        for rule in &workload.rules {
            let compiled = CelExpression::compile(&rule.expression, &names);
            let compiled = compiled.map_err(|error| format!("rule {:?}: {error}", rule.name))?;
            rules.push((rule.clone(), compiled));
        }
        Ok(Self { rules, variables })
    }

    /// Returns what makes a rule untrue in a state; nothing if it is true.
    fn fault(&self, expression: &CelExpression, state: &State, now: &str) -> Option<String> {
        let list = |resource: &str| -> Value {
            let objects = state.get(resource).into_iter().flat_map(BTreeMap::values);
            objects.map(Found::value).collect()
        };
        let mut inputs: BTreeMap<&str, CelInput> = BTreeMap::new();
        for (name, resource) in &self.variables {
            if expression.uses(name) {
                inputs.insert(name, CelInput::Json(list(resource)));
            }
        }
        if expression.uses(RESOURCES) {
            let all: Map<String, Value> = state
                .keys()
                .map(|resource| (resource.clone(), list(resource)))
                .collect();
            inputs.insert(RESOURCES, CelInput::Json(Value::Object(all)));
        }
        inputs.insert("now", CelInput::Timestamp(now.to_owned()));
        match expression.evaluate(&inputs) {
            Ok(Value::Bool(true)) => None,
            Ok(value) => Some(format!("it is {value}")),
            Err(error) => Some(error.to_string()),
        }
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
    if rules.rules.is_empty() {
        return Vec::new();
    }
    let (history, now) = (&case.outcome.history, &case.outcome.now);
    let mut state = beginning(history);
    let mut broken: BTreeSet<usize> = BTreeSet::new();
    let mut findings = Vec::new();
    for recorded in &history.changes {
        let resource = recorded.kind.full_name();
        let objects = state.entry(resource.clone()).or_default();
        if let Some(before) = recorded.change.before() {
            objects.remove(before.uid());
        }
        if let Some(after) = recorded.change.after() {
            let found = Found {
                kind: recorded.kind.clone(),
                object: after.clone(),
            };
            objects.insert(after.uid().to_owned(), found);
        }
        for (place, (rule, expression)) in rules.rules.iter().enumerate() {
            if rule.when != When::Always
                || broken.contains(&place)
                || !rules.reads(expression, &resource)
            {
                continue;
            }
            if let Some(fault) = rules.fault(expression, &state, now) {
                broken.insert(place);
                let revision = recorded.change.revision();
                let text = format!("{}: at revision {revision} {fault}", rule.name);
                findings.push(Finding::new(Promise::Rule, text));
            }
        }
    }
    for (rule, expression) in &rules.rules {
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
