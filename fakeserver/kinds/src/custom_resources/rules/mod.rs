//! The rules of a schema that are written in CEL: `x-kubernetes-validations`.
//!
//! Upstream has this in `apiextensions-apiserver/pkg/apiserver/schema/cel`.

mod schema_type;
mod values;
mod compiled;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use fakeserver_cel::{Failure, Value as CelValue};
use fakeserver_value::{
    go_text::{printed_value, quote},
    read::text,
    status::FieldError,
};
use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

use self::{
    compiled::{Node, Rule, compile_message, compile_rule, has_rules},
    schema_type::SchemaType,
};
use super::validation::correlation::{Correlation, find_item};
use crate::Verdict;

/// The maximum cost of all rules of an object.
const BUDGET: u64 = 10_000_000;
/// The maximum size of a message that an expression makes.
const MESSAGE_MAX_BYTES: usize = 5 << 10;
/// The message after which no rule is evaluated any more.
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The compiled rules of one schema.
#[derive(Debug)]
pub(super) struct Rules {
    root: Option<Node>,
}

/// A rule that was compiled, for the validation of its definition.
#[derive(Debug, Default)]
pub(super) struct CheckedRule {
    pub(super) error: Option<String>,
    /// The maximum cost of an evaluation.
    pub(super) cost: u64,
    /// The maximum number of values in one object, where nothing limits it.
    pub(super) cardinality_max: u64,
    pub(super) message_error: Option<String>,
    pub(super) message_cost: Option<u64>,
    pub(super) uses_old_self: bool,
}

/// A value that rules are evaluated for.
#[derive(Clone, Copy)]
struct Subject<'v> {
    value: &'v Value,
    old: Option<&'v Value>,
    ratchet: Ratchet<'v>,
}

/// The correlation by which errors of unchanged values become warnings.
#[derive(Clone, Copy, Default)]
struct Ratchet<'v> {
    current: Option<Correlation<'v>>,
    /// The correlation of the nearest enclosing part that has one.
    around: Option<Correlation<'v>>,
}

/// The validation of one object.
struct ValidationRun {
    /// Errors show the values that break a rule, and not their types.
    shows_values: bool,
    budget: u64,
    is_over: bool,
    verdict: Verdict,
}

/// Compiles the rules of a schema for the validation of its definition; `None` if rules cannot see its values.
pub(super) fn check(schema: &Value, is_object: bool) -> Option<Vec<CheckedRule>> {
    let of = SchemaType::of(schema, is_object)?;
    let rules = schema["x-kubernetes-validations"].as_array();
    let rules = rules.into_iter().flatten();
    Some(rules.map(|rule| check_rule(rule, &of)).collect())
}

fn check_rule(rule: &Value, of: &Arc<SchemaType>) -> CheckedRule {
    let mut checked = CheckedRule {
        cardinality_max: of.cardinality_max(),
        ..CheckedRule::default()
    };
    if text(&rule["rule"]).trim().is_empty() {
        return checked;
    }
    let program = match compile_rule(rule, of) {
        Ok(program) => program,
        Err(why) => {
            checked.error = Some(why);
            return checked;
        }
    };
    checked.uses_old_self = program.uses("oldSelf");
    checked.cost = program.cost_max(&**of);
    match compile_message(rule, of) {
        Some(Ok(message)) => checked.message_cost = Some(message.cost_max(&**of)),
        Some(Err(why)) => checked.message_error = Some(why),
        None => {}
    }
    checked
}

// === impl Rules ===

