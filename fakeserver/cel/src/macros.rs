//! Macros: calls that stand for other expressions, such as tests of fields, and loops over lists and maps.

use super::{
    ast::{
        ACCUMULATOR, Element, Expr, ExprKind, Fold, Literal, OLD_ACCUMULATOR, UNUSED, operators,
    },
    parser::{ExpressionError, Ids, ParseResult},
};

/// The variables of a loop.
type LoopVariables = (String, Option<String>);

/// The variable that has the list which `sortBy` sorts.
const SORTED: &str = "@__sortBy_input__";

/// The parts of a loop except its range.
struct LoopParts {
    start: Expr,
    condition: Expr,
    step: Expr,
    result: Expr,
}

struct ExprBuilder<'i> {
    ids: &'i mut Ids,
    at: usize,
}

/// Returns the call of a function, or the meaning of a macro.
pub(super) fn expand(
    ids: &mut Ids,
    at: usize,
    function: &str,
    target: Option<Expr>,
    mut arguments: Vec<Expr>,
) -> ParseResult {
    let mut make = ExprBuilder { ids, at };
    let Some(target) = target else {
        return match (function, arguments.len()) {
            ("has", 1) => make.test(arguments.swap_remove(0)),
            _ => Ok(make.call(function, None, arguments)),
        };
    };
    let count = arguments.len();
    match (function, count) {
        ("all" | "exists" | "exists_one", 2 | 3) | ("existsOne", 3) => {
            let predicate = arguments.split_off(count - 1);
            let variables = variables(&arguments, "argument must be a simple name")?;
            let parts = make.quantifier(function, predicate);
            Ok(make.fold(target, variables, parts))
        }
        ("map", 2 | 3) | ("filter" | "sortBy", 2) => {
            let rest = arguments.split_off(1);
            let names = variables(&arguments, "argument is not an identifier")?;
            match function {
                "sortBy" => make.sort_by(target, names, rest),
                "map" => {
                    let parts = make.transform(rest);
                    Ok(make.fold(target, names, parts))
                }
                _ => {
                    let kept = rest.into_iter().chain(arguments).collect();
                    let parts = make.transform(kept);
                    Ok(make.fold(target, names, parts))
                }
            }
        }
        ("transformList" | "transformMap" | "transformMapEntry", 3 | 4) => {
            let rest = arguments.split_off(2);
            let names = variables(&arguments, "argument must be a simple name")?;
            let parts = match function {
                "transformList" => make.transform(rest),
                _ => make.transform_map(rest, &names.0, function == "transformMap"),
            };
            Ok(make.fold(target, names, parts))
        }
        ("optMap" | "optFlatMap", 2) => make.optional(function, target, arguments),
        _ => Ok(make.call(function, Some(target), arguments)),
    }
}

/// Returns the variables that arguments name.
fn variables(arguments: &[Expr], otherwise: &str) -> ParseResult<LoopVariables> {
    let mut names: Vec<String> = Vec::new();
    for argument in arguments {
        let ExprKind::Ident(name) = &argument.kind else {
            return Err(ExpressionError::new(argument.at, otherwise));
        };
        let problem = match name.as_str() {
            ACCUMULATOR | OLD_ACCUMULATOR => {
                "iteration variable overwrites accumulator variable".to_owned()
            }
            _ if names.contains(name) => format!("duplicate variable name: {name}"),
            _ => {
                names.push(name.clone());
                continue;
            }
        };
        return Err(ExpressionError::new(argument.at, problem));
    }
    let mut names = names.into_iter();
    Ok((names.next().unwrap_or_default(), names.next()))
}

// === impl ExprBuilder ===

