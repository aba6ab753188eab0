//! The maximum cost of an expression, estimated before any evaluation.

use std::collections::BTreeMap;

use super::{
    LIST, MAP, STRUCT,
    calls::{Call, Estimate, Operand, call_cost},
    size::Range,
};
use crate::{
    ast::{ACCUMULATOR, Expr, ExprKind, Fold, Literal},
    checker::Notes,
    parser::deep,
    types::Type,
};

/// The sizes that values of variables can have.
pub trait Sizes {
    /// Returns the maximum size of the value at a path: a variable, then fields, `@items`, `@values` and `@keys`.
    fn size_max(&self, path: &[String]) -> Option<u64>;
}

/// The sizes of the entries of a list or a map that is made.
#[derive(Clone, Copy, Debug)]
struct EntrySizes {
    is_list: bool,
    key: Range,
    value: Range,
}

/// A variable of a loop.
#[derive(Clone, Debug)]
struct Local {
    name: String,
    path: Option<Vec<String>>,
    size: Option<Range>,
    entries: Option<EntrySizes>,
}

/// The estimation of one expression.
struct Estimator<'c> {
    notes: &'c Notes,
    schema: &'c dyn Sizes,
    paths: BTreeMap<usize, Vec<String>>,
    sizes: BTreeMap<usize, Range>,
    entries: BTreeMap<usize, EntrySizes>,
    locals: Vec<Local>,
}

/// Returns the maximum cost of an expression.
pub(crate) fn cost_max(expr: &Expr, notes: &Notes, schema: &dyn Sizes) -> u64 {
    let mut estimator = Estimator {
        notes,
        schema,
        paths: BTreeMap::new(),
        sizes: BTreeMap::new(),
        entries: BTreeMap::new(),
        locals: Vec::new(),
    };
    estimator.cost(expr).max
}

// === impl Estimator ===

