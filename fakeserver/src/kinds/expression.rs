//! Validation of CEL expressions: syntax, names, and the types of literals.

use std::collections::BTreeSet;

use kube_cel::cel::{
    Program,
    common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue},
};

/// The variables of expressions about a request.
const REQUEST: [&str; 4] = ["object", "oldObject", "request", "namespaceObject"];
/// The names of types, which are values.
const TYPES: [&str; 13] = [
    "bool",
    "bytes",
    "double",
    "dyn",
    "google",
    "int",
    "list",
    "map",
    "null_type",
    "optional_type",
    "string",
    "type",
    "uint",
];
/// The first parts of the names of functions.
const LIBRARIES: [&str; 8] = [
    "cidr",
    "format",
    "ip",
    "jsonpatch",
    "math",
    "optional",
    "semver",
    "sets",
];

/// The tokens that begin an expression, as parsers list them.
const START: &str = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, \
    BYTES, IDENTIFIER}";

/// The variables that an expression may name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    own: &'static [&'static str],
    params: bool,
    variables: bool,
    authorizer: bool,
}

// === impl Declared ===

impl Declared {
    /// Declares the variables of a request, the authorizer, and `params` if there are parameters.
    pub(crate) fn new(has_params: bool) -> Self {
        Self {
            own: &REQUEST,
            params: has_params,
            variables: false,
            authorizer: true,
        }
    }

    /// Declares these variables alone.
    pub(crate) fn only(own: &'static [&'static str]) -> Self {
        Self {
            own,
            params: false,
            variables: false,
            authorizer: false,
        }
    }

    /// Declares `variables`, which a policy composes.
    pub(crate) fn with_variables(self) -> Self {
        Self {
            variables: true,
            ..self
        }
    }

    /// Removes the authorizer.
    pub(crate) fn without_authorizer(self) -> Self {
        Self {
            authorizer: false,
            ..self
        }
    }

    /// Compiles an expression whose names are all declared. The error is in a real server's words.
    pub(crate) fn compile(self, expression: &str) -> Result<Program, String> {
        let program = Program::compile(expression).map_err(|errors| {
            let errors = syntax_errors(expression, &errors.to_string()).join("\n");
            format!("compilation failed: {errors}")
        })?;
        let mut unknown = BTreeSet::new();
        self.collect(program.expression(), &mut Vec::new(), &mut unknown);
        if unknown.is_empty() {
            return Ok(program);
        }
        let errors = undeclared(expression, &unknown).join("\n");
        Err(format!("compilation failed: {errors}"))
    }

    /// Returns what is wrong with an expression that has to evaluate to one of the types, or to any if there are none.
    pub(crate) fn problem(self, expression: &str, types: &[&str]) -> Option<String> {
        let program = match self.compile(expression) {
            Ok(program) => program,
            Err(problem) => return Some(problem),
        };
        let Expr::Literal(literal) = &program.expression().expr else {
            return None;
        };
        let found = type_of(literal);
        match types {
            [] => None,
            types if types.contains(&found) => None,
            [one] => Some(format!("must evaluate to {one} but got {found}")),
            many => Some(format!(
                "must evaluate to one of [{}] but got {found}",
                many.join(" ")
            )),
        }
    }

    fn has(self, name: &str) -> bool {
        self.own.contains(&name)
            || TYPES.contains(&name)
            || (self.params && name == "params")
            || (self.variables && name == "variables")
            || (self.authorizer && name == "authorizer")
    }

    /// Collects the names that neither this nor a comprehension around them declares.
    fn collect(self, expr: &IdedExpr, bound: &mut Vec<String>, unknown: &mut BTreeSet<String>) {
        match &expr.expr {
            Expr::Ident(name) => {
                if !self.has(name) && !bound.contains(name) && !name.starts_with(['@', '.']) {
                    unknown.insert(name.clone());
                }
            }
            Expr::Select(select) => self.collect(&select.operand, bound, unknown),
            Expr::List(list) => {
                for element in &list.elements {
                    self.collect(element, bound, unknown);
                }
            }
            Expr::Call(call) => {
                let target = call.target.as_deref();
                let is_library = |target: &&IdedExpr| matches!(&target.expr, Expr::Ident(name) if LIBRARIES.contains(&name.as_str()));
                for part in target
                    .filter(|target| !is_library(target))
                    .into_iter()
                    .chain(&call.args)
                {
                    self.collect(part, bound, unknown);
                }
            }
            Expr::Map(map) => {
                self.collect_entries(map.entries.iter().map(|e| &e.expr), bound, unknown);
            }
            Expr::Struct(made) => {
                self.collect_entries(made.entries.iter().map(|e| &e.expr), bound, unknown);
            }
            Expr::Comprehension(loops) => {
                self.collect(&loops.iter_range, bound, unknown);
                self.collect(&loops.accu_init, bound, unknown);
                let outer = bound.len();
                bound.extend([loops.iter_var.clone(), loops.accu_var.clone()]);
                bound.extend(loops.iter_var2.clone());
                for part in [&loops.loop_cond, &loops.loop_step, &loops.result] {
                    self.collect(part, bound, unknown);
                }
                bound.truncate(outer);
            }
            Expr::Literal(_) | Expr::Unspecified => {}
        }
    }

    fn collect_entries<'a>(
        self,
        entries: impl Iterator<Item = &'a EntryExpr>,
        bound: &mut Vec<String>,
        unknown: &mut BTreeSet<String>,
    ) {
        for entry in entries {
            match entry {
                EntryExpr::MapEntry(entry) => {
                    self.collect(&entry.key, bound, unknown);
                    self.collect(&entry.value, bound, unknown);
                }
                EntryExpr::StructField(field) => self.collect(&field.value, bound, unknown),
            }
        }
    }
}

