//! The macros of CEL: calls that are not functions, since they bind variables or do not evaluate their arguments.

use super::{
    ast::{BindKind, Call, Expr, Loop, LoopKind, Node},
    parser::{SyntaxError, bind, error},
};

/// Returns the meaning of a call without a target.
pub(super) fn global(at: usize, name: String, mut args: Vec<Expr>) -> Result<Expr, SyntaxError> {
    if name != "has" || args.len() != 1 {
        return Ok(Expr {
            at,
            node: Node::Call(Call {
                target: None,
                function: name,
                args,
            }),
        });
    }
    let argument = args.remove(0);
    match argument.node {
        Node::Select {
            operand,
            field,
            is_optional: false,
        } => Ok(Expr {
            at,
            node: Node::Has { operand, field },
        }),
        _ => Err(error(argument.at, "invalid argument to has() macro")),
    }
}

/// Returns the meaning of a call with a target.
pub(super) fn member(
    at: usize,
    target: Expr,
    name: String,
    args: Vec<Expr>,
) -> Result<Expr, SyntaxError> {
    let bound = match (name.as_str(), args.len()) {
        ("optMap", 2) => Some(BindKind::OptMap),
        ("optFlatMap", 2) => Some(BindKind::OptFlatMap),
        _ => None,
    };
    if let Some(kind) = bound {
        let [variable, body] =
            <[Expr; 2]>::try_from(args).map_err(|_| error(at, "two arguments"))?;
        return Ok(bind(at, kind, simple_name(&variable)?, target, body));
    }
    let Some((kind, variables, has_filter)) = shape(&name, args.len()) else {
        return Ok(Expr {
            at,
            node: Node::Call(Call {
                target: Some(Box::new(target)),
                function: name,
                args,
            }),
        });
    };
    let mut args = args.into_iter();
    let mut names = Vec::new();
    for variable in args.by_ref().take(variables) {
        names.push(simple_name(&variable)?);
    }
    let filter = if has_filter { args.next() } else { None };
    let Some(body) = args.next() else {
        return Err(error(at, "a macro lacks an argument"));
    };
    Ok(Expr {
        at,
        node: Node::Loop(Box::new(Loop {
            kind,
            range: target,
            variables: names,
            filter,
            body,
        })),
    })
}

/// Returns the kind of a loop, the number of its variables, and whether it has a filter.
fn shape(name: &str, args: usize) -> Option<(LoopKind, usize, bool)> {
    Some(match (name, args) {
        ("all", 2) => (LoopKind::All, 1, false),
        ("exists", 2) => (LoopKind::Exists, 1, false),
        ("exists_one" | "existsOne", 2) => (LoopKind::ExistsOne, 1, false),
        ("map", 2) => (LoopKind::List, 1, false),
        ("map", 3) => (LoopKind::List, 1, true),
        ("filter", 2) => (LoopKind::Filter, 1, false),
        ("sortBy", 2) => (LoopKind::SortBy, 1, false),
        ("all", 3) => (LoopKind::All, 2, false),
        ("exists", 3) => (LoopKind::Exists, 2, false),
        ("exists_one" | "existsOne", 3) => (LoopKind::ExistsOne, 2, false),
        ("transformList", 3) => (LoopKind::List, 2, false),
        ("transformList", 4) => (LoopKind::List, 2, true),
        ("transformMap", 3) => (LoopKind::Map, 2, false),
        ("transformMap", 4) => (LoopKind::Map, 2, true),
        ("transformMapEntry", 3) => (LoopKind::MapEntry, 2, false),
        ("transformMapEntry", 4) => (LoopKind::MapEntry, 2, true),
        _ => return None,
    })
}

fn simple_name(variable: &Expr) -> Result<String, SyntaxError> {
    match &variable.node {
        Node::Ident(name) => Ok(name.clone()),
        _ => Err(error(variable.at, "argument must be a simple name")),
    }
}
