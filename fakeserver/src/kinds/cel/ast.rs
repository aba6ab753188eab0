//! Syntax trees of CEL expressions.

/// An expression with its position.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    /// The position in the source that errors name, in characters.
    pub(super) at: usize,
    pub(super) node: Node,
}

/// An expression without its position.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Literal(Literal),
    Ident(String),
    /// `operand.field`, or `operand.?field`.
    Select {
        operand: Box<Expr>,
        field: String,
        is_optional: bool,
    },
    /// `has(operand.field)`.
    Has {
        operand: Box<Expr>,
        field: String,
    },
    Call(Call),
    List(Vec<Element>),
    Map(Vec<Entry>),
    Struct {
        name: String,
        fields: Vec<StructField>,
    },
    Loop(Box<Loop>),
    Bind(Box<Bind>),
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

/// A call of a function or an operator.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) target: Option<Box<Expr>>,
    /// The name; that of an operator is as in [`operators`].
    pub(super) function: String,
    pub(super) args: Vec<Expr>,
}

/// An element of a list.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) value: Expr,
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

/// A macro that evaluates an expression for each element of a range.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    pub(super) range: Expr,
    /// One variable, or two: the index or key, and the value.
    pub(super) variables: Vec<String>,
    pub(super) filter: Option<Expr>,
    pub(super) body: Expr,
}

/// The result of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopKind {
    All,
    Exists,
    ExistsOne,
    Filter,
    List,
    Map,
    MapEntry,
    SortBy,
}

/// A macro that evaluates an expression with a variable.
#[derive(Clone, Debug)]
pub(super) struct Bind {
    pub(super) kind: BindKind,
    pub(super) variable: String,
    pub(super) value: Expr,
    pub(super) body: Expr,
}

/// The way in which a variable gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BindKind {
    /// `value.optMap(variable, body)`: the body becomes optional.
    OptMap,
    /// `value.optFlatMap(variable, body)`: the body is optional.
    OptFlatMap,
}

/// The names of operators, as errors show them.
pub(super) mod operators {
    pub(in super::super) const CONDITIONAL: &str = "_?_:_";
    pub(in super::super) const AND: &str = "_&&_";
    pub(in super::super) const OR: &str = "_||_";
    pub(in super::super) const NOT: &str = "!_";
    pub(in super::super) const NEGATE: &str = "-_";
    pub(in super::super) const INDEX: &str = "_[_]";
    pub(in super::super) const OPTIONAL_INDEX: &str = "_[?_]";
    pub(in super::super) const IN: &str = "@in";
    pub(in super::super) const EQUALS: &str = "_==_";
    pub(in super::super) const NOT_EQUALS: &str = "_!=_";
}

// === impl Expr ===

impl Expr {
    /// Returns the dotted name that the expression is, if it is one.
    pub(super) fn qualified_name(&self) -> Option<String> {
        match &self.node {
            Node::Ident(name) => Some(name.clone()),
            Node::Select {
                operand,
                field,
                is_optional: false,
            } => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }
}
