//! The check of an expression: its names, its fields, and the types of all its parts.
//!
//! It follows the checker of cel-go. The parsers, the interpreters and the libraries of the crates `cel` and
//! `kube-cel` know no types before an evaluation.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    ast::{Element, Entry, Expr, ExprKind, Fold, Literal},
    functions::{named_type, overloads},
    schema_type::SchemaType,
    types::{Substitutions, Type},
};

/// The names of types, which are values.
const TYPES: [&str; 10] = [
    "bool",
    "bytes",
    "double",
    "int",
    "null_type",
    "string",
    "uint",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "dyn",
];

/// An error of an expression with the character at which it points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckError {
    pub(super) at: usize,
    pub(super) message: String,
}

/// The types and the called overloads of all parts of an expression.
#[derive(Debug, Default)]
pub(super) struct Checked {
    types: BTreeMap<usize, Type>,
    overloads: BTreeMap<usize, Vec<&'static str>>,
    /// The names of variables that it uses.
    pub(super) variables: BTreeSet<String>,
}

struct Checker {
    /// The variables, those of the innermost loop last.
    scopes: Vec<(String, Type)>,
    types: Substitutions,
    checked: Checked,
    errors: Vec<CheckError>,
}

/// Checks an expression that may use these variables.
///
/// # Errors
///
/// Names, fields or types are wrong; the errors stand in the order of the text.
pub(super) fn check(
    expr: &Expr,
    variables: Vec<(String, Type)>,
) -> Result<Checked, Vec<CheckError>> {
    let mut checker = Checker {
        scopes: variables,
        types: Substitutions::default(),
        checked: Checked::default(),
        errors: Vec::new(),
    };
    checker.check(expr);
    let Checker {
        types,
        mut checked,
        mut errors,
        ..
    } = checker;
    for ty in checked.types.values_mut() {
        *ty = types.apply(ty, true);
    }
    if errors.is_empty() {
        errors = super::literals::errors(expr, &checked);
    }
    if errors.is_empty() {
        return Ok(checked);
    }
    errors.sort_by_key(|error| error.at);
    Err(errors)
}

// === impl Checked ===

impl Checked {
    pub(super) fn type_of(&self, expr: &Expr) -> &Type {
        self.types.get(&expr.id).unwrap_or(&Type::Dyn)
    }

    /// Returns the overloads that a call may mean.
    pub(super) fn overloads(&self, expr: &Expr) -> &[&'static str] {
        let found = self.overloads.get(&expr.id);
        found.map(Vec::as_slice).unwrap_or_default()
    }
}

// === impl Checker ===

impl Checker {
    fn check(&mut self, expr: &Expr) -> Type {
        let ty = self.infer(expr);
        self.checked.types.insert(expr.id, ty.clone());
        ty
    }

    fn infer(&mut self, expr: &Expr) -> Type {
        match &expr.kind {
            ExprKind::Literal(literal) => type_of_literal(literal),
            ExprKind::Ident(name) => self.variable(name).unwrap_or_else(|| {
                self.undeclared(expr, name);
                Type::Error
            }),
            ExprKind::Select {
                operand,
                field,
                is_test,
            } => {
                let named = expr.qualified_name().filter(|_| !is_test);
                if let Some(ty) = named.and_then(|name| named_type_value(&name)) {
                    return ty;
                }
                let ty = self.select(expr, operand, field, false);
                let ty = if *is_test { Type::Bool } else { ty };
                self.types.apply(&ty, false)
            }
            ExprKind::Call {
                function,
                target,
                arguments,
            } => self.call(expr, function, target.as_deref(), arguments),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Message(name) => {
                self.undeclared(expr, name);
                Type::Error
            }
            ExprKind::Fold(fold) => self.fold(fold),
        }
    }

    fn variable(&mut self, name: &str) -> Option<Type> {
        let name = name.strip_prefix('.').unwrap_or(name);
        let mut scopes = self.scopes.iter().rev();
        if let Some((_, ty)) = scopes.find(|(own, _)| own == name) {
            self.checked.variables.insert(name.to_owned());
            return Some(ty.clone());
        }
        match name {
            "list" => {
                let item = self.types.variable();
                Some(Type::Kind(Type::list(item).into()))
            }
            "map" => {
                let (key, value) = (self.types.variable(), self.types.variable());
                Some(Type::Kind(Type::map(key, value).into()))
            }
            "optional_type" => {
                let value = self.types.variable();
                Some(Type::Kind(Type::optional(value).into()))
            }
            "type" => Some(Type::Kind(Type::Kind(Type::Dyn.into()).into())),
            name => named_type_value(name),
        }
    }

