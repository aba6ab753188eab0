//! The interpreter of CEL: evaluates a tree, counts what that costs, and stops at a limit.
//!
//! The interpreter of the crate `cel` counts no cost, panics at constructed objects, evaluates no variables lazily,
//! takes a field of what has none for `false`, and has errors in words of its own. So the tree is evaluated here, with
//! the values of the crate, and its functions ([`library`]).

use std::{cell::Cell, collections::BTreeMap, sync::Arc};

use kube_cel::cel::Value;

use super::{
    ast::{Bind, BindKind, Call, Element, Entry, Expr, Literal, Node, StructField, operators},
    authorizer,
    environment::JSON_PATCH,
    functions::basic,
    library::{self, no_such_overload},
    operations,
    value::{Constructed, TypeValue, as_key, as_optional, map, optional, string, type_name},
};

/// The maximum cost of one evaluation.
pub(crate) const COST_MAX: u64 = 1_000_000;

/// The reason for which an evaluation gave no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Error(String),
    /// The cost went beyond the limit. No operator absorbs this.
    Cancelled,
}

/// The values of variables.
pub(crate) trait Variables {
    /// Returns the value of a variable. The name of one that a policy composes begins with `variables.`.
    fn get(&self, name: &str) -> Option<Result<Value, Failure>>;
}

/// One evaluation.
pub(super) struct Interpreter<'a> {
    pub(super) variables: &'a dyn Variables,
    pub(super) cost: Cell<u64>,
}

/// The variables of the macros around an expression, innermost first.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) outer: Option<&'a Scope<'a>>,
    pub(super) name: &'a str,
    pub(super) value: &'a Value,
}

/// The result of an evaluation.
pub(super) type Evaluated = Result<Value, Failure>;
type Around<'a> = Option<&'a Scope<'a>>;

// === impl Failure ===

impl Failure {
    /// Returns the words for the failure.
    pub(crate) fn message(&self) -> &str {
        match self {
            Self::Error(message) => message,
            Self::Cancelled => "operation cancelled: actual cost limit exceeded",
        }
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
    pub(super) fn evaluate(&self, expr: &Expr, around: Around<'_>) -> Evaluated {
        match &expr.node {
            Node::Literal(literal) => Ok(of_literal(literal)),
            Node::Ident(name) => {
                self.charge(1)?;
                self.ident(name, around)
            }
            Node::Select {
                operand,
                field,
                is_optional,
            } => {
                self.charge(1)?;
                if let Some(found) = self.qualified(expr, around) {
                    return found;
                }
                let operand = self.evaluate(operand, around)?;
                select(&operand, field, *is_optional)
            }
            Node::Has { operand, field } => self.has(operand, field, around),
            Node::Call(call) => self.call(call, around),
            Node::List(elements) => self.list(elements, around),
            Node::Map(entries) => self.map(entries, around),
            Node::Struct { name, fields } => self.construct(name, fields, around),
            Node::Loop(inner) => self.run_loop(inner, around),
            Node::Bind(inner) => self.bind(inner, around),
        }
    }

    fn ident(&self, name: &str, around: Around<'_>) -> Evaluated {
        let mut scope = around;
        while let Some(Scope {
            outer,
            name: own,
            value,
        }) = scope
        {
            if *own == name {
                return Ok((*value).clone());
            }
            scope = *outer;
        }
        if let Some(found) = self.variables.get(name) {
            return found;
        }
        match basic(name) {
            Some(_) => {
                let name = match name {
                    "duration" => "google.protobuf.Duration",
                    "timestamp" => "google.protobuf.Timestamp",
                    name => name,
                };
                Ok(Value::Opaque(Arc::new(TypeValue(name.to_owned()))))
            }
            None => Err(Failure::Error(format!("no such attribute(s): {name}"))),
        }
    }

    /// Evaluates a variable whose name has dots, if the expression is one.
    fn qualified(&self, expr: &Expr, around: Around<'_>) -> Option<Evaluated> {
        let name = expr.qualified_name()?;
        let first = name.split('.').next().unwrap_or_default();
        let mut scope = around;
        while let Some(Scope {
            outer, name: own, ..
        }) = scope
        {
            if *own == first {
                return None;
            }
            scope = *outer;
        }
        self.variables.get(&name)
    }

    fn has(&self, operand: &Expr, field: &str, around: Around<'_>) -> Evaluated {
        let composed = operand
            .qualified_name()
            .map(|name| format!("{name}.{field}"));
        if let Some(found) = composed.and_then(|name| self.variables.get(&name)) {
            return found.map(|_| Value::Bool(true));
        }
        let operand = self.evaluate(operand, around)?;
        let operand = as_optional(&operand).unwrap_or(Some(operand));
        let is_set = operand.is_some_and(|operand| member(&operand, field).is_some());
        Ok(Value::Bool(is_set))
    }

    fn call(&self, call: &Call, around: Around<'_>) -> Evaluated {
        let name = call.function.as_str();
        match (name, call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                self.charge(1)?;
                return match self.evaluate(condition, around)? {
                    Value::Bool(true) => self.evaluate(yes, around),
                    Value::Bool(false) => self.evaluate(no, around),
                    _ => Err(Failure::Error("no such overload".to_owned())),
                };
            }
            (operators::AND, [left, right]) => return self.logic(false, left, right, around),
            (operators::OR, [left, right]) => return self.logic(true, left, right, around),
            _ => {}
        }
        let function = call
            .target
            .as_ref()
            .and_then(|target| namespaced(target, name));
        let target = match (&call.target, &function) {
            (Some(target), None) => Some(self.evaluate(target, around)?),
            _ => None,
        };
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(self.evaluate(arg, around)?);
        }
        let name = function.as_deref().unwrap_or(name);
        self.charge(operations::cost(name, target.as_ref(), &args))?;
        if let Some(outcome) = operations::operator(name, &args) {
            return outcome;
        }
        if let Some(outcome) = target
            .as_ref()
            .and_then(|target| authorizer::call(name, target, &args))
        {
            return outcome;
        }
        library::call(name, target.as_ref(), &args)
    }

    /// Evaluates `||` and `&&`. The value `absorbing` decides alone, even if the other side fails.
    fn logic(&self, absorbing: bool, left: &Expr, right: &Expr, around: Around<'_>) -> Evaluated {
        let left = self.evaluate(left, around);
        if left == Err(Failure::Cancelled) || left == Ok(Value::Bool(absorbing)) {
            return left;
        }
        let right = self.evaluate(right, around);
        if right == Err(Failure::Cancelled) || right == Ok(Value::Bool(absorbing)) {
            return right;
        }
        self.charge(1)?;
        match (left, right) {
            (Ok(Value::Bool(_)), Ok(Value::Bool(_))) => Ok(Value::Bool(!absorbing)),
            (Err(failure), _) | (_, Err(failure)) => Err(failure),
            _ => Err(Failure::Error("no such overload".to_owned())),
        }
    }

    fn list(&self, elements: &[Element], around: Around<'_>) -> Evaluated {
        self.charge(10)?;
        let mut items = Vec::with_capacity(elements.len());
        for element in elements {
            let value = self.evaluate(&element.value, around)?;
            items.extend(present(value, element.is_optional)?);
        }
        Ok(Value::List(Arc::new(items)))
    }

    fn map(&self, entries: &[Entry], around: Around<'_>) -> Evaluated {
        self.charge(30)?;
        let mut made = BTreeMap::new();
        for entry in entries {
            let key = self.evaluate(&entry.key, around)?;
            let value = self.evaluate(&entry.value, around)?;
            let key = as_key(&key).ok_or_else(|| {
                Failure::Error(format!("unsupported key type: {}", type_name(&key)))
            })?;
            if let Some(value) = present(value, entry.is_optional)? {
                made.insert(key, value);
            }
        }
        Ok(map(made))
    }

    fn construct(&self, name: &str, fields: &[StructField], around: Around<'_>) -> Evaluated {
        self.charge(40)?;
        let mut made = BTreeMap::new();
        for field in fields {
            let value = self.evaluate(&field.value, around)?;
            let Some(value) = present(value, field.is_optional)? else {
                continue;
            };
            if name == JSON_PATCH && field.name != "value" && !matches!(value, Value::String(_)) {
                return Err(Failure::Error(format!(
                    "unexpected type {} for JSONPatchType '{}' field",
                    type_name(&value),
                    field.name
                )));
            }
            made.insert(field.name.clone(), value);
        }
        Ok(Value::Opaque(Arc::new(Constructed {
            type_name: name.to_owned(),
            fields: made,
        })))
    }

    fn bind(&self, inner: &Bind, around: Around<'_>) -> Evaluated {
        let value = self.evaluate(&inner.value, around)?;
        let Some(content) = as_optional(&value) else {
            return Err(no_such_overload("hasValue", &[&value]));
        };
        let Some(content) = content else {
            return Ok(optional(None));
        };
        let scope = Scope {
            outer: around,
            name: &inner.variable,
            value: &content,
        };
        let body = self.evaluate(&inner.body, Some(&scope))?;
        Ok(match inner.kind {
            BindKind::OptMap => optional(Some(body)),
            BindKind::OptFlatMap => body,
        })
    }
}

