//! The interpreter: evaluates a checked tree, counts what that costs, and stops at a limit.
//!
//! The evaluation follows the interpreter of cel-go, since errors and costs depend on its steps. A chain of fields and indices, with
//! the variable at its beginning, is one *attribute*: each step costs 1, and the attribute 1. Constants cost nothing.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    sync::Arc,
};

use super::{
    ast::{ACCUMULATOR, Element, Entry, Expr, ExprKind, Fold, StructField, operators},
    checker::Notes,
    constants::members,
    cost::call_cost,
    environment::JSON_PATCH,
    library, lists,
    operations::no_overload,
    parser::deep,
    value::{
        ConstructedObject, Value, as_key, as_list, as_optional, error_of, list, map, printed,
        sorted, type_name,
    },
};

/// The maximum cost of one evaluation.
const COST_MAX: u64 = 1_000_000;
/// The costs of a list, a map and an object that are made.
const LIST: u64 = 10;
const MAP: u64 = 30;
const STRUCT: u64 = 40;

/// The reason for which an evaluation gave no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    Error(String),
    /// The cost went beyond the limit. No operator absorbs this.
    Cancelled,
}

/// The values of variables.
pub trait Variables {
    /// Returns the value of a variable. The name of one that a policy composes begins with `variables.`.
    fn get(&self, name: &str) -> Option<Result<Value, Failure>>;
}

/// Variables whose values are known.
#[derive(Clone, Debug, Default)]
pub struct KnownVariables(pub BTreeMap<&'static str, Value>);

/// One evaluation.
pub(super) struct Interpreter<'a> {
    pub(super) notes: &'a Notes,
    pub(super) variables: &'a dyn Variables,
    pub(super) cost: Cell<u64>,
}

/// The variables of a loop around an expression, the innermost first.
pub(super) struct Frame<'a> {
    outer: Scope<'a>,
    fold: &'a Fold,
    /// The accumulated value, which begins when it is read first.
    accumulated: RefCell<Option<EvaluationResult>>,
    /// The values of the variables in this step; none while the result is evaluated.
    step: Option<(Value, Value)>,
}

/// The result of an evaluation.
pub(super) type EvaluationResult = Result<Value, Failure>;
pub(super) type Scope<'a> = Option<&'a Frame<'a>>;

// === impl Failure ===

impl Failure {
    pub(super) fn error(why: impl Into<String>) -> Self {
        Self::Error(why.into())
    }

    /// Returns the words for the failure.
    pub fn message(&self) -> &str {
        match self {
            Self::Error(message) => message,
            Self::Cancelled => "operation cancelled: actual cost limit exceeded",
        }
    }
}

// === impl KnownVariables ===

impl Variables for KnownVariables {
    fn get(&self, name: &str) -> Option<Result<Value, Failure>> {
        self.0.get(name).cloned().map(Ok)
    }
}

// === impl Interpreter ===

