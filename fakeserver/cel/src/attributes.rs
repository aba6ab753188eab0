//! Evaluation of attributes: chains of fields and indices.

use super::{
    ast::{Expr, ExprKind, operators},
    environment::COMPOSED,
    interpreter::{EvaluationResult, Failure, Interpreter, Scope, usable},
    operations::no_overload,
    types::Type,
    value::{
        Key, Value, as_constructed, as_key, as_list, as_optional, optional, printed, string,
        type_name,
    },
};

/// A step of a chain.
struct Step<'e> {
    key: StepKey<'e>,
    /// True if the value of the chain becomes optional here.
    is_optional: bool,
    /// True for a test of presence.
    is_test: bool,
}

enum StepKey<'e> {
    Field(&'e str),
    Index(&'e Expr),
}

// === impl Interpreter ===

impl Interpreter<'_> {
    /// Returns whether an expression is a variable, a field, an index, or a condition.
    pub(super) fn is_attribute(&self, expr: &Expr) -> bool {
        let is_kind = match &expr.kind {
            ExprKind::Ident(_) | ExprKind::Select { .. } => true,
            ExprKind::Call { function, .. } => matches!(
                function.as_str(),
                operators::CONDITIONAL
                    | operators::INDEX
                    | operators::OPTIONAL_INDEX
                    | operators::OPTIONAL_SELECT
            ),
            _ => false,
        };
        is_kind && self.notes.of(expr).constant.is_none()
    }

    pub(super) fn attribute(&self, expr: &Expr, around: Scope<'_>) -> EvaluationResult {
        let (root, steps) = self.chain(expr);
        let is_test = steps.last().is_some_and(|step| step.is_test);
        let is_free = is_test || is_conditional(root);
        let found = self.resolve_chain(root, &steps, around);
        self.charge(u64::from(!is_free))?;
        found
    }

    /// Returns the value of an operand of an attribute, which costs less if it is one.
    fn resolve(&self, expr: &Expr, around: Scope<'_>) -> EvaluationResult {
        if !self.is_attribute(expr) {
            return self.evaluate(expr, around);
        }
        let (root, steps) = self.chain(expr);
        self.resolve_chain(root, &steps, around)
    }

    /// Splits a chain into its beginning and its steps.
    fn chain<'e>(&self, expr: &'e Expr) -> (&'e Expr, Vec<Step<'e>>) {
        let (mut root, mut steps) = (expr, Vec::new());
        while let Some((operand, step)) = self.step(root) {
            root = operand;
            steps.push(step);
        }
        steps.reverse();
        (root, steps)
    }

    fn step<'e>(&self, expr: &'e Expr) -> Option<(&'e Expr, Step<'e>)> {
        let note = self.notes.of(expr);
        if note.variable.is_some() || note.constant.is_some() {
            return None;
        }
        let (operand, key, is_optional, is_test) = match &expr.kind {
            ExprKind::Select {
                operand,
                field,
                is_test,
            } => (&**operand, StepKey::Field(field), false, *is_test),
            ExprKind::Call {
                function,
                arguments,
                ..
            } => match (function.as_str(), arguments.as_slice()) {
                (operators::INDEX, [operand, index]) => {
                    (operand, StepKey::Index(index), false, false)
                }
                (operators::OPTIONAL_INDEX | operators::OPTIONAL_SELECT, [operand, index]) => {
                    (operand, StepKey::Index(index), true, false)
                }
                _ => return None,
            },
            _ => return None,
        };
        let step = Step {
            key,
            is_optional,
            is_test,
        };
        Some((operand, step))
    }

    fn resolve_chain(
        &self,
        root: &Expr,
        steps: &[Step<'_>],
        around: Scope<'_>,
    ) -> EvaluationResult {
        let note = self.notes.of(root);
        if let (Type::Object(of), [step, rest @ ..]) = (&note.of, steps)
            && **of == *COMPOSED
            && let StepKey::Field(field) = step.key
        {
            let found = self.variable(&format!("variables.{field}"), None);
            self.charge(1)?;
            if step.is_test {
                return found.map(|_| Value::Bool(true));
            }
            return self.walk(found?, rest, around);
        }
        let value = match (&note.variable, &root.kind) {
            (Some(name), _) => self.variable(name, around)?,
            (None, ExprKind::Call { arguments, .. }) if is_conditional(root) => {
                self.choose(arguments, around)?
            }
            _ => self.evaluate(root, around)?,
        };
        self.walk(value, steps, around)
    }

    fn choose(&self, arguments: &[Expr], around: Scope<'_>) -> EvaluationResult {
        let [condition, yes, no] = arguments else {
            return Err(no_overload());
        };
        match self.evaluate(condition, around)? {
            Value::Bool(true) => self.resolve(yes, around),
            Value::Bool(false) => self.resolve(no, around),
            _ => Err(no_overload()),
        }
    }

    /// Takes the steps of a chain from a value.
    fn walk(&self, mut value: Value, steps: &[Step<'_>], around: Scope<'_>) -> EvaluationResult {
        let mut is_optional = false;
        if steps.is_empty() {
            return Ok(value);
        }
        if let Some(content) = as_optional(&value) {
            let Some(content) = content.cloned() else {
                let is_test = steps.last().is_some_and(|step| step.is_test);
                return Ok(if is_test { Value::Bool(false) } else { value });
            };
            (value, is_optional) = (content, true);
        }
        for step in steps {
            is_optional |= step.is_optional;
            let is_lenient = is_optional || step.is_test;
            let found = self
                .key(step, around)
                .and_then(|key| Ok((find(&value, &key, is_lenient)?, key)));
            if found == Err(Failure::Cancelled) {
                return Err(Failure::Cancelled);
            }
            if !is_optional {
                self.charge(1)?;
            }
            let (found, key) = found?;
            if is_optional && found.is_some() {
                self.charge(1)?;
            }
            if step.is_test {
                return Ok(Value::Bool(found.is_some()));
            }
            match found {
                Some(found) => value = usable(found)?,
                None if is_optional => {
                    let is_test = steps.last().is_some_and(|step| step.is_test);
                    return Ok(if is_test {
                        Value::Bool(false)
                    } else {
                        optional(None)
                    });
                }
                None => return Err(missing(&value, &key)),
            }
        }
        Ok(if is_optional {
            optional(Some(value))
        } else {
            value
        })
    }

    fn key(&self, step: &Step<'_>, around: Scope<'_>) -> EvaluationResult {
        match step.key {
            StepKey::Field(name) => Ok(string(name)),
            StepKey::Index(index) => self.resolve(index, around),
        }
    }
}

fn is_conditional(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, .. } if function == operators::CONDITIONAL)
}

/// Returns a member of a map or an object, or an item of a list, if it is there.
fn find(of: &Value, key: &Value, is_lenient: bool) -> Result<Option<Value>, Failure> {
    if let Some(items) = as_list(of) {
        let Some(Key::Int(position)) = as_key(key).filter(|_| !matches!(key, Value::Bool(_)))
        else {
            let why = format!("unsupported index type '{}' in list", type_name(key));
            return Err(Failure::error(why));
        };
        let position = usize::try_from(position).ok();
        return Ok(position.and_then(|position| items.get(position).cloned()));
    }
    if let (Some(object), Value::String(name)) = (as_constructed(of), key) {
        let found = object.fields.get(&**name).cloned();
        // A field that is not set is null.
        return Ok(found.or_else(|| (!is_lenient).then_some(Value::Null)));
    }
    let Value::Map(map) = of else {
        return Ok(None);
    };
    Ok(as_key(key).and_then(|key| map.get(&key).cloned()))
}

fn missing(of: &Value, key: &Value) -> Failure {
    let what = match as_list(of) {
        Some(_) => "index out of bounds",
        None => "no such key",
    };
    Failure::error(format!("{what}: {}", printed(key)))
}
