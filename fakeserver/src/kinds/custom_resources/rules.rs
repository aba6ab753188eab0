//! The rules of a schema that are written in CEL: `x-kubernetes-validations`.
//!
//! Upstream has this in `apiextensions-apiserver/pkg/apiserver/schema/cel`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    cel::{Evaluated, Evaluator, ObjectType, Program, Variable, compile},
    field_path::{FieldPath, Notation},
    go_text::{quote, shown},
    validation::correlation::{Correlation, find_item},
};
use crate::{kinds::Verdict, value::status::FieldError};

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

/// The rules of a schema and of all schemas within it.
#[derive(Debug)]
struct Node {
    /// The schema without those of its fields, for lists whose items have keys.
    schema: Value,
    rules: Vec<Rule>,
    items: Option<Box<Node>>,
    additional: Option<Box<Node>>,
    properties: BTreeMap<String, Node>,
}

#[derive(Debug)]
struct Rule {
    text: String,
    message: String,
    reason: Option<String>,
    has_optional_old: bool,
    /// The path of the field that errors name, below the value.
    field: String,
    program: Result<Program, String>,
    /// The expression that makes the message.
    message_program: Option<Program>,
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
    /// That of the nearest part around it that has one.
    around: Option<Correlation<'v>>,
}

/// The validation of one object.
struct Run {
    evaluator: Evaluator,
    budget: u64,
    is_over: bool,
    verdict: Verdict,
}

/// Compiles the rules of a schema for the validation of its definition; `None` if rules cannot see its values.
pub(super) fn check(schema: &Value, is_object: bool) -> Option<Vec<CheckedRule>> {
    let ty = ObjectType::of(schema, is_object)?;
    let rules = schema["x-kubernetes-validations"].as_array();
    let rules = rules.into_iter().flatten();
    Some(rules.map(|rule| check_rule(rule, &ty)).collect())
}

fn check_rule(rule: &Value, ty: &ObjectType) -> CheckedRule {
    let mut checked = CheckedRule {
        cardinality_max: ty.cardinality_max(),
        ..CheckedRule::default()
    };
    if text(&rule["rule"]).trim().is_empty() {
        return checked;
    }
    let program = match compile_rule(rule, ty) {
        Ok(program) => program,
        Err(why) => {
            checked.error = Some(why);
            return checked;
        }
    };
    checked.uses_old_self = program.uses("oldSelf");
    checked.cost = program.cost_max();
    match compile_message(rule, ty) {
        Some(Ok(message)) => checked.message_cost = Some(message.cost_max()),
        Some(Err(why)) => checked.message_error = Some(why),
        None => {}
    }
    checked
}

fn variables(rule: &Value) -> [Variable; 2] {
    let old = if rule["optionalOldSelf"] == true {
        Variable::Optional("oldSelf")
    } else {
        Variable::Always("oldSelf")
    };
    [Variable::Always("self"), old]
}

fn compile_rule(rule: &Value, ty: &ObjectType) -> Result<Program, String> {
    let program = compile(text(&rule["rule"]), ty, &variables(rule))
        .map_err(|why| format!("compilation failed: {why}"))?;
    if program.is_bool() {
        Ok(program)
    } else {
        Err("cel expression must evaluate to a bool".to_owned())
    }
}

fn compile_message(rule: &Value, ty: &ObjectType) -> Option<Result<Program, String>> {
    let given = text(&rule["messageExpression"]);
    if given.is_empty() {
        return None;
    }
    let program = compile(given, ty, &variables(rule))
        .map_err(|why| format!("messageExpression compilation failed: {why}"));
    Some(program.and_then(|program| {
        if program.is_text() {
            Ok(program)
        } else {
            Err("messageExpression must evaluate to a string".to_owned())
        }
    }))
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

    /// Returns what the rules say of an object, given what it replaces.
    pub(super) fn verdict(
        &self,
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
        self.run("", subject)
    }

    /// Returns the errors of a value at a path, which no old value excuses.
    pub(super) fn errors_at(
        &self,
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
        self.run(path, subject).errors
    }

    fn run(&self, path: &str, subject: Subject<'_>) -> Verdict {
        let Some(root) = &self.root else {
            return Verdict::default();
        };
        let mut run = Run {
            evaluator: Evaluator::new(),
            budget: BUDGET,
            is_over: false,
            verdict: Verdict::default(),
        };
        run.check(root, path, subject);
        run.verdict
    }
}

fn has_rules(schema: &Value) -> bool {
    let own = schema["x-kubernetes-validations"].as_array();
    let properties = schema["properties"].as_object();
    own.is_some_and(|rules| !rules.is_empty())
        || (schema["items"].is_object() && has_rules(&schema["items"]))
        || (schema["additionalProperties"].is_object()
            && has_rules(&schema["additionalProperties"]))
        || properties.is_some_and(|all| all.values().any(has_rules))
}

// === impl Node ===