impl Interpreter<'_> {
    /// Adds to the cost.
    pub(super) fn charge(&self, cost: u64) -> Result<(), Failure> {
        self.cost.set(self.cost.get().saturating_add(cost));
        if self.cost.get() > COST_MAX {
            return Err(Failure::Cancelled);
        }
        Ok(())
    }

    /// Evaluates an expression.
    pub(super) fn evaluate(&self, expr: &Expr, around: Scope<'_>) -> EvaluationResult {
        if let Some(constant) = &self.notes.of(expr).constant {
            return Ok(constant.clone());
        }
        deep(|| self.evaluate_parts(expr, around))
    }

    fn evaluate_parts(&self, expr: &Expr, around: Scope<'_>) -> EvaluationResult {
        if self.is_attribute(expr) {
            return self.attribute(expr, around);
        }
        match &expr.kind {
            ExprKind::Call {
                function,
                target,
                arguments,
            } => self.call(expr, function, target.as_deref(), arguments, around),
            ExprKind::List(elements) => self.list(elements, around),
            ExprKind::Map(entries) => self.map(entries, around),
            ExprKind::Struct { name, fields } => self.construct(name, fields, around),
            ExprKind::Fold(fold) => self.fold(fold, around),
            ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Select { .. } => {
                Err(no_overload())
            }
        }
    }

    /// Returns the value of a variable. Reading it costs nothing by itself.
    pub(super) fn variable(&self, name: &str, mut around: Scope<'_>) -> EvaluationResult {
        while let Some(frame) = around {
            if frame.fold.accumulator == name {
                return self.accumulated(frame);
            }
            if let Some((first, second)) = &frame.step {
                if frame.fold.variable == name {
                    return usable(first.clone());
                }
                if frame.fold.second.as_deref() == Some(name) {
                    return usable(second.clone());
                }
            }
            around = frame.outer;
        }
        let missing = || Failure::error(format!("no such attribute(s): {name}"));
        self.variables.get(name).unwrap_or_else(|| Err(missing()))
    }

    fn accumulated(&self, frame: &Frame<'_>) -> EvaluationResult {
        if let Some(accumulated) = frame.accumulated.borrow().as_ref() {
            return accumulated.clone();
        }
        let start = self.evaluate(&frame.fold.start, frame.outer);
        *frame.accumulated.borrow_mut() = Some(start.clone());
        start
    }

    fn call(
        &self,
        expr: &Expr,
        function: &str,
        target: Option<&Expr>,
        arguments: &[Expr],
        around: Scope<'_>,
    ) -> EvaluationResult {
        match (function, target, arguments) {
            (operators::AND | operators::OR, None, _) => {
                return self.logic(function == operators::OR, arguments, around);
            }
            (operators::NOT_STRICTLY_FALSE, None, [argument]) => {
                let value = self.evaluate(argument, around);
                self.charge(1)?;
                return Ok(Value::Bool(value != Ok(Value::Bool(false))));
            }
            ("or" | "orValue", Some(target), [other]) => {
                let value = self.evaluate(target, around)?;
                return match as_optional(&value) {
                    Some(None) => self.evaluate(other, around),
                    Some(Some(content)) if function == "orValue" => Ok(content.clone()),
                    _ => Ok(value),
                };
            }
            (operators::IN, None, [item, container])
                if self.notes.overload(expr) == "in_list"
                    && let Some(constant) = &self.notes.of(container).constant =>
            {
                if let Some(items) = members(constant) {
                    let item = self.evaluate(item, around)?;
                    return Ok(Value::Bool(lists::contains(items, &item)));
                }
            }
            _ => {}
        }
        self.call_function(expr, function, (target, arguments), around)
    }

    fn call_function(
        &self,
        expr: &Expr,
        function: &str,
        (target, arguments): (Option<&Expr>, &[Expr]),
        around: Scope<'_>,
    ) -> EvaluationResult {
        let count = arguments.len() + usize::from(target.is_some());
        let (mut operands, mut failure) = (Vec::with_capacity(count), None);
        for (index, operand) in target.into_iter().chain(arguments).enumerate() {
            let accumulated = (index == 0)
                .then(|| self.take_accumulated(function, operand, around))
                .flatten();
            match accumulated.unwrap_or_else(|| self.evaluate(operand, around)) {
                Ok(value) => operands.push(value),
                Err(Failure::Cancelled) => return Err(Failure::Cancelled),
                // With two operands, both are evaluated.
                Err(error) if count <= 2 => {
                    operands.push(Value::Null);
                    failure = failure.or(Some(error));
                }
                Err(error) => return Err(error),
            }
        }
        let overload = self.notes.overload(expr);
        if let Some(error) = failure {
            self.charge(call_cost(function, overload, &operands, &Value::Null))?;
            return Err(error);
        }
        // An accumulator grows in place, so that the cost of adding to it does not depend on its size.
        if function == operators::MAP_INSERT || overload == "add_list" {
            self.charge(1)?;
            return lists::accumulate(function, operands);
        }
        let result = library::call(function, target.is_some(), &operands);
        let value = result.as_ref().unwrap_or(&Value::Null);
        self.charge(call_cost(function, overload, &operands, value))?;
        result
    }

    /// Takes the accumulated value out of the loop whose step adds to it.
    fn take_accumulated(
        &self,
        function: &str,
        operand: &Expr,
        around: Scope<'_>,
    ) -> Option<EvaluationResult> {
        let is_accumulator = matches!(&operand.kind, ExprKind::Ident(name) if name == ACCUMULATOR);
        let frame =
            around.filter(|frame| is_accumulator && frame.fold.accumulator == ACCUMULATOR)?;
        if !matches!(function, operators::ADD | operators::MAP_INSERT) {
            return None;
        }
        let begun = self.accumulated(frame);
        drop(begun);
        let taken = frame.accumulated.borrow_mut().take()?;
        Some(self.charge(1).and(taken))
    }

    /// Evaluates `||` and `&&`. The value `decisive` decides alone, even if the other side fails.
    fn logic(&self, decisive: bool, terms: &[Expr], around: Scope<'_>) -> EvaluationResult {
        let mut failure = None;
        for term in terms {
            let found = match self.evaluate(term, around) {
                Ok(Value::Bool(value)) if value == decisive => return Ok(Value::Bool(value)),
                Ok(Value::Bool(_)) => continue,
                Ok(_) => no_overload(),
                Err(Failure::Cancelled) => return Err(Failure::Cancelled),
                Err(error) => error,
            };
            failure = failure.or(Some(found));
        }
        failure.map_or(Ok(Value::Bool(!decisive)), Err)
    }

    fn list(&self, elements: &[Element], around: Scope<'_>) -> EvaluationResult {
        self.charge(LIST)?;
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.evaluate(&element.value, around)?;
            let value = present(value, element.is_optional, |value| {
                format!("cannot initialize optional list element from non-optional value {value}")
            });
            items.extend(value?);
        }
        Ok(list(items))
    }

    fn map(&self, entries: &[Entry], around: Scope<'_>) -> EvaluationResult {
        self.charge(MAP)?;
        let mut made = BTreeMap::new();
        for entry in entries {
            let key = self.evaluate(&entry.key, around)?;
            let value = self.evaluate(&entry.value, around)?;
            let value = present(value, entry.is_optional, |value| {
                no_optional_entry(&printed(&key), value)
            })?;
            let unsupported =
                || Failure::error(format!("unsupported key type: {}", type_name(&key)));
            let key = as_key(&key).ok_or_else(unsupported)?;
            match value {
                Some(value) => made.insert(key, value),
                None => made.remove(&key),
            };
        }
        Ok(map(made))
    }

    fn construct(&self, name: &str, fields: &[StructField], around: Scope<'_>) -> EvaluationResult {
        self.charge(STRUCT)?;
        let mut made = BTreeMap::new();
        for field in fields {
            let value = self.evaluate(&field.value, around)?;
            let value = present(value, field.is_optional, |value| {
                no_optional_entry(&field.name, value)
            })?;
            let Some(value) = value else {
                made.remove(&field.name);
                continue;
            };
            if name == JSON_PATCH && field.name != "value" && !matches!(value, Value::String(_)) {
                return Err(Failure::error(format!(
                    "unexpected type {} for JSONPatchType '{}' field",
                    type_name(&value),
                    field.name
                )));
            }
            made.insert(field.name.clone(), value);
        }
        Ok(Value::Opaque(Arc::new(ConstructedObject {
            type_name: name.to_owned(),
            fields: made,
        })))
    }

    fn fold(&self, fold: &Fold, around: Scope<'_>) -> EvaluationResult {
        let range = self.evaluate(&fold.range, around)?;
        let mut accumulated = None;
        for step in steps(&range, fold.second.is_some())? {
            let frame = Frame {
                outer: around,
                fold,
                accumulated: RefCell::new(accumulated),
                step: Some(step),
            };
            match self.evaluate(&fold.condition, Some(&frame)) {
                Err(Failure::Cancelled) => return Err(Failure::Cancelled),
                Ok(Value::Bool(false)) => {
                    accumulated = frame.accumulated.into_inner();
                    break;
                }
                _ => {}
            }
            // A loop continues after an error, which later steps may make irrelevant.
            let next = self.evaluate(&fold.step, Some(&frame));
            if next == Err(Failure::Cancelled) {
                return next;
            }
            accumulated = Some(next);
        }
        let frame = Frame {
            outer: around,
            fold,
            accumulated: RefCell::new(accumulated),
            step: None,
        };
        self.evaluate(&fold.result, Some(&frame))
    }
}

