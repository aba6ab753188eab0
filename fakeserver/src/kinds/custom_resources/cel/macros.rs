//! Calls that are other expressions: tests of fields, and loops over lists and maps.

use super::{
    ast::{ACCUMULATOR, Element, Expr, ExprKind, Fold, Literal, UNUSED},
    parser::{Ids, ParseError},
};

/// The variables of a loop.
type Variables = (String, Option<String>);

/// The parts of a loop besides its range.
struct Parts {
    start: Expr,
    condition: Expr,
    step: Expr,
    result: Expr,
}

struct Maker<'i> {
    ids: &'i mut Ids,
    at: usize,
}

/// Returns the call of a function, or what it stands for if it is a macro.
pub(super) fn expand(
    ids: &mut Ids,
    at: usize,
    function: &str,
    target: Option<Expr>,
    mut arguments: Vec<Expr>,
) -> Result<Expr, ParseError> {
    let mut make = Maker { ids, at };
    let Some(target) = target else {
        return match (function, arguments.len()) {
            ("has", 1) => make.test(arguments.swap_remove(0)),
            _ => Ok(make.call(function, None, arguments)),
        };
    };
    let count = arguments.len();
    match (function, count) {
        ("all" | "exists" | "exists_one" | "existsOne", 2 | 3) => {
            let predicate = arguments.split_off(count - 1);
            let variables = variables(&arguments, "argument must be a simple name")?;
            let parts = make.quantifier(function, predicate);
            Ok(make.fold(target, variables, parts))
        }
        ("map", 2 | 3) | ("filter", 2) => {
            let rest = arguments.split_off(1);
            let names = variables(&arguments, "argument is not an identifier")?;
            let parts = if function == "map" {
                make.transform(rest)
            } else {
                let kept = arguments.swap_remove(0);
                make.transform(rest.into_iter().chain([kept]).collect())
            };
            Ok(make.fold(target, names, parts))
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
fn variables(arguments: &[Expr], otherwise: &str) -> Result<Variables, ParseError> {
    let mut names = arguments.iter().map(|argument| match &argument.kind {
        ExprKind::Ident(name) if name != ACCUMULATOR && name != "__result__" => Ok(name.clone()),
        ExprKind::Ident(_) => Err(ParseError {
            at: argument.at,
            message: "iteration variable overwrites accumulator variable".to_owned(),
        }),
        _ => Err(ParseError {
            at: argument.at,
            message: otherwise.to_owned(),
        }),
    });
    let first = names.next().unwrap_or_else(|| Ok(String::new()))?;
    Ok((first, names.next().transpose()?))
}

// === impl Maker ===

impl Maker<'_> {
    fn expr(&mut self, kind: ExprKind) -> Expr {
        self.ids.expr(self.at, kind)
    }

    fn literal(&mut self, literal: Literal) -> Expr {
        self.expr(ExprKind::Literal(literal))
    }

    fn result(&mut self) -> Expr {
        self.expr(ExprKind::Ident(ACCUMULATOR.to_owned()))
    }

    fn call(&mut self, function: &str, target: Option<Expr>, arguments: Vec<Expr>) -> Expr {
        self.expr(ExprKind::Call {
            function: function.to_owned(),
            target: target.map(Box::new),
            arguments,
        })
    }

    fn test(&mut self, argument: Expr) -> Result<Expr, ParseError> {
        let ExprKind::Select { operand, field, .. } = argument.kind else {
            return Err(ParseError {
                at: argument.at,
                message: "invalid argument to has() macro".to_owned(),
            });
        };
        Ok(self.expr(ExprKind::Select {
            operand,
            field,
            is_test: true,
        }))
    }

    fn fold(&mut self, range: Expr, (variable, second): Variables, parts: Parts) -> Expr {
        self.expr(ExprKind::Fold(Box::new(Fold {
            range,
            variable,
            second,
            result_variable: ACCUMULATOR.to_owned(),
            start: parts.start,
            condition: parts.condition,
            step: parts.step,
            result: parts.result,
        })))
    }

    fn quantifier(&mut self, function: &str, predicate: Vec<Expr>) -> Parts {
        let result = self.result();
        match function {
            "all" => {
                let condition = self.call("@not_strictly_false", None, vec![result.clone()]);
                Parts {
                    start: self.literal(Literal::Bool(true)),
                    condition,
                    step: self.join("_&&_", predicate),
                    result,
                }
            }
            "exists" => {
                let not = self.call("!_", None, vec![result.clone()]);
                Parts {
                    start: self.literal(Literal::Bool(false)),
                    condition: self.call("@not_strictly_false", None, vec![not]),
                    step: self.join("_||_", predicate),
                    result,
                }
            }
            _ => {
                let one = self.literal(Literal::Int(1));
                let more = self.join("_+_", vec![one.clone()]);
                let same = self.result();
                let arguments = predicate.into_iter().chain([more, same]).collect();
                Parts {
                    start: self.literal(Literal::Int(0)),
                    condition: self.literal(Literal::Bool(true)),
                    step: self.call("_?_:_", None, arguments),
                    result: self.call("_==_", None, vec![result, one]),
                }
            }
        }
    }

    /// Returns the call of an operator on the value of the loop and another one.
    fn join(&mut self, function: &str, other: Vec<Expr>) -> Expr {
        let result = self.result();
        let arguments = std::iter::once(result).chain(other).collect();
        self.call(function, None, arguments)
    }

    /// Returns a loop that collects values; before the value may stand a condition.
    fn transform(&mut self, mut rest: Vec<Expr>) -> Parts {
        let value = rest.pop().into_iter().map(|value| Element {
            value,
            is_optional: false,
        });
        let value = ExprKind::List(value.collect());
        let value = self.expr(value);
        let step = self.join("_+_", vec![value]);
        let step = self.filtered(rest, step);
        Parts {
            start: self.expr(ExprKind::List(Vec::new())),
            condition: self.literal(Literal::Bool(true)),
            step,
            result: self.result(),
        }
    }

    fn transform_map(&mut self, mut rest: Vec<Expr>, key: &str, has_key: bool) -> Parts {
        let mut inserted: Vec<Expr> = rest.pop().into_iter().collect();
        if has_key {
            let key = self.expr(ExprKind::Ident(key.to_owned()));
            inserted.insert(0, key);
        }
        let step = self.join("cel.@mapInsert", inserted);
        let step = self.filtered(rest, step);
        Parts {
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
        self.call("_?_:_", None, vec![filter, step, same])
    }

    /// Returns the value of an optional one, changed if there is one.
    fn optional(
        &mut self,
        function: &str,
        target: Expr,
        mut arguments: Vec<Expr>,
    ) -> Result<Expr, ParseError> {
        let changed = arguments.pop();
        let message = format!("{function}() variable name must be a simple identifier");
        let (name, _) = variables(&arguments, &message)?;
        let changed = changed.unwrap_or_else(|| self.literal(Literal::Null));
        let value = self.call("value", Some(target.clone()), Vec::new());
        let fold = Fold {
            range: self.expr(ExprKind::List(Vec::new())),
            variable: UNUSED.to_owned(),
            second: None,
            result_variable: name.clone(),
            start: value,
            condition: self.literal(Literal::Bool(false)),
            step: self.expr(ExprKind::Ident(name)),
            result: changed,
        };
        let mut made = self.expr(ExprKind::Fold(Box::new(fold)));
        if function == "optMap" {
            made = self.call("optional.of", None, vec![made]);
        }
        let has_value = self.call("hasValue", Some(target), Vec::new());
        let none = self.call("optional.none", None, Vec::new());
        Ok(self.call("_?_:_", None, vec![has_value, made, none]))
    }
}
