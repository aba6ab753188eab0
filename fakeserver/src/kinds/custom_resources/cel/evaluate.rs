//! The evaluation of checked expressions, with its cost.
//!
//! Functions and operators are those of the crates `cel` and `kube-cel`. Their interpreter counts no cost, so this one
//! walks the tree, and calls them for one operation at a time. It does loops, selections, optional values and lazy
//! operators itself.

use std::sync::Arc;

use kube_cel::{
    KubeCelExt as _,
    cel::{
        Context, ExecutionError, Value,
        common::ast::{CallExpr, Expr as CrateExpr, IdedExpr},
        objects::Map,
    },
};

use super::{
    ast::{Expr, ExprKind, Fold, Literal},
    check::Checked,
    own_functions::own_function,
    runtime_cost::call_cost,
    values::{Entries, as_key, as_optional, error_of, from_entries, from_text, of_key, optional},
};

/// The maximum cost of one evaluation.
const COST_MAX: u64 = 1_000_000;
/// The cost of a list that is made.
const LIST: u64 = 10;
/// The cost of a map that is made.
const MAP: u64 = 30;

/// The functions of the crates.
pub(super) struct Library(Context<'static>);

/// The reason for which an evaluation has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// An error of the expression, in Go's words.
    Error(String),
    CostLimit,
}

pub(super) type Outcome = Result<Value, Failure>;

/// One evaluation.
struct Evaluation<'e> {
    library: &'e Library,
    checked: &'e Checked,
    /// The variables, those of the innermost loop last.
    variables: Vec<(String, Value)>,
    cost: u64,
}

/// Evaluates an expression with these variables, and returns its cost besides.
pub(super) fn evaluate(
    expr: &Expr,
    checked: &Checked,
    variables: Vec<(String, Value)>,
    library: &Library,
) -> (Outcome, u64) {
    let mut evaluation = Evaluation {
        library,
        checked,
        variables,
        cost: 0,
    };
    let outcome = evaluation.value(expr);
    (outcome, evaluation.cost)
}

/// Returns whether a text can be converted by `duration` or `timestamp`.
pub(super) fn is_literal_of(function: &str, text: &str) -> bool {
    Library::new()
        .call(function, None, false, vec![from_text(text)])
        .is_ok()
}

// === impl Library ===

impl Library {
    pub(super) fn new() -> Self {
        Self(Context::default().with_all())
    }

    /// Converts a text by a function; one that cannot be converted remains.
    pub(super) fn convert(&self, function: &str, text: &str) -> Value {
        let converted = self.call(function, None, false, vec![from_text(text)]);
        converted.unwrap_or_else(|_| from_text(text))
    }

    /// Calls a function, which may have a qualified name.
    fn call(
        &self,
        function: &str,
        prefix: Option<&str>,
        is_member: bool,
        operands: Vec<Value>,
    ) -> Outcome {
        let mut context = self.0.new_inner_scope();
        let ident = |name: String| IdedExpr {
            id: 0,
            expr: CrateExpr::Ident(name),
        };
        let mut names = Vec::with_capacity(operands.len());
        for (place, operand) in operands.into_iter().enumerate() {
            let name = format!("@operand{place}");
            context.add_variable_from_value(name.clone(), operand);
            names.push(ident(name));
        }
        let target = match prefix {
            Some(prefix) => Some(ident(prefix.to_owned())),
            None if is_member => Some(names.remove(0)),
            None => None,
        };
        let call = IdedExpr {
            id: 0,
            expr: CrateExpr::Call(CallExpr {
                func_name: function.to_owned(),
                target: target.map(Box::new),
                args: names,
            }),
        };
        context.resolve(&call).map_err(|error| failure(&error))
    }
}

/// Returns an error of the crates in the words of cel-go.
fn failure(error: &ExecutionError) -> Failure {
    Failure::Error(match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::DivisionByZero(_) => "division by zero".to_owned(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".to_owned(),
        ExecutionError::Overflow(..) => "integer overflow".to_owned(),
        ExecutionError::FunctionError { message, .. } => message.clone(),
        ExecutionError::NoSuchOverload
        | ExecutionError::UnsupportedTargetType { .. }
        | ExecutionError::NotSupportedAsMethod { .. }
        | ExecutionError::UnexpectedType { .. }
        | ExecutionError::UnsupportedUnaryOperator(..)
        | ExecutionError::UnsupportedBinaryOperator(..)
        | ExecutionError::ValuesNotComparable(..) => "no such overload".to_owned(),
        other => other.to_string(),
    })
}

// === impl Evaluation ===

