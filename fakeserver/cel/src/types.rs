//! Types of expressions: their names, and which value may stand for another.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// A type of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// The type of an expression whose error was reported already.
    Error,
    /// Known only when the expression is evaluated.
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Optional(Arc<Type>),
    Type(Arc<Type>),
    /// A type with declared fields.
    Object(Arc<str>),
    /// A type of a library, without fields.
    Opaque(Arc<str>),
    /// A type that is not known yet.
    Variable(usize),
}

/// The types that stand for variables.
#[derive(Clone, Debug, Default)]
pub(super) struct Bindings {
    bound: BTreeMap<usize, Type>,
    next: usize,
}

/// A type as errors of the checker print it.
pub(super) struct CheckerType<'a>(pub(super) &'a Type);

// === impl Type ===

impl Type {
    /// Makes the type of lists of `element`.
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// Makes the type of maps.
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    /// Makes the type of values that may be absent.
    pub fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    /// Makes the type of types.
    pub(super) fn of_type(of: Self) -> Self {
        Self::Type(Arc::new(of))
    }

    /// Makes the type of objects with the declared fields of `name`.
    pub fn object(name: &str) -> Self {
        Self::Object(name.into())
    }

    /// Makes the type of a library that declarations call `name`.
    pub fn library(name: &str) -> Self {
        Self::Opaque(super::functions::full_name(name).into())
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// Returns the type of the value of an optional value, and whether this is one.
    pub(super) fn unwrapped(&self) -> (Self, bool) {
        match self {
            Self::Optional(value) => ((**value).clone(), true),
            other => (other.clone(), false),
        }
    }

    fn takes_null(&self) -> bool {
        matches!(
            self,
            Self::Null
                | Self::Object(_)
                | Self::Opaque(_)
                | Self::Optional(_)
                | Self::Duration
                | Self::Timestamp
        )
    }

    fn parameters(&self) -> Vec<&Self> {
        match self {
            Self::List(a) | Self::Optional(a) | Self::Type(a) => vec![a],
            Self::Map(a, b) => vec![a, b],
            _ => Vec::new(),
        }
    }

    /// Returns the type with other parameters.
    pub(super) fn with_parameters(&self, mut replace: impl FnMut(&Self) -> Self) -> Self {
        let mut inner = |of: &Arc<Self>| Arc::new(replace(of));
        match self {
            Self::List(a) => Self::List(inner(a)),
            Self::Optional(a) => Self::Optional(inner(a)),
            Self::Type(a) => Self::Type(inner(a)),
            Self::Map(a, b) => Self::Map(inner(a), inner(b)),
            other => other.clone(),
        }
    }

    /// Returns the name without parameters, as a value of the type has it.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Error => "!error!",
            Self::Dyn | Self::Variable(_) => "dyn",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "google.protobuf.Duration",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(..) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Object(name) | Self::Opaque(name) => name,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, is_checked: bool) -> fmt::Result {
        let name = match self {
            Self::Variable(number) if is_checked => return write!(f, "_var{number}"),
            Self::Null if is_checked => "null",
            Self::Duration if is_checked => "duration",
            Self::Timestamp if is_checked => "timestamp",
            other => other.name(),
        };
        f.write_str(name)?;
        let parameters = self.parameters();
        if parameters.is_empty() {
            return Ok(());
        }
        f.write_str("(")?;
        for (index, parameter) in parameters.into_iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            parameter.write(f, is_checked)?;
        }
        f.write_str(")")
    }

    /// Returns whether it is as general as `other`, of which one may stand for the other.
    fn is_as_general_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dyn | Self::Error | Self::Variable(_), _) | (Self::Type(_), Self::Type(_)) => {
                true
            }
            (_, Self::Dyn | Self::Error | Self::Variable(_)) => false,
            (Self::List(_), Self::List(_))
            | (Self::Map(..), Self::Map(..))
            | (Self::Optional(_), Self::Optional(_)) => {
                let mut pairs = self.parameters().into_iter().zip(other.parameters());
                pairs.all(|(own, other)| own.is_as_general_as(other))
            }
            (own, other) => own == other,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

// === impl CheckerType ===

impl fmt::Display for CheckerType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, true)
    }
}

// === impl Bindings ===

impl Bindings {
    /// Makes a type that is not known yet.
    pub(super) fn variable(&mut self) -> Type {
        self.next += 1;
        Type::Variable(self.next - 1)
    }

    /// Returns the type with all bound variables replaced, and the others by `dyn` if wanted.
    pub(super) fn resolve(&self, of: &Type, is_final: bool) -> Type {
        match of {
            Type::Variable(number) => match self.bound.get(number) {
                Some(bound) => self.resolve(bound, is_final),
                None if is_final => Type::Dyn,
                None => of.clone(),
            },
            other => other.with_parameters(|inner| self.resolve(inner, is_final)),
        }
    }

    /// Returns whether values of the type `from` may stand where those of `to` are; binds variables only then.
    pub(super) fn assign(&mut self, to: &Type, from: &Type) -> bool {
        self.assign_all(std::slice::from_ref(to), std::slice::from_ref(from))
    }

    /// Does the same as [`assign`](Self::assign) for several types, all or none.
    pub(super) fn assign_all(&mut self, to: &[Type], from: &[Type]) -> bool {
        let before = self.bound.clone();
        let is_assignable =
            to.len() == from.len() && to.iter().zip(from).all(|(to, from)| self.unify(to, from));
        if !is_assignable {
            self.bound = before;
        }
        is_assignable
    }

    fn unify(&mut self, one: &Type, other: &Type) -> bool {
        if let Type::Variable(number) = other {
            let (is_valid, was_bound) = self.bind(one, *number);
            if is_valid || was_bound {
                return is_valid;
            }
        }
        if let Type::Variable(number) = one {
            return self.bind(other, *number).0;
        }
        match (one, other) {
            _ if one.is_dyn_or_error() || other.is_dyn_or_error() => true,
            (Type::Null, other) | (other, Type::Null) => other.takes_null(),
            (Type::Type(_), Type::Type(_)) => true,
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
                self.unify(a, b)
            }
            (Type::Map(a, b), Type::Map(c, d)) => self.unify(a, c) && self.unify(b, d),
            (one, other) => one == other,
        }
    }

    /// Returns whether a type may stand for a variable, and whether that was bound.
    fn bind(&mut self, to: &Type, number: usize) -> (bool, bool) {
        if *to == Type::Variable(number) {
            return (true, true);
        }
        if let Some(bound) = self.bound.get(&number).cloned() {
            if bound == *to {
                return (true, true);
            }
            if !self.unify(to, &bound) {
                return (false, true);
            }
            let general = most_general(to, &bound);
            if !self.contains(&general, number) {
                self.bound.insert(number, general);
            }
            return (true, true);
        }
        if self.contains(to, number) {
            return (false, false);
        }
        self.bound.insert(number, to.clone());
        (true, false)
    }

    fn contains(&self, of: &Type, number: usize) -> bool {
        match of {
            Type::Variable(other) => {
                let bound = self.bound.get(other);
                *other == number || bound.is_some_and(|bound| self.contains(bound, number))
            }
            other => other
                .parameters()
                .into_iter()
                .any(|part| self.contains(part, number)),
        }
    }
}

/// Returns the more general of two types of which one may stand for the other.
pub(super) fn most_general(a: &Type, b: &Type) -> Type {
    if a.is_as_general_as(b) {
        a.clone()
    } else {
        b.clone()
    }
}
