//! The type checker of CEL. Its errors are in a real server's words.

use std::sync::Arc;

use super::{
    ast::{
        Bind, BindKind, Call, Element, Entry, Expr, Literal, Loop, LoopKind, Node, StructField,
        operators,
    },
    environment::Environment,
    functions::{FUNCTIONS, Overload, basic},
    literals,
    parser::SyntaxError,
    types::{Bindings, Checked, Type, most_general},
};

/// Checks an expression and all in it.
struct Checker<'a> {
    environment: &'a Environment,
    /// The variables of the macros around an expression.
    scopes: Vec<(String, Type)>,
    bindings: Bindings,
    /// The number of calls of `format` around an expression: the literals in them may have elements of any type.
    formats: usize,
    errors: Vec<SyntaxError>,
}

/// Returns the type of an expression, or its errors in the order of their positions.
pub(super) fn check(expr: &Expr, environment: &Environment) -> Result<Type, Vec<SyntaxError>> {
    let mut checker = Checker {
        environment,
        scopes: Vec::new(),
        bindings: Bindings::default(),
        formats: 0,
        errors: Vec::new(),
    };
    let found = checker.check(expr);
    let found = checker.bindings.resolve(&found, true);
    if checker.errors.is_empty() {
        return Ok(found);
    }
    checker.errors.sort_by_key(|error| error.at);
    Err(checker.errors)
}

// === impl Checker ===

