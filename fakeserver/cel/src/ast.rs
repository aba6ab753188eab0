//! Syntax trees of expressions, with the position of each part.

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// The number of the expression within its tree; copies share it.
    pub(super) id: usize,
    /// The position in the source that errors name, in characters.
    pub(super) at: usize,
    pub(super) kind: ExprKind,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Literal(Literal),
    Ident(String),
    Select {
        operand: Box<Expr>,
        field: String,
        /// True for `has(operand.field)`.
        is_test: bool,
    },
    /// A call of a function or an operator.
    Call {
        /// The name; that of an operator is as in [`operators`].
        function: String,
        target: Option<Box<Expr>>,
        arguments: Vec<Expr>,
    },
    List(Vec<Element>),
    Map(Vec<Entry>),
    Struct {
        name: String,
        fields: Vec<StructField>,
    },
    Fold(Box<Fold>),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
}

/// An element of a list.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) value: Expr,
    /// True if it is left out when it has no value.
    pub(super) is_optional: bool,
}

/// An entry of a map.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    pub(super) is_optional: bool,
}

/// A field of a constructed object.
#[derive(Clone, Debug)]
pub(super) struct StructField {
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) value: Expr,
    pub(super) is_optional: bool,
}

/// A loop over a list or a map that accumulates a value. Macros expand to it.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) range: Expr,
    pub(super) variable: String,
    /// The second variable, which has the value; then the first one has the index or the key.
    pub(super) second: Option<String>,
    /// The variable that has the accumulated value.
    pub(super) accumulator: String,
    pub(super) start: Expr,
    pub(super) condition: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

/// The accumulator of most macros, which no source can name.
pub(super) const ACCUMULATOR: &str = "@result";
/// The accumulator as older versions name it, which no variable may be called by.
pub(super) const OLD_ACCUMULATOR: &str = "__result__";
/// The variable of a loop that never runs.
pub(super) const UNUSED: &str = "#unused";

/// The names of operators, as errors show them.
pub(super) mod operators {
    pub(in super::super) const CONDITIONAL: &str = "_?_:_";
    pub(in super::super) const AND: &str = "_&&_";
    pub(in super::super) const OR: &str = "_||_";
    pub(in super::super) const NOT: &str = "!_";
    pub(in super::super) const NEGATE: &str = "-_";
    pub(in super::super) const INDEX: &str = "_[_]";
    pub(in super::super) const OPTIONAL_INDEX: &str = "_[?_]";
    /// The arguments are the operand, and the field as a text.
    pub(in super::super) const OPTIONAL_SELECT: &str = "_?._";
    pub(in super::super) const IN: &str = "@in";
    pub(in super::super) const EQUALS: &str = "_==_";
    pub(in super::super) const NOT_EQUALS: &str = "_!=_";
    pub(in super::super) const ADD: &str = "_+_";
    /// True for everything but false, errors included.
    pub(in super::super) const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
    /// Inserts into a map that a loop accumulates.
    pub(in super::super) const MAP_INSERT: &str = "cel.@mapInsert";
    /// Sorts a list by a list of keys.
    pub(in super::super) const SORT_BY: &str = "@sortByAssociatedKeys";
}

// === impl Expr ===

impl Expr {
    /// Calls `visit` with the expression and all in it.
    pub(super) fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        visit(self);
        for part in self.parts() {
            part.walk(visit);
        }
    }

    /// Returns the expressions of which it consists.
    pub(super) fn parts(&self) -> Vec<&Self> {
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Ident(_) => Vec::new(),
            ExprKind::Select { operand, .. } => vec![operand],
            ExprKind::Call {
                target, arguments, ..
            } => target.as_deref().into_iter().chain(arguments).collect(),
            ExprKind::List(elements) => elements.iter().map(|element| &element.value).collect(),
            ExprKind::Map(entries) => entries
                .iter()
                .flat_map(|entry| [&entry.key, &entry.value])
                .collect(),
            ExprKind::Struct { fields, .. } => fields.iter().map(|field| &field.value).collect(),
            ExprKind::Fold(fold) => vec![
                &fold.range,
                &fold.start,
                &fold.condition,
                &fold.step,
                &fold.result,
            ],
        }
    }

    /// Returns the dotted name that the expression is, if it is one.
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

    /// Returns the text that the expression is, if it is a literal one.
    pub(super) fn literal_text(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Literal(Literal::String(text)) => Some(text),
            _ => None,
        }
    }
}

// === impl Fold ===

impl Fold {
    /// Returns whether it only binds the accumulator, and never runs.
    pub(super) fn is_binding(&self) -> bool {
        self.variable == UNUSED
    }
}
