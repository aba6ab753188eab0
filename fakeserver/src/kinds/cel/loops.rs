//! Evaluation of loops.

use std::{collections::BTreeMap, sync::Arc};

use kube_cel::cel::Value;

use super::{
    ast::{Expr, Loop, LoopKind},
    interpreter::{Evaluated, Failure, Interpreter, Scope},
    value::{as_key, compare, map, sorted, type_name},
};

/// A result of a loop so far.
struct Accumulated<'a> {
    inner: &'a Loop,
    items: Vec<Value>,
    entries: BTreeMap<kube_cel::cel::objects::Key, Value>,
    keyed: Vec<(Value, Value)>,
    count: usize,
    /// The first error of a body, which a later one may make meaningless.
    failure: Option<Failure>,
}

// === impl Interpreter ===

impl Interpreter<'_> {
    /// Evaluates a loop.
    pub(super) fn run_loop(&self, inner: &Loop, around: Option<&Scope<'_>>) -> Evaluated {
        let range = self.evaluate(&inner.range, around)?;
        let mut accumulated = Accumulated {
            inner,
            items: Vec::new(),
            entries: BTreeMap::new(),
            keyed: Vec::new(),
            count: 0,
            failure: None,
        };
        self.charge(11)?;
        for (first, second) in steps(&range, inner.variables.len() == 2)? {
            // The condition, the accumulator and the step.
            self.charge(3)?;
            let outer = Scope {
                outer: around,
                name: inner.variables.first().map_or("", String::as_str),
                value: &first,
            };
            let scope = match inner.variables.get(1) {
                Some(name) => Scope {
                    outer: Some(&outer),
                    name,
                    value: &second,
                },
                None => outer,
            };
            let body = self.body(inner, &scope)?;
            if let Some(body) = body
                && accumulated.add(body, first.clone())?
            {
                break;
            }
        }
        accumulated.finish()
    }

    /// Evaluates the body of a loop for one element; nothing if the filter leaves it out.
    fn body(&self, inner: &Loop, scope: &Scope<'_>) -> Result<Option<Evaluated>, Failure> {
        let evaluate = |expr: &Expr| match self.evaluate(expr, Some(scope)) {
            Err(Failure::Cancelled) => Err(Failure::Cancelled),
            other => Ok(other),
        };
        if let Some(filter) = &inner.filter {
            match evaluate(filter)?? {
                Value::Bool(true) => {}
                Value::Bool(false) => return Ok(None),
                _ => return Err(Failure::Error("no such overload".to_owned())),
            }
        }
        evaluate(&inner.body).map(Some)
    }
}

// === impl Accumulated ===

impl Accumulated<'_> {
    /// Adds the value of a body. Returns whether the result is known.
    fn add(&mut self, body: Evaluated, element: Value) -> Result<bool, Failure> {
        let no_overload = || Failure::Error("no such overload".to_owned());
        match (self.inner.kind, body) {
            (LoopKind::All | LoopKind::Exists, body) => {
                let decisive = self.inner.kind == LoopKind::Exists;
                match body {
                    Ok(Value::Bool(value)) if value == decisive => {
                        self.count = 1;
                        return Ok(true);
                    }
                    Ok(Value::Bool(_)) => {}
                    Ok(_) => self.failure = self.failure.take().or_else(|| Some(no_overload())),
                    Err(failure) => self.failure = self.failure.take().or(Some(failure)),
                }
            }
            (_, Err(failure)) => return Err(failure),
            (LoopKind::ExistsOne, Ok(Value::Bool(value))) => self.count += usize::from(value),
            (LoopKind::Filter, Ok(Value::Bool(true))) => self.items.push(element),
            (LoopKind::Filter, Ok(Value::Bool(false))) => {}
            (LoopKind::List, Ok(value)) => self.items.push(value),
            (LoopKind::SortBy, Ok(key)) => self.keyed.push((key, element)),
            (LoopKind::Map, Ok(value)) => {
                self.insert(as_key(&element), value)?;
            }
            (LoopKind::MapEntry, Ok(Value::Map(made))) => {
                for (key, value) in &*made.map {
                    self.insert(Some(key.clone()), value.clone())?;
                }
            }
            (LoopKind::ExistsOne | LoopKind::Filter | LoopKind::MapEntry, Ok(_)) => {
                return Err(no_overload());
            }
        }
        Ok(false)
    }

    fn insert(
        &mut self,
        key: Option<kube_cel::cel::objects::Key>,
        value: Value,
    ) -> Result<(), Failure> {
        let Some(key) = key else {
            return Err(Failure::Error("unsupported key type".to_owned()));
        };
        if self.entries.contains_key(&key) {
            return Err(Failure::Error(
                "insert failed: key already exists".to_owned(),
            ));
        }
        self.entries.insert(key, value);
        Ok(())
    }

    fn finish(mut self) -> Evaluated {
        match self.inner.kind {
            LoopKind::All | LoopKind::Exists => {
                let decisive = self.inner.kind == LoopKind::Exists;
                if self.count == 1 {
                    return Ok(Value::Bool(decisive));
                }
                self.failure.map_or(Ok(Value::Bool(!decisive)), Err)
            }
            LoopKind::ExistsOne => Ok(Value::Bool(self.count == 1)),
            LoopKind::Map | LoopKind::MapEntry => Ok(map(self.entries)),
            LoopKind::List | LoopKind::Filter => Ok(Value::List(Arc::new(self.items))),
            LoopKind::SortBy => {
                self.keyed
                    .sort_by(|(a, _), (b, _)| compare(a, b).unwrap_or(std::cmp::Ordering::Equal));
                let items = self.keyed.into_iter().map(|(_, element)| element);
                Ok(Value::List(Arc::new(items.collect())))
            }
        }
    }
}

/// Returns the values of the variables of a loop in each of its steps.
fn steps(range: &Value, has_two: bool) -> Result<Vec<(Value, Value)>, Failure> {
    match range {
        Value::List(items) => Ok(items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                if has_two {
                    (
                        Value::Int(i64::try_from(index).unwrap_or(i64::MAX)),
                        item.clone(),
                    )
                } else {
                    (item.clone(), Value::Null)
                }
            })
            .collect()),
        Value::Map(map) => Ok(sorted(map)),
        other => Err(Failure::Error(format!(
            "got '{}', expected iterable type",
            type_name(other)
        ))),
    }
}