impl Checker<'_> {
    fn report(&mut self, at: usize, message: String) -> Type {
        self.errors.push(SyntaxError { at, message });
        Type::Error
    }

    fn undeclared(&mut self, at: usize, name: &str) -> Type {
        self.report(
            at,
            format!("undeclared reference to '{name}' (in container '')"),
        )
    }

    fn mismatch(&mut self, at: usize, expected: &Type, found: &Type) -> Type {
        let expected = self.bindings.resolve(expected, true);
        let found = self.bindings.resolve(found, true);
        let message = format!(
            "expected type '{}' but found '{}'",
            Checked(&expected),
            Checked(&found)
        );
        self.report(at, message)
    }

    fn check(&mut self, expr: &Expr) -> Type {
        let found = match &expr.node {
            Node::Literal(literal) => type_of(literal),
            Node::Ident(name) => match self.ident(name) {
                Some(found) => found,
                None => self.undeclared(expr.at, name),
            },
            Node::Select {
                operand,
                field,
                is_optional,
            } => self
                .qualified(expr)
                .unwrap_or_else(|| self.select(expr.at, operand, field, *is_optional)),
            Node::Has { operand, field } => {
                self.select(expr.at, operand, field, false);
                Type::Bool
            }
            Node::Call(call) => self.call(expr.at, call),
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Struct { name, fields } => self.construct(expr.at, name, fields),
            Node::Loop(inner) => self.check_loop(expr.at, inner),
            Node::Bind(inner) => self.bind(expr.at, inner),
        };
        self.bindings.resolve(&found, false)
    }

    fn ident(&self, name: &str) -> Option<Type> {
        let mut scopes = self.scopes.iter().rev();
        if let Some((_, found)) = scopes.find(|(own, _)| own == name) {
            return Some(found.clone());
        }
        let declared = self.environment.variable(name);
        declared.or_else(|| basic(name).map(|of| Type::Type(Arc::new(of))))
    }

    /// Returns the type of a variable or type whose name has dots.
    fn qualified(&self, expr: &Expr) -> Option<Type> {
        let name = expr.qualified_name()?;
        let first = name.split('.').next().unwrap_or_default();
        if self.scopes.iter().any(|(own, _)| own == first) {
            return None;
        }
        self.ident(&name)
    }

    fn select(&mut self, at: usize, operand: &Expr, field: &str, is_optional: bool) -> Type {
        let operand = self.check(operand);
        let (target, was_optional) = operand.unwrapped();
        let found = match &target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(name) => match self.environment.field(name, field) {
                Some(found) => found,
                None => self.report(at, format!("undefined field '{field}'")),
            },
            Type::Dyn | Type::Error => Type::Dyn,
            Type::Variable(_) => {
                self.bindings.assign(&Type::Dyn, &target);
                Type::Dyn
            }
            other => {
                let message = format!("type '{}' does not support field selection", Checked(other));
                self.report(at, message);
                Type::Dyn
            }
        };
        if was_optional || is_optional {
            return Type::optional(found);
        }
        found
    }

    fn call(&mut self, at: usize, call: &Call) -> Type {
        let is_format = usize::from(call.function == "format");
        self.formats += is_format;
        let mut args: Vec<Type> = call.args.iter().map(|arg| self.check(arg)).collect();
        self.formats -= is_format;
        literals::check(call, &mut self.errors);
        let name = call.function.as_str();
        let Some(target) = &call.target else {
            if name == operators::AND || name == operators::OR {
                return self.logic(call, &args);
            }
            return match self.overloads(name) {
                Some(forms) => self.resolve(at, name, forms, &args, false),
                None => self.undeclared(at, name),
            };
        };
        if let Some(prefix) = target.qualified_name()
            && let full = format!("{prefix}.{name}")
            && let Some(forms) = self.overloads(&full)
        {
            return self.resolve(at, &full, forms, &args, false);
        }
        args.insert(0, self.check(target));
        match self.overloads(name) {
            Some(forms) => self.resolve(at, name, forms, &args, true),
            None => self.undeclared(at, name),
        }
    }

    fn overloads(&self, name: &str) -> Option<&'static [Overload]> {
        if name.starts_with("jsonpatch.") && !self.environment.has_patches() {
            return None;
        }
        FUNCTIONS.get(name).map(Vec::as_slice)
    }

    fn logic(&mut self, call: &Call, args: &[Type]) -> Type {
        let mut found = Type::Bool;
        for (arg, given) in call.args.iter().zip(args) {
            if !self.bindings.assign(given, &Type::Bool) {
                found = self.mismatch(arg.at, &Type::Bool, given);
            }
        }
        found
    }

    fn resolve(
        &mut self,
        at: usize,
        name: &str,
        forms: &[Overload],
        args: &[Type],
        is_member: bool,
    ) -> Type {
        let mut result: Option<Type> = None;
        for form in forms.iter().filter(|form| form.is_member == is_member) {
            let first = self.bindings.variables(form.parameters);
            let wanted: Vec<Type> = form.args.iter().map(|arg| instance(arg, first)).collect();
            if !self.bindings.assign_all(args, &wanted) {
                continue;
            }
            let found = self.bindings.resolve(&instance(&form.result, first), false);
            result = Some(match result {
                None => found,
                Some(Type::Dyn) => Type::Dyn,
                Some(before) if before == found => before,
                Some(_) => Type::Dyn,
            });
        }
        result.unwrap_or_else(|| {
            let args: Vec<Type> = args
                .iter()
                .map(|arg| self.bindings.resolve(arg, true))
                .collect();
            let mut shown: Vec<String> = args.iter().map(|arg| Checked(arg).to_string()).collect();
            let target = if is_member {
                format!("{}.", shown.remove(0))
            } else {
                String::new()
            };
            let signature = format!("{target}({})", shown.join(", "));
            self.report(
                at,
                format!("found no matching overload for '{name}' applied to '{signature}'"),
            )
        })
    }

    /// Returns the type of two elements of one literal; they have to be of the same.
    fn join(&mut self, at: usize, before: Option<Type>, next: &Type) -> Type {
        let Some(before) = before else {
            return next.clone();
        };
        if !self.bindings.assign(&before, next) {
            return self.mismatch(at, &before, next);
        }
        let (a, b) = (
            self.bindings.resolve(&before, true),
            self.bindings.resolve(next, true),
        );
        if a != b && self.formats == 0 && !matches!((&a, &b), (Type::Error, _) | (_, Type::Error)) {
            return self.mismatch(at, &before, next);
        }
        most_general(&before, next)
    }

    fn element(&mut self, value: &Expr, is_optional: bool) -> Type {
        let found = self.check(value);
        if !is_optional {
            return found;
        }
        let (inner, was_optional) = found.unwrapped();
        if !was_optional && inner != Type::Dyn {
            let expected = Type::optional(inner.clone());
            self.mismatch(value.at, &expected, &inner);
        }
        inner
    }

    fn list(&mut self, elements: &[Element]) -> Type {
        let mut joined = None;
        for element in elements {
            let found = self.element(&element.value, element.is_optional);
            joined = Some(self.join(element.value.at, joined, &found));
        }
        Type::list(joined.unwrap_or_else(|| self.bindings.variable()))
    }

    fn map(&mut self, entries: &[Entry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            let key = self.check(&entry.key);
            keys = Some(self.join(entry.key.at, keys, &key));
            let value = self.element(&entry.value, entry.is_optional);
            values = Some(self.join(entry.value.at, values, &value));
        }
        let mut open = || self.bindings.variable();
        Type::map(keys.unwrap_or_else(&mut open), values.unwrap_or_else(open))
    }

    fn construct(&mut self, at: usize, name: &str, fields: &[StructField]) -> Type {
        let is_known = self.environment.can_construct(name);
        let result = if is_known {
            Type::object(name)
        } else {
            return self.undeclared(at, name);
        };
        for field in fields {
            let found = self.element(&field.value, field.is_optional);
            let Some(declared) = self.environment.field(name, &field.name) else {
                self.report(field.at, format!("undefined field '{}'", field.name));
                continue;
            };
            if !self.bindings.assign(&declared, &found) {
                let message = format!(
                    "expected type of field '{}' is '{}' but provided type is '{}'",
                    field.name,
                    Checked(&declared),
                    Checked(&found)
                );
                self.report(field.at, message);
            }
        }
        result
    }

    fn check_loop(&mut self, at: usize, inner: &Loop) -> Type {
        let range = self.check(&inner.range);
        let has_two = inner.variables.len() == 2;
        let (key, value) = match &range {
            Type::List(element) if has_two => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error => (Type::Dyn, Type::Dyn),
            Type::Variable(_) => {
                self.bindings.assign(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    Checked(other)
                );
                self.report(inner.range.at, message);
                (Type::Error, Type::Error)
            }
        };
        let outer = self.scopes.len();
        let types = [key.clone(), value];
        self.scopes
            .extend(inner.variables.iter().cloned().zip(types));
        let filter = inner
            .filter
            .as_ref()
            .map(|filter| (self.check(filter), filter));
        let body = self.check(&inner.body);
        self.scopes.truncate(outer);
        let accumulated = match inner.kind {
            LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne => Type::Int,
            LoopKind::Filter | LoopKind::SortBy => Type::list(key.clone()),
            LoopKind::List => Type::list(body.clone()),
            LoopKind::Map => Type::map(if has_two { key } else { Type::Dyn }, body.clone()),
            LoopKind::MapEntry => body.clone(),
        };
        if let Some((filter, _)) = filter {
            self.condition(at, &filter, &accumulated);
        }
        match inner.kind {
            LoopKind::All | LoopKind::Exists => {
                if !self.bindings.assign(&body, &Type::Bool) {
                    self.mismatch(inner.body.at, &Type::Bool, &body);
                }
                Type::Bool
            }
            LoopKind::ExistsOne => {
                self.condition(at, &body, &accumulated);
                Type::Bool
            }
            LoopKind::Filter => {
                self.condition(at, &body, &accumulated);
                accumulated
            }
            _ => accumulated,
        }
    }

    /// Checks the condition under which a loop adds something to its result.
    fn condition(&mut self, at: usize, condition: &Type, result: &Type) {
        let args = [condition.clone(), result.clone(), result.clone()];
        if let Some(forms) = self.overloads(operators::CONDITIONAL) {
            self.resolve(at, operators::CONDITIONAL, forms, &args, false);
        }
    }

    fn bind(&mut self, at: usize, inner: &Bind) -> Type {
        let (value, is_optional) = self.check(&inner.value).unwrapped();
        if !is_optional && !value.is_dyn_or_error() {
            let signature = format!("{}.()", Checked(&value));
            self.report(
                at,
                format!("found no matching overload for 'hasValue' applied to '{signature}'"),
            );
        }
        self.scopes.push((inner.variable.clone(), value));
        let body = self.check(&inner.body);
        self.scopes.pop();
        match inner.kind {
            BindKind::OptMap => Type::optional(body),
            BindKind::OptFlatMap => body,
        }
    }
}

/// Replaces the parameters of a declaration by variables from `first` on.
fn instance(of: &Type, first: usize) -> Type {
    let inner = |of: &Arc<Type>| Arc::new(instance(of, first));
    match of {
        Type::Variable(number) => Type::Variable(first + number),
        Type::List(a) => Type::List(inner(a)),
        Type::Optional(a) => Type::Optional(inner(a)),
        Type::Type(a) => Type::Type(inner(a)),
        Type::Map(a, b) => Type::Map(inner(a), inner(b)),
        other => other.clone(),
    }
}

fn type_of(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}