impl ExprBuilder<'_> {
    fn expr(&mut self, kind: ExprKind) -> Expr {
        self.ids.expr(self.at, kind)
    }

    fn literal(&mut self, literal: Literal) -> Expr {
        self.expr(ExprKind::Literal(literal))
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.expr(ExprKind::Ident(name.to_owned()))
    }

    fn result(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    fn call(&mut self, function: &str, target: Option<Expr>, arguments: Vec<Expr>) -> Expr {
        self.ids.call(self.at, function, target, arguments)
    }

    fn test(&mut self, argument: Expr) -> ParseResult {
        let ExprKind::Select { operand, field, .. } = argument.kind else {
            let message = "invalid argument to has() macro";
            return Err(ExpressionError::new(argument.at, message));
        };
        Ok(self.expr(ExprKind::Select {
            operand,
            field,
            is_test: true,
        }))
    }

    fn fold(&mut self, range: Expr, (variable, second): LoopVariables, parts: LoopParts) -> Expr {
        self.expr(ExprKind::Fold(Box::new(Fold {
            range,
            variable,
            second,
            accumulator: ACCUMULATOR.to_owned(),
            start: parts.start,
            condition: parts.condition,
            step: parts.step,
            result: parts.result,
        })))
    }

    /// Returns an expression in which a variable has a value.
    fn bind(&mut self, name: &str, value: Expr, body: Expr) -> Expr {
        let fold = Fold {
            range: self.expr(ExprKind::List(Vec::new())),
            variable: UNUSED.to_owned(),
            second: None,
            accumulator: name.to_owned(),
            start: value,
            condition: self.literal(Literal::Bool(false)),
            step: self.ident(name),
            result: body,
        };
        self.expr(ExprKind::Fold(Box::new(fold)))
    }

    fn quantifier(&mut self, function: &str, predicate: Vec<Expr>) -> LoopParts {
        let result = self.result();
        match function {
            "all" => LoopParts {
                start: self.literal(Literal::Bool(true)),
                condition: self.call(operators::NOT_STRICTLY_FALSE, None, vec![result.clone()]),
                step: self.join(operators::AND, predicate),
                result,
            },
            "exists" => {
                let not = self.call(operators::NOT, None, vec![result.clone()]);
                LoopParts {
                    start: self.literal(Literal::Bool(false)),
                    condition: self.call(operators::NOT_STRICTLY_FALSE, None, vec![not]),
                    step: self.join(operators::OR, predicate),
                    result,
                }
            }
            _ => {
                let one = self.literal(Literal::Int(1));
                let more = self.join(operators::ADD, vec![one.clone()]);
                let same = self.result();
                let arguments = predicate.into_iter().chain([more, same]).collect();
                LoopParts {
                    start: self.literal(Literal::Int(0)),
                    condition: self.literal(Literal::Bool(true)),
                    step: self.call(operators::CONDITIONAL, None, arguments),
                    result: self.call(operators::EQUALS, None, vec![result, one]),
                }
            }
        }
    }

    /// Returns the call of an operator on the accumulator and another value.
    fn join(&mut self, function: &str, other: Vec<Expr>) -> Expr {
        let result = self.result();
        let arguments = std::iter::once(result).chain(other).collect();
        self.call(function, None, arguments)
    }

    /// Returns the parts of a loop that collects values. A condition may precede the value.
    fn transform(&mut self, mut rest: Vec<Expr>) -> LoopParts {
        let value = rest.pop().into_iter().map(|value| Element {
            value,
            is_optional: false,
        });
        let value = ExprKind::List(value.collect());
        let value = self.expr(value);
        let step = self.join(operators::ADD, vec![value]);
        let step = self.filtered(rest, step);
        LoopParts {
            start: self.expr(ExprKind::List(Vec::new())),
            condition: self.literal(Literal::Bool(true)),
            step,
            result: self.result(),
        }
    }

    fn transform_map(&mut self, mut rest: Vec<Expr>, key: &str, has_key: bool) -> LoopParts {
        let mut inserted: Vec<Expr> = rest.pop().into_iter().collect();
        if has_key {
            inserted.insert(0, self.ident(key));
        }
        let step = self.join(operators::MAP_INSERT, inserted);
        let step = self.filtered(rest, step);
        LoopParts {
            start: self.expr(ExprKind::Map(Vec::new())),
            condition: self.literal(Literal::Bool(true)),
            step,
            result: self.result(),
        }
    }

    fn filtered(&mut self, mut rest: Vec<Expr>, step: Expr) -> Expr {
        let Some(filter) = rest.pop() else {
            return step;
        };
        let same = self.result();
        self.call(operators::CONDITIONAL, None, vec![filter, step, same])
    }

    fn sort_by(&mut self, target: Expr, names: LoopVariables, key: Vec<Expr>) -> ParseResult {
        if matches!(
            target.kind,
            ExprKind::Literal(_) | ExprKind::Map(_) | ExprKind::Struct { .. }
        ) {
            let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return Err(ExpressionError::new(target.at, message));
        }
        let parts = self.transform(key);
        let list = self.ident(SORTED);
        let keys = self.fold(list, names, parts);
        let list = self.ident(SORTED);
        let sorted = self.call(operators::SORT_BY, Some(list), vec![keys]);
        Ok(self.bind(SORTED, target, sorted))
    }

    /// Returns the value of an optional one, changed if there is one.
    fn optional(&mut self, function: &str, target: Expr, mut arguments: Vec<Expr>) -> ParseResult {
        let changed = arguments.pop();
        let message = format!("{function}() variable name must be a simple identifier");
        let (name, _) = variables(&arguments, &message)?;
        let changed = changed.unwrap_or_else(|| self.literal(Literal::Null));
        let value = self.call("value", Some(target.clone()), Vec::new());
        let mut made = self.bind(&name, value, changed);
        if function == "optMap" {
            made = self.call("optional.of", None, vec![made]);
        }
        let has_value = self.call("hasValue", Some(target), Vec::new());
        let none = self.call("optional.none", None, Vec::new());
        Ok(self.call(operators::CONDITIONAL, None, vec![has_value, made, none]))
    }
}