impl Evaluation<'_> {
    fn spend(&mut self, cost: u64) -> Result<(), Failure> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > COST_MAX {
            return Err(Failure::CostLimit);
        }
        Ok(())
    }

    fn value(&mut self, expr: &Expr) -> Outcome {
        let value = self.any_value(expr)?;
        match error_of(&value) {
            Some(why) => Err(Failure::Error(why)),
            None => Ok(value),
        }
    }

    /// Returns a value, which may be one that cannot be used.
    fn any_value(&mut self, expr: &Expr) -> Outcome {
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(from_literal(literal)),
            ExprKind::Ident(name) => {
                self.spend(1)?;
                self.variable(name)
            }
            ExprKind::Select {
                operand,
                field,
                is_test,
            } => {
                let operand = self.value(operand)?;
                if *is_test {
                    return Ok(Value::Bool(has_field(&operand, field)));
                }
                self.spend(1)?;
                select(&operand, field)
            }
            ExprKind::Call {
                function,
                target,
                arguments,
            } => self.call(expr, function, target.as_deref(), arguments),
            ExprKind::List(elements) => {
                let mut values = Vec::with_capacity(elements.len());
                for element in elements {
                    let value = self.value(&element.value)?;
                    values.extend(present(value, element.is_optional));
                }
                self.spend(LIST)?;
                Ok(Value::List(Arc::new(values)))
            }
            ExprKind::Map(entries) => {
                let mut values = Entries::new();
                for entry in entries {
                    let key = self.value(&entry.key)?;
                    let value = self.value(&entry.value)?;
                    let key = as_key(&key).ok_or_else(no_overload)?;
                    let value = present(value, entry.is_optional);
                    values.extend(value.map(|value| (key, value)));
                }
                self.spend(MAP)?;
                Ok(from_entries(values))
            }
            ExprKind::Message(_) => Err(no_overload()),
            ExprKind::Fold(fold) => self.fold(fold),
        }
    }

    fn variable(&self, name: &str) -> Outcome {
        let name = name.strip_prefix('.').unwrap_or(name);
        let mut variables = self.variables.iter().rev();
        let found = variables.find(|(own, _)| own == name);
        found
            .map(|(_, value)| value.clone())
            .ok_or_else(|| Failure::Error(format!("no such attribute(s): {name}")))
    }

    fn call(
        &mut self,
        expr: &Expr,
        function: &str,
        target: Option<&Expr>,
        arguments: &[Expr],
    ) -> Outcome {
        match (function, arguments) {
            ("_&&_", [left, right]) => return self.logical(left, right, false),
            ("_||_", [left, right]) => return self.logical(left, right, true),
            ("_?_:_", [condition, one, other]) => {
                return match self.value(condition)? {
                    Value::Bool(true) => self.value(one),
                    Value::Bool(false) => self.value(other),
                    _ => Err(no_overload()),
                };
            }
            ("@not_strictly_false", [argument]) => {
                let value = self.value(argument);
                if value == Err(Failure::CostLimit) {
                    return value;
                }
                return Ok(Value::Bool(!matches!(value, Ok(Value::Bool(false)))));
            }
            ("_?._", [operand, field]) => {
                let operand = self.value(operand)?;
                self.spend(1)?;
                return Ok(optional_select(&operand, field));
            }
            _ => {}
        }
        let prefix = target.and_then(Expr::qualified_name).filter(|prefix| {
            super::functions::overloads(&format!("{prefix}.{function}")).is_some()
        });
        let target = target.filter(|_| prefix.is_none());
        let mut operands = Vec::with_capacity(arguments.len() + 1);
        for operand in target.into_iter().chain(arguments) {
            operands.push(self.value(operand)?);
        }
        self.apply(
            expr,
            (function, prefix.as_deref()),
            target.is_some(),
            operands,
        )
    }

    /// Calls a function whose operands have values.
    fn apply(
        &mut self,
        expr: &Expr,
        (function, prefix): (&str, Option<&str>),
        is_member: bool,
        operands: Vec<Value>,
    ) -> Outcome {
        let full = prefix.map(|prefix| format!("{prefix}.{function}"));
        let name = full.as_deref().unwrap_or(function);
        let overload = self.checked.overloads(expr).first().copied();
        let given = operands.clone();
        let result = match own_function(name, &operands) {
            Some(result) => result,
            None => self.library.call(function, prefix, is_member, operands),
        };
        let result = result?;
        self.spend(call_cost(
            name,
            overload.unwrap_or_default(),
            &given,
            &result,
        ))?;
        Ok(result)
    }

    /// Evaluates a logical operator, for which an error of one operand does not count if the other one decides.
    fn logical(&mut self, left: &Expr, right: &Expr, decisive: bool) -> Outcome {
        let left = self.value(left);
        if left == Err(Failure::CostLimit) || left == Ok(Value::Bool(decisive)) {
            return left;
        }
        let right = self.value(right);
        if right == Err(Failure::CostLimit) || right == Ok(Value::Bool(decisive)) {
            return right;
        }
        match (left, right) {
            (Ok(Value::Bool(_)), Ok(Value::Bool(_))) => Ok(Value::Bool(!decisive)),
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
            _ => Err(no_overload()),
        }
    }

    fn fold(&mut self, fold: &Fold) -> Outcome {
        let range = self.value(&fold.range)?;
        let start = self.value(&fold.start)?;
        let depth = self.variables.len();
        self.variables.push((fold.result_variable.clone(), start));
        let outcome = self.run(fold, depth, &range);
        self.variables.truncate(depth);
        outcome
    }

    fn run(&mut self, fold: &Fold, depth: usize, range: &Value) -> Outcome {
        for (first, second) in items(range, fold.second.is_some())? {
            self.variables.truncate(depth + 1);
            self.variables.push((fold.variable.clone(), first));
            if let Some(name) = &fold.second {
                self.variables.push((name.clone(), second));
            }
            if self.value(&fold.condition)? != Value::Bool(true) {
                break;
            }
            // A loop goes on after an error, which later items may make irrelevant.
            let step = self.value(&fold.step);
            if step == Err(Failure::CostLimit) {
                return step;
            }
            match step {
                Ok(value) => self.variables[depth].1 = value,
                Err(failure) => return self.recover(fold, depth, range, failure),
            }
        }
        self.variables.truncate(depth + 1);
        self.value(&fold.result)
    }

    /// Looks for an item that decides a quantifier whose first failure is known.
    fn recover(&mut self, fold: &Fold, depth: usize, range: &Value, failure: Failure) -> Outcome {
        let decisive = match (&fold.start.kind, &fold.step.kind) {
            (
                ExprKind::Literal(Literal::Bool(start)),
                ExprKind::Call {
                    function,
                    arguments,
                    ..
                },
            ) if matches!(function.as_str(), "_&&_" | "_||_") => Some((!start, arguments.last())),
            _ => None,
        };
        let Some((decisive, Some(predicate))) = decisive else {
            return Err(failure);
        };
        for (first, second) in items(range, fold.second.is_some())? {
            self.variables.truncate(depth + 1);
            self.variables.push((fold.variable.clone(), first));
            if let Some(name) = &fold.second {
                self.variables.push((name.clone(), second));
            }
            let value = self.value(predicate);
            if value == Err(Failure::CostLimit) || value == Ok(Value::Bool(decisive)) {
                return value;
            }
        }
        Err(failure)
    }
}

