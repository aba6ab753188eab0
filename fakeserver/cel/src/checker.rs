//! The type checker. It follows the checker of cel-go, and its errors are in a real server's words.

use std::collections::BTreeSet;

use super::{
    ast::{Element, Entry, Expr, ExprKind, Fold, Literal, StructField, operators},
    environment::Environment,
    functions::{Overload, basic, overloads},
    literals,
    parser::{ExpressionError, deep},
    types::{Bindings, CheckerType, Type, most_general},
    value::{Value, type_value},
};

/// The facts about an expression that are known before it is evaluated.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) of: Type,
    /// The names of the forms of a function that a call may mean.
    pub(super) overloads: Vec<&'static str>,
    /// The dotted name of the variable that the expression is.
    pub(super) variable: Option<String>,
    /// The value, if it is constant.
    pub(super) constant: Option<Value>,
}

/// The notes on all expressions of a tree, by their numbers.
#[derive(Clone, Debug)]
pub(super) struct Notes {
    all: Vec<Note>,
    /// The names of the variables that are used.
    pub(super) variables: BTreeSet<String>,
}

/// Checks an expression and all in it.
struct Checker<'a> {
    environment: &'a Environment,
    /// The variables of the loops around an expression, the innermost last.
    scopes: Vec<(String, Type)>,
    bindings: Bindings,
    notes: Notes,
    errors: Vec<ExpressionError>,
}

/// Checks an expression in which there are `count`, or returns its errors in the order of their positions. Calls of
/// functions whose names have dots lose their targets.
pub(super) fn check(
    expr: &mut Expr,
    count: usize,
    environment: &Environment,
) -> Result<Notes, Vec<ExpressionError>> {
    let mut checker = Checker {
        environment,
        scopes: Vec::new(),
        bindings: Bindings::default(),
        notes: Notes::new(count),
        errors: Vec::new(),
    };
    checker.check(expr);
    let Checker {
        bindings,
        mut notes,
        mut errors,
        ..
    } = checker;
    for note in &mut notes.all {
        note.of = bindings.resolve(&note.of, true);
    }
    if errors.is_empty() {
        errors = literals::errors(expr, &notes);
    }
    if errors.is_empty() {
        return Ok(notes);
    }
    errors.sort_by_key(|error| error.at);
    Err(errors)
}

// === impl Notes ===

impl Notes {
    fn new(count: usize) -> Self {
        let note = Note {
            of: Type::Dyn,
            overloads: Vec::new(),
            variable: None,
            constant: None,
        };
        Self {
            all: vec![note; count],
            variables: BTreeSet::new(),
        }
    }

    pub(super) fn of(&self, expr: &Expr) -> &Note {
        &self.all[expr.id]
    }

    pub(super) fn of_mut(&mut self, expr: &Expr) -> &mut Note {
        &mut self.all[expr.id]
    }

    pub(super) fn type_of(&self, expr: &Expr) -> &Type {
        &self.of(expr).of
    }

    /// Returns the form of a function that a call means; an empty name if it may mean several.
    pub(super) fn overload(&self, expr: &Expr) -> &'static str {
        match self.of(expr).overloads.as_slice() {
            [one] => one,
            _ => "",
        }
    }
}

// === impl Checker ===