impl Rules {
    /// Compiles the rules of `schema`; one without any costs nothing later. That of a whole object has a type and
    /// metadata, too.
    pub(super) fn compile(schema: &Value, is_object: bool) -> Self {
        Self {
            root: has_rules(schema).then(|| Node::new(schema, is_object)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Evaluates the rules for an object and the object that it replaces.
    pub(super) fn verdict(
        &self,
        kubernetes: KubernetesVersion,
        object: &Value,
        old: Option<&Value>,
        correlation: Option<Correlation<'_>>,
    ) -> Verdict {
        let ratchet = Ratchet {
            current: correlation,
            around: None,
        };
        let subject = Subject {
            value: object,
            old,
            ratchet,
        };
        self.run(kubernetes, "", subject)
    }

    /// Returns the errors of a value at a path, which no old value excuses.
    pub(super) fn errors_at(
        &self,
        kubernetes: KubernetesVersion,
        value: &Value,
        old: Option<&Value>,
        path: &str,
    ) -> Vec<FieldError> {
        let ratchet = Ratchet::default();
        let subject = Subject {
            value,
            old,
            ratchet,
        };
        self.run(kubernetes, path, subject).errors
    }

    fn run(&self, kubernetes: KubernetesVersion, path: &str, subject: Subject<'_>) -> Verdict {
        let Some(root) = &self.root else {
            return Verdict::default();
        };
        let mut run = ValidationRun {
            shows_values: kubernetes.gates().is_on("BrokenRulesShowValues"),
            budget: BUDGET,
            is_over: false,
            verdict: Verdict::default(),
        };
        run.check(root, path, subject);
        run.verdict
    }
}

// === impl Ratchet ===

impl Ratchet<'_> {
    fn is_unchanged(&self) -> bool {
        let nearest = self.current.or(self.around);
        nearest.is_some_and(|nearest| nearest.is_unchanged())
    }

    fn key(&self, name: &str) -> Self {
        let Some(current) = self.current else {
            return *self;
        };
        if self.around.is_none() && matches!(name, "apiVersion" | "kind") {
            return Self::default();
        }
        Self {
            current: current.key(name),
            around: Some(current),
        }
    }

    fn index(&self, index: usize) -> Self {
        let Some(current) = self.current else {
            return *self;
        };
        Self {
            current: current.index(index),
            around: Some(current),
        }
    }
}

// === impl ValidationRun ===

impl ValidationRun {
    fn check(&mut self, node: &Node, path: &str, subject: Subject<'_>) {
        if subject.value.is_null() || self.is_over {
            return;
        }
        self.check_rules(node, path, subject);
        match subject.value {
            Value::Array(items) => self.check_items(node, path, items, subject),
            Value::Object(_) => self.check_fields(node, path, subject),
            _ => {}
        }
    }

    fn check_items(&mut self, node: &Node, path: &str, items: &[Value], subject: Subject<'_>) {
        let Some(inner) = &node.items else { return };
        let old = subject.old.and_then(Value::as_array);
        for (index, value) in items.iter().enumerate() {
            let old = old.and_then(|old| find_item(&node.schema, old, value));
            let subject = Subject {
                value,
                old,
                ratchet: subject.ratchet.index(index),
            };
            self.check(inner, &format!("{path}[{index}]"), subject);
        }
    }

    fn check_fields(&mut self, node: &Node, path: &str, subject: Subject<'_>) {
        let fields = subject.value.as_object().into_iter().flatten();
        for (name, value) in fields {
            let subject = Subject {
                value,
                old: subject.old.and_then(|old| old.get(name)),
                ratchet: subject.ratchet.key(name),
            };
            if let Some(inner) = &node.additional {
                self.check(inner, &format!("{path}[{name}]"), subject);
            }
            if let Some(inner) = node.properties.get(name) {
                self.check(inner, &below(path, name), subject);
            }
        }
    }

    fn check_rules(&mut self, node: &Node, path: &str, subject: Subject<'_>) {
        for rule in &node.rules {
            if self.is_over {
                return;
            }
            self.check_rule(node, rule, path, subject);
        }
    }

    fn check_rule(&mut self, node: &Node, rule: &Rule, path: &str, subject: Subject<'_>) {
        let program = match &rule.program {
            Ok(program) => program,
            Err(why) => return self.fail(node, path, &format!("rule compile error: {why}")),
        };
        let uses_old = program.uses("oldSelf");
        if uses_old && subject.old.is_none() && !rule.has_optional_old {
            return;
        }
        let values = (subject.value, subject.old);
        let (outcome, cost) = node.evaluate(program, rule, values);
        if !self.spend(cost) {
            return self.stop(node, path, OUT_OF_BUDGET);
        }
        let name = rule.name();
        match outcome {
            Ok(CelValue::Bool(true)) => {}
            Err(Failure::Cancelled) => self.stop(
                node,
                path,
                &format!(
                    "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to \
                     call cost exceeds limit for rule: {name}"
                ),
            ),
            Err(Failure::Error(why)) if why.starts_with("no such overload") => self.fail(
                node,
                path,
                &format!(
                    "'{why}': call arguments did not match a supported operator, function or macro signature for rule: \
                     {name}"
                ),
            ),
            Err(Failure::Error(why)) => {
                self.fail(node, path, &format!("{why} evaluating rule: {name}"));
            }
            Ok(_) => {
                let detail = self.message(node, rule, subject);
                let value = Some(subject.value).filter(|_| self.shows_values);
                let error = broken(node, rule, path, value, &detail);
                if !uses_old && subject.ratchet.is_unchanged() {
                    self.verdict.warnings.push(error);
                } else {
                    self.verdict.errors.push(error);
                }
            }
        }
    }

    /// Returns the message of a broken rule.
    fn message(&mut self, node: &Node, rule: &Rule, subject: Subject<'_>) -> String {
        if let Some(program) = &rule.message_program {
            let values = (subject.value, subject.old);
            let (outcome, cost) = node.evaluate(program, rule, values);
            let fits = self.spend(cost);
            let exceeded = outcome == Err(Failure::Cancelled);
            if !fits || exceeded {
                self.is_over = true;
                return if fits {
                    "no further validation rules will be run due to call cost exceeds limit for messageExpression"
                } else {
                    "messageExpression evaluation failed due to running out of cost budget, no further validation \
                     rules will be run"
                }
                .to_owned();
            }
            if let Ok(CelValue::String(message)) = outcome {
                let message = message.trim();
                let has_form = !message.is_empty()
                    && message.len() <= MESSAGE_MAX_BYTES
                    && !message.contains('\n');
                if has_form {
                    return message.to_owned();
                }
            }
        }
        if rule.message.is_empty() {
            format!("failed rule: {}", rule.text)
        } else {
            rule.message.clone()
        }
    }

    fn spend(&mut self, cost: u64) -> bool {
        let left = self.budget.checked_sub(cost);
        self.budget = left.unwrap_or_default();
        left.is_some()
    }

    /// Adds an error that shows the type of the value.
    fn fail(&mut self, node: &Node, path: &str, detail: &str) {
        let error = FieldError::invalid_printed(or_nil(path), &quote(node.ty()), detail);
        self.verdict.errors.push(error);
    }

    /// Adds such an error, and evaluates no more rules.
    fn stop(&mut self, node: &Node, path: &str, detail: &str) {
        self.fail(node, path, detail);
        self.is_over = true;
    }
}

/// Returns the error of a broken rule, which shows no lists and objects, and without a value the type.
fn broken(node: &Node, rule: &Rule, path: &str, value: Option<&Value>, detail: &str) -> FieldError {
    let path = match (path, rule.field.as_str()) {
        (path, "") => path.to_owned(),
        (path, field) => below(path, field),
    };
    let path = or_nil(&path);
    let is_shown = value.is_none() || !matches!(node.ty(), "object" | "array");
    let shown = || value.map_or_else(|| quote(node.ty()), printed_value);
    match rule.reason.as_deref() {
        Some("FieldValueForbidden") => FieldError::forbidden(path, detail),
        Some("FieldValueRequired") => FieldError::required(path, detail),
        Some("FieldValueDuplicate") if is_shown => FieldError::duplicate_printed(path, &shown()),
        Some("FieldValueDuplicate") => FieldError::duplicate_omitted(path),
        _ if is_shown => FieldError::invalid_printed(path, &shown(), detail),
        _ => FieldError::invalid_omitted(path, detail),
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// Returns the path of a field, or the name of none.
fn or_nil(path: &str) -> &str {
    if path.is_empty() { "<nil>" } else { path }
}