/// Returns the items of a list, or the keys of a map in their order; with places or values if there are two variables.
fn items(range: &Value, has_second: bool) -> Result<Vec<(Value, Value)>, Failure> {
    match range {
        Value::List(items) => Ok((0..)
            .zip(items.iter())
            .map(|(place, item)| {
                if has_second {
                    (Value::Int(place), item.clone())
                } else {
                    (item.clone(), Value::Null)
                }
            })
            .collect()),
        Value::Map(Map { map }) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries.into_iter();
            Ok(entries
                .map(|(key, value)| (of_key(key), value.clone()))
                .collect())
        }
        _ => Err(no_overload()),
    }
}

pub(super) fn no_overload() -> Failure {
    Failure::Error("no such overload".to_owned())
}

fn from_literal(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::UInt(*value),
        Literal::Double(value) => Value::Float(*value),
        Literal::Text(text) => from_text(text),
        Literal::Bytes(bytes) => Value::Bytes(Arc::new(bytes.clone())),
    }
}

/// Returns the value of an element, if it has one.
fn present(value: Value, is_optional: bool) -> Option<Value> {
    match as_optional(&value).filter(|_| is_optional) {
        Some(inner) => inner.cloned(),
        None => Some(value),
    }
}

fn field<'v>(operand: &'v Value, name: &str) -> Option<&'v Value> {
    match operand {
        Value::Map(Map { map }) => map.get(&as_key(&from_text(name))?),
        _ => None,
    }
}

fn has_field(operand: &Value, name: &str) -> bool {
    match as_optional(operand) {
        Some(inner) => inner.is_some_and(|inner| field(inner, name).is_some()),
        None => field(operand, name).is_some(),
    }
}

fn select(operand: &Value, name: &str) -> Outcome {
    if let Some(inner) = as_optional(operand) {
        let found = inner.and_then(|inner| field(inner, name));
        return Ok(optional(found.cloned()));
    }
    match operand {
        Value::Map(_) => {
            let found = field(operand, name).cloned();
            found.ok_or_else(|| Failure::Error(format!("no such key: {name}")))
        }
        _ => Err(no_overload()),
    }
}

fn optional_select(operand: &Value, name: &Expr) -> Value {
    let ExprKind::Literal(Literal::Text(name)) = &name.kind else {
        return optional(None);
    };
    let inner = as_optional(operand).unwrap_or(Some(operand));
    optional(inner.and_then(|inner| field(inner, name)).cloned())
}