    fn error(&mut self, expr: &Expr, message: String) {
        self.errors.push(CheckError {
            at: expr.at,
            message,
        });
    }

    fn undefined(&mut self, expr: &Expr, field: &str) -> Type {
        self.error(expr, format!("undefined field '{field}'"));
        Type::Error
    }

    fn undeclared(&mut self, expr: &Expr, name: &str) {
        let message = format!("undeclared reference to '{name}' (in container '')");
        self.error(expr, message);
    }

    fn select(&mut self, expr: &Expr, operand: &Expr, field: &str, is_optional: bool) -> Type {
        let operand = self.check(operand);
        let operand = self.types.apply(&operand, false);
        let (target, was_optional) = operand.without_option();
        let found = match &target {
            Type::Map(_, value) => Type::clone(value),
            Type::Object(schema) => {
                let found = schema.field(field).map(SchemaType::expression_type);
                found.unwrap_or_else(|| self.undefined(expr, field))
            }
            Type::Variable(_) => {
                self.types.assign(&Type::Dyn, &target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    let message = format!("type '{other}' does not support field selection");
                    self.error(expr, message);
                }
                Type::Dyn
            }
        };
        if was_optional || is_optional {
            Type::optional(found)
        } else {
            found
        }
    }

    fn call(
        &mut self,
        expr: &Expr,
        function: &str,
        target: Option<&Expr>,
        arguments: &[Expr],
    ) -> Type {
        if function == "_?._" {
            return self.optional_select(expr, arguments);
        }
        let mut types: Vec<Type> = arguments.iter().map(|one| self.check(one)).collect();
        let Some(target) = target else {
            return self.resolve(expr, function, false, &types, arguments);
        };
        let qualified = target.qualified_name();
        if let Some(name) = qualified.map(|prefix| format!("{prefix}.{function}"))
            && overloads(&name).is_some()
        {
            return self.resolve(expr, &name, false, &types, arguments);
        }
        let target = self.check(target);
        types.insert(0, target);
        self.resolve(expr, function, true, &types, arguments)
    }

    fn optional_select(&mut self, expr: &Expr, arguments: &[Expr]) -> Type {
        let [operand, field] = arguments else {
            return Type::Error;
        };
        let ExprKind::Literal(Literal::Text(name)) = &field.kind else {
            return Type::Error;
        };
        let ty = self.select(expr, operand, name, true);
        let selected = vec!["select_optional_field"];
        self.checked.overloads.insert(expr.id, selected);
        self.types.apply(&ty, false)
    }

    /// Finds the overloads that fit a call.
    fn resolve(
        &mut self,
        expr: &Expr,
        function: &str,
        is_member: bool,
        types: &[Type],
        arguments: &[Expr],
    ) -> Type {
        let Some(overloads) = overloads(function) else {
            self.undeclared(expr, function);
            return Type::Error;
        };
        if matches!(function, "_&&_" | "_||_") {
            return self.logical(expr, function, types, arguments);
        }
        let mut found = Vec::new();
        let mut result: Option<Type> = None;
        for overload in overloads.iter().filter(|one| one.is_member == is_member) {
            let (wanted, own) = overload.instantiate(&mut self.types);
            if !self.types.assign_all(types, &wanted) {
                continue;
            }
            found.push(overload.name);
            let own = self.types.apply(&own, false);
            result = Some(match result {
                None => own,
                Some(first) if matches!(first, Type::Dyn) || own.is_same(&first) => first,
                Some(_) => Type::Dyn,
            });
        }
        let Some(result) = result else {
            let mut given = types
                .iter()
                .map(|ty| self.types.apply(ty, true).to_string());
            let target = given.next().filter(|_| is_member);
            let rest: Vec<String> = if is_member {
                given.collect()
            } else {
                types
                    .iter()
                    .map(|ty| self.types.apply(ty, true).to_string())
                    .collect()
            };
            let target = target
                .map(|target| format!("{target}."))
                .unwrap_or_default();
            let message = format!(
                "found no matching overload for '{function}' applied to '{target}({})'",
                rest.join(", ")
            );
            self.error(expr, message);
            return Type::Error;
        };
        self.checked.overloads.insert(expr.id, found);
        result
    }