/// Returns the errors of a parser as a real server prints them.
fn syntax_errors(expression: &str, printed: &str) -> Vec<String> {
    if expression.is_empty() {
        let why = format!("mismatched input '<EOF>' expecting {START}");
        return vec![format!("ERROR: <input>:1:0: Syntax error: {why}")];
    }
    let errors = printed
        .lines()
        .filter_map(|line| line.strip_prefix("ERROR: <input>:"));
    errors
        .map(|error| {
            let mut parts = error.splitn(3, ':');
            let mut number = || parts.next().and_then(|part| part.parse::<usize>().ok());
            let (line, column) = (number().unwrap_or(1), number().unwrap_or(1));
            let why = parts.next().unwrap_or_default().trim_start();
            let why = match why.split_once(" expecting {<EOF>") {
                Some((found, _)) => format!("{found} expecting <EOF>"),
                None => why.to_owned(),
            };
            print_error(expression, (line, column), &why)
        })
        .collect()
}

/// Returns the errors of names that are not declared, in the order of the expression.
fn undeclared(expression: &str, unknown: &BTreeSet<String>) -> Vec<String> {
    let mut errors = Vec::new();
    for (line, text) in expression.lines().enumerate() {
        for (column, name) in names(text) {
            if unknown.contains(name) {
                let why = format!("undeclared reference to '{name}' (in container '')");
                errors.push(print_error(expression, (line + 1, column + 1), &why));
            }
        }
    }
    errors
}

/// Prints an error with its line, and a mark below its column. Dots and marks are as wide as the characters above.
fn print_error(expression: &str, (line, column): (usize, usize), why: &str) -> String {
    let text = expression
        .lines()
        .nth(line.saturating_sub(1))
        .unwrap_or_default();
    let mut marks = String::new();
    for letter in text.chars().take(column.saturating_sub(1)) {
        marks.push(if letter.is_ascii() { '.' } else { '．' });
    }
    let marked = text.chars().nth(column.saturating_sub(1));
    marks.push(if marked.is_none_or(|letter| letter.is_ascii()) {
        '^'
    } else {
        '＾'
    });
    format!("ERROR: <input>:{line}:{column}: {why}\n | {text}\n | {marks}")
}

/// Returns the names in a line with their columns, without members, functions and texts.
fn names(line: &str) -> Vec<(usize, &str)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    let mut quote = None;
    let mut previous = ' ';
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let column = line.len() - rest.len();
        let taken = if quote.is_none() && length > 0 {
            let after = rest[length..].trim_start().chars().next();
            if previous != '.' && !matches!(after, Some('(' | '{')) && !letter.is_ascii_digit() {
                found.push((line[..column].chars().count(), &rest[..length]));
            }
            length
        } else {
            match quote {
                Some(open) if open == letter && previous != '\\' => quote = None,
                None if matches!(letter, '\'' | '"') => quote = Some(letter),
                _ => {}
            }
            letter.len_utf8()
        };
        previous = rest[..taken].chars().next_back().unwrap_or(letter);
        rest = &rest[taken..];
    }
    found
}

fn type_of(literal: &LiteralValue) -> &'static str {
    match literal {
        LiteralValue::Boolean(_) => "bool",
        LiteralValue::Bytes(_) => "bytes",
        LiteralValue::Double(_) => "double",
        LiteralValue::Int(_) => "int",
        LiteralValue::Null => "null_type",
        LiteralValue::String(_) => "string",
        LiteralValue::UInt(_) => "uint",
    }
}