impl Estimator<'_> {
    fn cost(&mut self, expr: &Expr) -> Range {
        deep(|| self.cost_of(expr))
    }

    fn cost_of(&mut self, expr: &Expr) -> Range {
        match &expr.kind {
            ExprKind::Literal(_) => Range::ZERO,
            ExprKind::Struct { fields, .. } => {
                let (cost, _) = self.all(fields.iter().map(|field| &field.value));
                cost.plus(Range::fixed(STRUCT))
            }
            ExprKind::Ident(name) => {
                let path = match self.local(name) {
                    Some(local) => local.path.clone(),
                    None => Some(vec![name.clone()]),
                };
                self.set_path(expr, path);
                Range::ONE
            }
            ExprKind::Select {
                operand,
                field,
                is_test,
            } => self.select(expr, operand, field, *is_test),
            ExprKind::Call {
                function,
                target,
                arguments,
            } => self.call(expr, function, target.as_deref(), arguments),
            ExprKind::List(elements) => {
                let values = elements.iter().map(|element| &element.value);
                let (cost, size) = self.all(values);
                let sizes = EntrySizes {
                    is_list: true,
                    key: Range::ONE,
                    value: size,
                };
                self.entries.insert(expr.id, sizes);
                cost.plus(Range::fixed(LIST))
            }
            ExprKind::Map(entries) => {
                let (keys, key) = self.all(entries.iter().map(|entry| &entry.key));
                let (values, value) = self.all(entries.iter().map(|entry| &entry.value));
                let sizes = EntrySizes {
                    is_list: false,
                    key,
                    value,
                };
                self.entries.insert(expr.id, sizes);
                keys.plus(values).plus(Range::fixed(MAP))
            }
            ExprKind::Fold(fold) => self.fold(expr, fold),
        }
    }

    /// Returns the cost of several expressions, and the range of their sizes.
    fn all<'e>(&mut self, all: impl Iterator<Item = &'e Expr>) -> (Range, Range) {
        let (mut cost, mut size) = (Range::ZERO, None::<Range>);
        for expr in all {
            cost = cost.plus(self.cost(expr));
            let own = self.size_or_unknown(expr);
            size = Some(size.map_or(own, |size| size.union(own)));
        }
        (cost, size.unwrap_or(Range::ZERO))
    }

    fn select(&mut self, expr: &Expr, operand: &Expr, field: &str, is_test: bool) -> Range {
        let cost = self.cost(operand);
        // `has()` reads no value, so that cel-go charges its operand alone.
        if is_test {
            return cost;
        }
        let has_cost = matches!(
            self.notes.type_of(operand),
            Type::Map(..) | Type::Object(_) | Type::Variable(_)
        );
        let path = self.path(operand).map(|mut path| {
            path.push(field.to_owned());
            path
        });
        self.set_path(expr, Some(path.unwrap_or_else(|| vec![field.to_owned()])));
        cost.plus(if has_cost { Range::ONE } else { Range::ZERO })
    }

    fn call(
        &mut self,
        expr: &Expr,
        function: &str,
        target: Option<&Expr>,
        arguments: &[Expr],
    ) -> Range {
        if function == "dyn"
            && let [argument] = arguments
        {
            let cost = self.cost(argument);
            self.copy_sizes(expr, argument);
            return cost.plus(Range::ONE);
        }
        let costs: Vec<Range> = arguments.iter().map(|one| self.cost(one)).collect();
        let overloads = self.notes.of(expr).overloads.clone();
        if overloads.is_empty() {
            return Range::ZERO;
        }
        let target_cost = target.map_or(Range::ZERO, |target| self.cost(target));
        let call = Call {
            function,
            target: target.map(|target| self.operand(target)),
            arguments: arguments.iter().map(|one| self.operand(one)).collect(),
            costs: &costs,
        };
        let (mut cost, mut result) = (None::<Range>, None::<Range>);
        for overload in overloads {
            let estimate = call_cost(&call, overload);
            cost = Some(cost.map_or(estimate.cost, |cost| cost.union(estimate.cost)));
            result = self.result_size(expr, overload, arguments, &estimate, result);
        }
        if let Some(size) = result {
            self.sizes.insert(expr.id, size);
        }
        target_cost.plus(cost.unwrap_or(Range::ZERO))
    }

    /// Returns the size of a call's result, and notes where it comes from.
    fn result_size(
        &mut self,
        expr: &Expr,
        overload: &str,
        arguments: &[Expr],
        estimate: &Estimate,
        computed: Option<Range>,
    ) -> Option<Range> {
        let mut result = match (computed, estimate.size) {
            (Some(computed), Some(own)) => Some(computed.union(own)),
            (computed, own) => computed.or(own),
        };
        match (overload, arguments) {
            ("index_list" | "index_map", [of, ..]) => {
                result = self.entry_sizes(of).map(|entries| entries.value);
                let step = if overload == "index_list" {
                    "@items"
                } else {
                    "@values"
                };
                let path = self.path(of).map(|mut path| {
                    path.push(step.to_owned());
                    path
                });
                self.set_path(expr, Some(path.unwrap_or_else(|| vec![step.to_owned()])));
            }
            ("conditional", [_, one, other]) | ("add_list", [one, other]) => {
                if let (Some(one), Some(other)) = (self.entry_sizes(one), self.entry_sizes(other)) {
                    let joined = EntrySizes {
                        is_list: one.is_list,
                        key: one.key.union(other.key),
                        value: one.value.union(other.value),
                    };
                    self.entries.insert(expr.id, joined);
                }
            }
            _ => {}
        }
        result.or_else(|| self.size(expr))
    }

    fn operand(&mut self, expr: &Expr) -> Operand {
        let path = self
            .path(expr)
            // An accumulator is no part of a schema, which would be asked for a size otherwise.
            .filter(|path| path.first().is_none_or(|first| first != ACCUMULATOR));
        let of = self.notes.type_of(expr).clone();
        let item = match &of {
            Type::List(item) => {
                let path = path.map(|mut path| {
                    path.push("@items".to_owned());
                    path
                });
                let size = path.and_then(|path| self.schema_size(&path));
                Some((Type::clone(item), size.unwrap_or(Range::UNKNOWN)))
            }
            _ => None,
        };
        let literal = match &expr.kind {
            ExprKind::Literal(Literal::Int(number)) => Some(*number),
            _ => None,
        };
        let size = self.size(expr);
        Operand {
            size: size.unwrap_or(Range::UNKNOWN),
            is_computed: size.is_some(),
            of,
            item,
            literal,
        }
    }

    fn fold(&mut self, expr: &Expr, fold: &Fold) -> Range {
        let mut cost = self.cost(&fold.range).plus(self.cost(&fold.start));
        let result = Local {
            name: fold.accumulator.clone(),
            path: self.path(&fold.start),
            size: self.size(&fold.start),
            entries: self.entry_sizes(&fold.start),
        };
        let depth = self.locals.len();
        self.locals.push(result);
        if fold.is_binding() {
            cost = cost.plus(self.cost(&fold.result));
            self.locals.truncate(depth);
            self.copy_sizes(expr, &fold.result);
            return cost;
        }
        self.push_variables(fold);
        let condition = self.cost(&fold.condition);
        let step = self.cost(&fold.step);
        // The result sees the accumulator, but no longer the loop variables.
        self.locals.truncate(depth + 1);
        cost = cost.plus(self.cost(&fold.result));
        self.locals.truncate(depth);
        let count = self.size_or_unknown(&fold.range);
        cost = cost.plus(count.times(step.plus(condition)));
        match &fold.start.kind {
            ExprKind::Literal(_) => {
                if let Some(size) = self.size(&fold.start) {
                    self.sizes.insert(expr.id, size);
                }
            }
            ExprKind::List(_) | ExprKind::Map(_) => {
                // A loop that builds a list or a map can add one entry in each step.
                self.sizes.insert(expr.id, count);
                if let Some(entries) = self.entry_sizes(&fold.step) {
                    self.entries.insert(expr.id, entries);
                }
            }
            _ => {}
        }
        cost
    }

    fn push_variables(&mut self, fold: &Fold) {
        let entries = self.entry_sizes(&fold.range);
        let is_list = match entries {
            Some(entries) => entries.is_list,
            None => matches!(self.notes.type_of(&fold.range), Type::List(_)),
        };
        let path = self.path(&fold.range).unwrap_or_default();
        let mut push = |name: &String, is_value: bool| {
            let step = match (is_list, is_value) {
                (true, true) => "@items",
                (true, false) => "@indices",
                (false, true) => "@values",
                (false, false) => "@keys",
            };
            let mut path = path.clone();
            path.push(step.to_owned());
            let size = entries.map(|own| if is_value { own.value } else { own.key });
            self.locals.push(Local {
                name: name.clone(),
                path: Some(path),
                size,
                entries: None,
            });
        };
        match &fold.second {
            Some(second) => {
                push(&fold.variable, false);
                push(second, true);
            }
            None => push(&fold.variable, is_list),
        }
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn path(&self, expr: &Expr) -> Option<Vec<String>> {
        if let ExprKind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned()
    }

    fn set_path(&mut self, expr: &Expr, path: Option<Vec<String>>) {
        if let Some(path) = path {
            self.paths.insert(expr.id, path);
        }
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        if let Some(size) = self.size(from) {
            self.sizes.insert(to.id, size);
        }
        if let Some(entries) = self.entry_sizes(from) {
            self.entries.insert(to.id, entries);
        }
    }

    fn entry_sizes(&self, expr: &Expr) -> Option<EntrySizes> {
        if let Some(entries) = self.entries.get(&expr.id) {
            return Some(*entries);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name)?.entries,
            _ => None,
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(Range::UNKNOWN)
    }

    fn size(&mut self, expr: &Expr) -> Option<Range> {
        // Sizes that a call has computed take precedence over the schema.
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        let count = match &expr.kind {
            ExprKind::Literal(Literal::String(text)) => Some(text.chars().count()),
            ExprKind::Literal(Literal::Bytes(bytes)) => Some(bytes.len()),
            ExprKind::Literal(_) => Some(1),
            ExprKind::List(elements) => Some(elements.len()),
            ExprKind::Map(entries) => Some(entries.len()),
            _ => None,
        };
        if let Some(count) = count {
            return Some(Range::fixed(count as u64));
        }
        let declared = self.path(expr).and_then(|path| self.schema_size(&path));
        if let Some(size) = declared {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.notes.type_of(expr)) {
            return Some(Range::ONE);
        }
        match &expr.kind {
            ExprKind::Ident(name) => self.local(name)?.size,
            _ => None,
        }
    }

    /// Returns the size that the value at a path can have.
    fn schema_size(&self, path: &[String]) -> Option<Range> {
        let max = self.schema.size_max(path)?;
        Some(Range { min: 0, max })
    }
}

fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => {
            true
        }
        Type::Optional(inner) => is_scalar(inner),
        _ => false,
    }
}