/// Returns the full name of a function whose name has dots.
fn namespaced(target: &Expr, name: &str) -> Option<String> {
    let full = format!("{}.{name}", target.qualified_name()?);
    super::functions::FUNCTIONS
        .contains_key(full.as_str())
        .then_some(full)
}

/// Returns the value of an element, nothing for an optional one without a value.
fn present(value: Value, is_optional: bool) -> Result<Option<Value>, Failure> {
    if !is_optional {
        return Ok(Some(value));
    }
    as_optional(&value).ok_or_else(|| {
        Failure::Error(format!(
            "cannot initialize optional entry from non-optional value {}",
            type_name(&value)
        ))
    })
}

/// Returns a member of a map or of a constructed object.
fn member(of: &Value, field: &str) -> Option<Value> {
    match of {
        Value::Map(map) => map
            .map
            .get(&kube_cel::cel::objects::Key::String(Arc::new(
                field.to_owned(),
            )))
            .cloned(),
        Value::Opaque(opaque) => {
            let object = opaque.downcast_ref::<Constructed>()?;
            object.fields.get(field).cloned()
        }
        _ => None,
    }
}

fn select(operand: &Value, field: &str, is_optional: bool) -> Evaluated {
    if let Some(content) = as_optional(operand) {
        return Ok(optional(
            content.and_then(|content| member(&content, field)),
        ));
    }
    let found = member(operand, field);
    if is_optional {
        return Ok(optional(found));
    }
    found.ok_or_else(|| Failure::Error(format!("no such key: {field}")))
}

fn of_literal(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(number) => Value::Int(*number),
        Literal::Uint(number) => Value::UInt(*number),
        Literal::Double(number) => Value::Float(*number),
        Literal::String(text) => string(text),
        Literal::Bytes(bytes) => Value::Bytes(Arc::new(bytes.clone())),
    }
}