    fn logical(&mut self, expr: &Expr, function: &str, types: &[Type], arguments: &[Expr]) -> Type {
        let mut result = Type::Bool;
        for (ty, argument) in types.iter().zip(arguments) {
            if !self.types.assign(ty, &Type::Bool) {
                self.mismatch(argument, &Type::Bool, ty);
                result = Type::Error;
            }
        }
        let name = if function == "_&&_" {
            "logical_and"
        } else {
            "logical_or"
        };
        self.checked.overloads.insert(expr.id, vec![name]);
        result
    }

    fn mismatch(&mut self, expr: &Expr, expected: &Type, found: &Type) {
        let message = format!("expected type '{expected}' but found '{found}'");
        self.error(expr, message);
    }

    /// Returns the type of an element that may be left out.
    fn element(&mut self, value: &Expr, is_optional: bool) -> Type {
        let ty = self.check(value);
        if !is_optional {
            return ty;
        }
        let (inner, was_optional) = ty.without_option();
        if !was_optional && !matches!(inner, Type::Dyn) {
            self.mismatch(value, &Type::optional(inner.clone()), &inner);
        }
        inner
    }

    fn join(&mut self, expr: &Expr, previous: Option<Type>, own: Type) -> Type {
        let Some(previous) = previous else {
            return own;
        };
        if self.types.assign(&previous, &own) {
            return if matches!(own, Type::Dyn) {
                own
            } else {
                previous
            };
        }
        self.mismatch(expr, &previous, &own);
        Type::Error
    }

    fn list(&mut self, elements: &[Element]) -> Type {
        let mut joined = None;
        for element in elements {
            let own = self.element(&element.value, element.is_optional);
            joined = Some(self.join(&element.value, joined, own));
        }
        Type::list(joined.unwrap_or_else(|| self.types.variable()))
    }

    fn map(&mut self, entries: &[Entry]) -> Type {
        let (mut key, mut value) = (None, None);
        for entry in entries {
            let own = self.check(&entry.key);
            key = Some(self.join(&entry.key, key, own));
            let own = self.element(&entry.value, entry.is_optional);
            value = Some(self.join(&entry.value, value, own));
        }
        let key = key.unwrap_or_else(|| self.types.variable());
        Type::map(key, value.unwrap_or_else(|| self.types.variable()))
    }

    fn fold(&mut self, fold: &Fold) -> Type {
        let range = self.check(&fold.range);
        let result = self.check(&fold.start);
        let range = self.types.apply(&range, false);
        let depth = self.scopes.len();
        self.scopes
            .push((fold.result_variable.clone(), result.clone()));
        let (first, second) = match &range {
            Type::List(item) if fold.second.is_some() => (Type::Int, Type::clone(item)),
            Type::List(item) => (Type::clone(item), Type::Dyn),
            Type::Map(key, value) => (Type::clone(key), Type::clone(value)),
            Type::Dyn | Type::Error | Type::Variable(_) => {
                self.types.assign(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.error(&fold.range, message);
                (Type::Error, Type::Error)
            }
        };
        self.scopes.push((fold.variable.clone(), first));
        if let Some(name) = &fold.second {
            self.scopes.push((name.clone(), second));
        }
        let condition = self.check(&fold.condition);
        self.expect(&fold.condition, &Type::Bool, &condition);
        let step = self.check(&fold.step);
        self.expect(&fold.step, &result, &step);
        self.scopes.truncate(depth + 1);
        let result = self.check(&fold.result);
        self.scopes.truncate(depth);
        self.types.apply(&result, false)
    }

    fn expect(&mut self, expr: &Expr, wanted: &Type, found: &Type) {
        if !self.types.assign(wanted, found) {
            self.mismatch(expr, wanted, found);
        }
    }
}

fn type_of_literal(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::Text(_) => Type::Text,
        Literal::Bytes(_) => Type::Bytes,
    }
}

/// Returns the type of the name of a type.
fn named_type_value(name: &str) -> Option<Type> {
    let name = TYPES.into_iter().find(|own| *own == name)?;
    let name = match name {
        "google.protobuf.Duration" => "duration",
        "google.protobuf.Timestamp" => "timestamp",
        name => name,
    };
    Some(Type::Kind(named_type(name).into()))
}