impl Checker<'_> {
    fn report(&mut self, at: usize, message: String) -> Type {
        self.errors.push(ExpressionError::new(at, message));
        Type::Error
    }

    fn undeclared(&mut self, at: usize, name: &str) -> Type {
        let message = format!("undeclared reference to '{name}' (in container '')");
        self.report(at, message)
    }

    fn mismatch(&mut self, at: usize, expected: &Type, found: &Type) -> Type {
        let (expected, found) = (CheckerType(expected), CheckerType(found));
        let message = format!("expected type '{expected}' but found '{found}'");
        self.report(at, message)
    }

    fn check(&mut self, expr: &mut Expr) -> Type {
        let found = deep(|| self.infer(expr));
        self.notes.of_mut(expr).of = found.clone();
        found
    }

    fn infer(&mut self, expr: &mut Expr) -> Type {
        if let Some(name) = expr.qualified_name()
            && let Some(found) = self.ident(expr, &name)
        {
            return found;
        }
        let at = expr.at;
        match &mut expr.kind {
            ExprKind::Literal(literal) => type_of(literal),
            ExprKind::Ident(name) => {
                let name = name.clone();
                self.undeclared(at, &name)
            }
            ExprKind::Select {
                operand,
                field,
                is_test,
            } => {
                let found = self.select(at, operand, field, false);
                let found = if *is_test { Type::Bool } else { found };
                self.bindings.resolve(&found, false)
            }
            ExprKind::Call { .. } => self.call(expr),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Struct { name, fields } => self.construct(at, name, fields),
            ExprKind::Fold(fold) => self.fold(fold),
        }
    }

    /// Returns the type of a variable, or of the name of a type.
    fn ident(&mut self, expr: &Expr, name: &str) -> Option<Type> {
        let mut scopes = self.scopes.iter().rev();
        let local = scopes
            .find(|(own, _)| own == name)
            .map(|(_, of)| of.clone());
        if let Some(found) = local.or_else(|| self.environment.variable(name)) {
            self.notes.of_mut(expr).variable = Some(name.to_owned());
            self.notes.variables.insert(name.to_owned());
            return Some(found);
        }
        let of = match name {
            "list" => Type::list(self.bindings.variable()),
            "map" => Type::map(self.bindings.variable(), self.bindings.variable()),
            "optional_type" => Type::optional(self.bindings.variable()),
            "type" => Type::of_type(Type::Dyn),
            name => basic(name)?,
        };
        self.notes.of_mut(expr).constant = Some(type_value(of.name()));
        Some(Type::of_type(of))
    }

    fn select(&mut self, at: usize, operand: &mut Expr, field: &str, is_optional: bool) -> Type {
        let operand = self.check(operand);
        let (target, was_optional) = self.bindings.resolve(&operand, false).unwrapped();
        let found = match &target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(name) => match self.environment.field(name, field) {
                Some(found) => found,
                None => self.report(at, format!("undefined field '{field}'")),
            },
            Type::Variable(_) => {
                self.bindings.assign(&Type::Dyn, &target);
                Type::Dyn
            }
            other => {
                if !other.is_dyn_or_error() {
                    let other = CheckerType(other);
                    let message = format!("type '{other}' does not support field selection");
                    self.report(at, message);
                }
                Type::Dyn
            }
        };
        if was_optional || is_optional {
            return Type::optional(found);
        }
        found
    }

    fn call(&mut self, expr: &mut Expr) -> Type {
        let (id, at) = (expr.id, expr.at);
        let ExprKind::Call {
            function,
            target,
            arguments,
        } = &mut expr.kind
        else {
            return Type::Error;
        };
        if function == operators::OPTIONAL_SELECT
            && let [operand, field] = arguments.as_mut_slice()
            && let Some(field) = field.literal_text()
        {
            let found = self.select(at, operand, field, true);
            self.notes.all[id].overloads = vec!["select_optional_field"];
            return self.bindings.resolve(&found, false);
        }
        let mut types: Vec<Type> = arguments.iter_mut().map(|one| self.check(one)).collect();
        let prefix = target.as_ref().and_then(|target| target.qualified_name());
        let full = prefix.map(|prefix| format!("{prefix}.{function}"));
        if let Some(full) = full.filter(|full| self.overloads(full).is_some()) {
            *function = full;
            *target = None;
        }
        if let Some(target) = target {
            types.insert(0, self.check(target));
        }
        match self.overloads(function) {
            None => self.undeclared(at, function),
            Some(_) if matches!(function.as_str(), operators::AND | operators::OR) => {
                self.logic(id, function, arguments, &types)
            }
            Some(forms) => self.resolve((id, at), function, forms, &types, target.is_some()),
        }
    }

    fn overloads(&self, name: &str) -> Option<&'static [Overload]> {
        if name.starts_with("jsonpatch.") && !self.environment.has_patches() {
            return None;
        }
        overloads(name)
    }

    fn logic(&mut self, id: usize, function: &str, arguments: &[Expr], types: &[Type]) -> Type {
        let mut result = Type::Bool;
        for (argument, given) in arguments.iter().zip(types) {
            if !self.bindings.assign(given, &Type::Bool) {
                result = self.mismatch(argument.at, &Type::Bool, given);
            }
        }
        let names = self.overloads(function).into_iter().flatten();
        self.notes.all[id].overloads = names.map(|form| form.name).collect();
        result
    }

    /// Finds the forms of a function that fit a call.
    fn resolve(
        &mut self,
        (id, at): (usize, usize),
        function: &str,
        forms: &[Overload],
        types: &[Type],
        is_member: bool,
    ) -> Type {
        let (mut names, mut result) = (Vec::new(), None::<Type>);
        for form in forms.iter().filter(|form| form.is_member == is_member) {
            let (wanted, own) = form.instantiate(&mut self.bindings);
            if !self.bindings.assign_all(types, &wanted) {
                continue;
            }
            names.push(form.name);
            let own = self.bindings.resolve(&own, false);
            result = Some(match result {
                None => own,
                Some(first) if first == Type::Dyn || first == own => first,
                Some(_) => Type::Dyn,
            });
        }
        if let Some(result) = result {
            self.notes.all[id].overloads = names;
            return result;
        }
        let given = types.iter().map(|of| self.bindings.resolve(of, true));
        let mut given: Vec<String> = given.map(|of| CheckerType(&of).to_string()).collect();
        let target = if is_member && !given.is_empty() {
            format!("{}.", given.remove(0))
        } else {
            String::new()
        };
        let given = given.join(", ");
        let message =
            format!("found no matching overload for '{function}' applied to '{target}({given})'");
        self.report(at, message)
    }

    /// Returns the type of an element that may be left out.
    fn element(&mut self, value: &mut Expr, is_optional: bool) -> Type {
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

    /// Returns the type of two elements of one literal.
    fn join(&mut self, before: Option<Type>, next: Type) -> Type {
        let Some(before) = before else {
            return next;
        };
        if self.bindings.assign(&before, &next) {
            return most_general(&before, &next);
        }
        // Differing types are reported later, when the types of all parts are known.
        Type::Dyn
    }

    fn list(&mut self, elements: &mut [Element]) -> Type {
        let mut joined = None;
        for element in elements {
            let found = self.element(&mut element.value, element.is_optional);
            joined = Some(self.join(joined, found));
        }
        Type::list(joined.unwrap_or_else(|| self.bindings.variable()))
    }

    fn map(&mut self, entries: &mut [Entry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            let key = self.check(&mut entry.key);
            keys = Some(self.join(keys, key));
            let value = self.element(&mut entry.value, entry.is_optional);
            values = Some(self.join(values, value));
        }
        let keys = keys.unwrap_or_else(|| self.bindings.variable());
        Type::map(keys, values.unwrap_or_else(|| self.bindings.variable()))
    }

    fn construct(&mut self, at: usize, name: &str, fields: &mut [StructField]) -> Type {
        if !self.environment.can_construct(name) {
            return self.undeclared(at, name);
        }
        for field in fields {
            let found = self.element(&mut field.value, field.is_optional);
            let Some(declared) = self.environment.field(name, &field.name) else {
                self.report(field.at, format!("undefined field '{}'", field.name));
                continue;
            };
            if !self.bindings.assign(&declared, &found) {
                let message = format!(
                    "expected type of field '{}' is '{}' but provided type is '{}'",
                    field.name,
                    CheckerType(&declared),
                    CheckerType(&found)
                );
                self.report(field.at, message);
            }
        }
        Type::object(name)
    }

    fn fold(&mut self, fold: &mut Fold) -> Type {
        let range = self.check(&mut fold.range);
        let accumulated = self.check(&mut fold.start);
        let range = self.bindings.resolve(&range, false);
        let depth = self.scopes.len();
        self.scopes
            .push((fold.accumulator.clone(), accumulated.clone()));
        let (first, second) = match &range {
            Type::List(item) if fold.second.is_some() => (Type::Int, (**item).clone()),
            Type::List(item) => ((**item).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Variable(_) => {
                self.bindings.assign(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    CheckerType(other)
                );
                self.report(fold.range.at, message);
                (Type::Error, Type::Error)
            }
        };
        self.scopes.push((fold.variable.clone(), first));
        if let Some(name) = &fold.second {
            self.scopes.push((name.clone(), second));
        }
        self.check_as(&mut fold.condition, &Type::Bool);
        self.check_as(&mut fold.step, &accumulated);
        self.scopes.truncate(depth + 1);
        let result = self.check(&mut fold.result);
        self.scopes.truncate(depth);
        self.bindings.resolve(&result, false)
    }

    fn check_as(&mut self, expr: &mut Expr, wanted: &Type) {
        let found = self.check(expr);
        if !self.bindings.assign(wanted, &found) {
            self.mismatch(expr.at, wanted, &found);
        }
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
