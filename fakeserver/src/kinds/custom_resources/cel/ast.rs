//! Expressions as trees, with the place of each part in the text.

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// Numbers the expressions of a text; copies share it.
    pub(super) id: usize,
    /// The character at which errors point.
    pub(super) at: usize,
    pub(super) kind: ExprKind,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Literal(Literal),
    Ident(String),
    Select {
        operand: Box<Expr>,
        field: String,
        /// Only whether the field exists is asked.
        is_test: bool,
    },
    Call {
        function: String,
        target: Option<Box<Expr>>,
        arguments: Vec<Expr>,
    },
    List(Vec<Element>),
    Map(Vec<Entry>),
    /// A message; no variable of these expressions has a type that can be made.
    Message(String),
    Fold(Box<Fold>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// An element of a list.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) value: Expr,
    /// Left out if it has no value.
    pub(super) is_optional: bool,
}

/// An entry of a map.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    /// Left out if it has no value.
    pub(super) is_optional: bool,
}

/// A loop over a list or a map that changes a value, into which macros expand.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) range: Expr,
    pub(super) variable: String,
    /// The second variable: then the first one is an index or a key.
    pub(super) second: Option<String>,
    pub(super) result_variable: String,
    pub(super) start: Expr,
    pub(super) condition: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

/// The variable that holds the value of a loop, which no text can name.
pub(super) const ACCUMULATOR: &str = "@result";
/// The variable of a loop that runs never.
pub(super) const UNUSED: &str = "#unused";

// === impl Expr ===

impl Expr {
    /// Calls `visit` with this and all expressions within.
    pub(super) fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Message(_) => {}
            ExprKind::Select { operand, .. } => operand.walk(visit),
            ExprKind::Call {
                target, arguments, ..
            } => {
                if let Some(target) = target {
                    target.walk(visit);
                }
                for one in arguments {
                    one.walk(visit);
                }
            }
            ExprKind::List(elements) => {
                for element in elements {
                    element.value.walk(visit);
                }
            }
            ExprKind::Map(entries) => {
                for entry in entries {
                    entry.key.walk(visit);
                    entry.value.walk(visit);
                }
            }
            ExprKind::Fold(fold) => {
                let parts = [
                    &fold.range,
                    &fold.start,
                    &fold.condition,
                    &fold.step,
                    &fold.result,
                ];
                for one in parts {
                    one.walk(visit);
                }
            }
        }
    }

    /// Returns the name that a chain of selections spells: `a.b.c`.
    pub(super) fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            ExprKind::Ident(name) => Some(name.clone()),
            ExprKind::Select {
                operand,
                field,
                is_test: false,
            } => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }
}
