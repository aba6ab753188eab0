//! CEL expressions that select devices.

use kube_cel::{
    KubeCelExt,
    cel::{Context, Program, objects::ValueType},
};

/// The variable that expressions read.
const DEVICE: &str = "device";

/// The names of types, which expressions can also use as values.
const TYPES: [&str; 12] = [
    "bool",
    "bytes",
    "double",
    "dyn",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
    "optional_type",
];

/// The tokens that begin an expression, as parsers list them.
const START: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, \
    BYTES, IDENTIFIER}";

/// Returns what is wrong with an expression.
pub(super) fn expression_problem(expression: &str) -> Option<String> {
    let program = match Program::compile(expression) {
        Ok(program) => program,
        Err(why) => {
            return Some(format!(
                "compilation failed: {}",
                syntax_problem(expression, &why.to_string())
            ));
        }
    };
    let references = program.references();
    let mut undeclared: Vec<(usize, &str)> = references
        .variables()
        .into_iter()
        .filter(|name| *name != DEVICE && !TYPES.contains(name))
        .flat_map(|name| places_of(expression, name).map(move |place| (place, name)))
        .collect();
    if undeclared.is_empty() {
        return type_problem(&program);
    }
    undeclared.sort_unstable();
    let errors: Vec<String> = undeclared
        .into_iter()
        .map(|(place, name)| {
            let problem = format!("undeclared reference to '{name}' (in container '')");
            error_at(expression, place, &problem)
        })
        .collect();
    Some(format!("compilation failed: {}", errors.join("\n")))
}

/// Describes an expression that cannot be parsed: in the words of a real server if it is empty.
fn syntax_problem(expression: &str, why: &str) -> String {
    if expression.is_empty() {
        format!("ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {START}")
    } else {
        why.to_owned()
    }
}

/// Describes an error in the line of the expression where it is.
fn error_at(expression: &str, place: usize, problem: &str) -> String {
    let before = &expression[..place];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = expression[line_start..].lines().next().unwrap_or_default();
    let number = before.matches('\n').count() + 1;
    let column = expression[line_start..place].chars().count();
    format!(
        "ERROR: <input>:{number}:{}: {problem}\n | {line}\n | {}^",
        column + 1,
        ".".repeat(column)
    )
}

/// Returns the places at which an expression reads a variable, in bytes.
fn places_of(expression: &str, name: &str) -> impl Iterator<Item = usize> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    expression
        .match_indices(name)
        .map(|(place, _)| place)
        .filter(move |place| {
            let (before, after) = (&expression[..*place], &expression[place + name.len()..]);
            !before.ends_with(|last| is_part(last) || last == '.') && !after.starts_with(is_part)
        })
}

/// Returns the problem of an expression that reads nothing and is no bool.
fn type_problem(program: &Program) -> Option<String> {
    let context = Context::default().with_all();
    let references = program.references();
    if !references.variables().is_empty() {
        return None;
    }
    let name = match program.execute(&context).ok()?.type_of() {
        ValueType::Int => "int",
        ValueType::UInt => "uint",
        ValueType::Float => "double",
        ValueType::String => "string",
        ValueType::Bytes => "bytes",
        ValueType::Null => "null_type",
        _ => return None,
    };
    Some(format!(
        "must evaluate to bool or the unknown type, not {name}"
    ))
}