/// Returns a value that fits its schema, or its error.
pub(super) fn usable(value: Value) -> EvaluationResult {
    match error_of(&value) {
        Some(why) => Err(Failure::error(why)),
        None => Ok(value),
    }
}

/// Returns the value of an element, nothing for an optional one without a value.
fn present(
    value: Value,
    is_optional: bool,
    problem: impl Fn(&str) -> String,
) -> Result<Option<Value>, Failure> {
    if !is_optional {
        return Ok(Some(value));
    }
    let content = as_optional(&value).ok_or_else(|| Failure::error(problem(&printed(&value))))?;
    Ok(content.cloned())
}

fn no_optional_entry(key: &str, value: &str) -> String {
    format!("cannot initialize optional entry '{key}' from non-optional value {value}")
}

/// Returns the values of the variables of a loop in each of its steps.
fn steps(range: &Value, has_two: bool) -> Result<Vec<(Value, Value)>, Failure> {
    if let Some(items) = as_list(range) {
        let items = (0..).zip(items.iter()).map(|(index, item)| {
            if has_two {
                (Value::Int(index), item.clone())
            } else {
                (item.clone(), Value::Null)
            }
        });
        return Ok(items.collect());
    }
    match range {
        Value::Map(map) => Ok(sorted(map)),
        other if has_two => Err(Failure::error(format!(
            "unsupported comprehension range type: {}",
            go_type(other)
        ))),
        other => Err(Failure::error(format!(
            "got '{}', expected iterable type",
            go_type(other)
        ))),
    }
}

/// Returns the name of the type in Go that a value has there.
fn go_type(value: &Value) -> String {
    match value {
        Value::Int(_) => "types.Int",
        Value::UInt(_) => "types.Uint",
        Value::Float(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Bool(_) => "types.Bool",
        Value::Null => "types.Null",
        Value::Duration(_) => "types.Duration",
        Value::Timestamp(_) => "types.Timestamp",
        other => return type_name(other),
    }
    .to_owned()
}