impl Node {
    fn new(schema: &Value, is_object: bool) -> Self {
        let ty = ObjectType::of(schema, is_object);
        let rules = schema["x-kubernetes-validations"].as_array();
        let rules = rules.into_iter().flatten();
        let child = |schema: &Value| {
            let is_object = schema["x-kubernetes-embedded-resource"] == true;
            has_rules(schema).then(|| Self::new(schema, is_object))
        };
        let properties = schema["properties"].as_object().into_iter().flatten();
        let part = |keyword: &str| schema.get(keyword).and_then(child).map(Box::new);
        Self {
            rules: rules
                .filter_map(|rule| Rule::new(rule, schema, ty.as_ref()?))
                .collect(),
            items: part("items"),
            additional: part("additionalProperties"),
            properties: properties
                .filter_map(|(name, schema)| Some((name.clone(), child(schema)?)))
                .collect(),
            schema: serde_json::json!({
                "type": schema["type"],
                "x-kubernetes-list-type": schema["x-kubernetes-list-type"],
                "x-kubernetes-list-map-keys": schema["x-kubernetes-list-map-keys"],
            }),
        }
    }

    fn ty(&self) -> &str {
        text(&self.schema["type"])
    }
}

// === impl Rule ===

impl Rule {
    fn new(rule: &Value, schema: &Value, ty: &ObjectType) -> Option<Self> {
        let own = text(&rule["rule"]).trim();
        let path = text(&rule["fieldPath"]);
        let field = FieldPath::resolve(path, schema, Notation::DotsAndBrackets);
        (!own.is_empty()).then(|| Self {
            text: own.to_owned(),
            message: text(&rule["message"]).trim().to_owned(),
            reason: rule["reason"].as_str().map(str::to_owned),
            has_optional_old: rule["optionalOldSelf"] == true,
            field: field.map(|field| field.path).unwrap_or_default(),
            program: compile_rule(rule, ty),
            message_program: compile_message(rule, ty).and_then(Result::ok),
        })
    }

    /// Returns the text that names the rule in errors.
    fn name(&self) -> &str {
        if self.message.is_empty() {
            &self.text
        } else {
            &self.message
        }
    }

    fn values<'v>(&self, subject: Subject<'v>) -> [(Variable, Option<&'v Value>); 2] {
        let old = if self.has_optional_old {
            Variable::Optional("oldSelf")
        } else {
            Variable::Always("oldSelf")
        };
        [
            (Variable::Always("self"), Some(subject.value)),
            (old, subject.old),
        ]
    }
}

// === impl Ratchet ===

impl<'v> Ratchet<'v> {
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

// === impl Run ===

impl Run {
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
        let values = rule.values(subject);
        let (outcome, cost) = program.evaluate(&self.evaluator, &values);
        if !self.spend(cost) {
            return self.stop(node, path, OUT_OF_BUDGET);
        }
        let name = rule.name();
        match outcome {
            Evaluated::Bool(true) => {}
            Evaluated::CostLimit => self.stop(
                node,
                path,
                &format!(
                    "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to \
                     call cost exceeds limit for rule: {name}"
                ),
            ),
            Evaluated::Failed(why) if why.starts_with("no such overload") => self.fail(
                node,
                path,
                &format!(
                    "'{why}': call arguments did not match a supported operator, function or macro signature for rule: \
                     {name}"
                ),
            ),
            Evaluated::Failed(why) => {
                self.fail(node, path, &format!("{why} evaluating rule: {name}"));
            }
            _ => {
                let detail = self.message(rule, subject);
                let error = broken(node, rule, path, subject.value, &detail);
                if !uses_old && subject.ratchet.is_unchanged() {
                    self.verdict.warnings.push(error.to_string());
                } else {
                    self.verdict.errors.push(error);
                }
            }
        }
    }

    /// Returns the message of a broken rule.
    fn message(&mut self, rule: &Rule, subject: Subject<'_>) -> String {
        if let Some(program) = &rule.message_program {
            let (outcome, cost) = program.evaluate(&self.evaluator, &rule.values(subject));
            let fits = self.spend(cost);
            let exceeded = outcome == Evaluated::CostLimit;
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
            if let Evaluated::Text(message) = outcome {
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

/// Returns the error of a broken rule, which shows no lists and objects.
fn broken(node: &Node, rule: &Rule, path: &str, value: &Value, detail: &str) -> FieldError {
    let path = match (path, rule.field.as_str()) {
        (path, "") => path.to_owned(),
        (path, field) => below(path, field),
    };
    let path = or_nil(&path);
    let is_shown = !matches!(node.ty(), "object" | "array");
    match rule.reason.as_deref() {
        Some("FieldValueForbidden") => FieldError::forbidden(path, detail),
        Some("FieldValueRequired") => FieldError::required(path, detail),
        Some("FieldValueDuplicate") if is_shown => {
            FieldError::duplicate_printed(path, &shown(value))
        }
        Some("FieldValueDuplicate") => FieldError::duplicate_omitted(path),
        _ if is_shown => FieldError::invalid_printed(path, &shown(value), detail),
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

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
