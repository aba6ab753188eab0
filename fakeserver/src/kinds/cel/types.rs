//! Types of CEL expressions: their names, and which value may stand for another.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// A type of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// That of an expression with an error, which was reported.
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
    #[expect(clippy::enum_variant_names, reason = "CEL calls it so")]
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
    made: usize,
}

/// A type as errors of the checker print it.
pub(super) struct Checked<'a>(pub(super) &'a Type);

// === impl Type ===

impl Type {
    /// Makes the type of lists of `element`.
    pub(crate) fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// Makes the type of maps.
    pub(crate) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    pub(super) fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    /// Makes the type of objects with the declared fields of `name`.
    pub(crate) fn object(name: &str) -> Self {
        Self::Object(name.into())
    }

    /// Makes the type of a library that declarations call `name`.
    pub(crate) fn library(name: &str) -> Self {
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

    fn write(&self, f: &mut fmt::Formatter<'_>, is_checked: bool) -> fmt::Result {
        let name = match self {
            Self::Error => "!error!",
            Self::Dyn | Self::Variable(_) => "dyn",
            Self::Null if is_checked => "null",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration if is_checked => "duration",
            Self::Duration => "google.protobuf.Duration",
            Self::Timestamp if is_checked => "timestamp",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(..) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
            Self::Object(name) | Self::Opaque(name) => name,
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
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, false)
    }
}

// === impl Checked ===

impl fmt::Display for Checked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, true)
    }
}

// === impl Bindings ===

impl Bindings {
    /// Makes a type that is not known yet.
    pub(super) fn variable(&mut self) -> Type {
        self.made += 1;
        Type::Variable(self.made)
    }

    /// Returns `count` variables, the first of which has this number.
    pub(super) fn variables(&mut self, count: usize) -> usize {
        let first = self.made + 1;
        self.made += count;
        first
    }

    /// Returns the type with all bound variables replaced, and the others by `dyn` if wanted.
    pub(super) fn resolve(&self, of: &Type, is_final: bool) -> Type {
        let inner = |of: &Arc<Type>| Arc::new(self.resolve(of, is_final));
        match of {
            Type::Variable(number) => match self.bound.get(number) {
                Some(bound) => self.resolve(bound, is_final),
                None if is_final => Type::Dyn,
                None => of.clone(),
            },
            Type::List(a) => Type::List(inner(a)),
            Type::Optional(a) => Type::Optional(inner(a)),
            Type::Type(a) => Type::Type(inner(a)),
            Type::Map(a, b) => Type::Map(inner(a), inner(b)),
            other => other.clone(),
        }
    }

    /// Returns whether values of the types `given` may stand where those of `wanted` are; binds variables only then.
    pub(super) fn assign_all(&mut self, given: &[Type], wanted: &[Type]) -> bool {
        let before = self.bound.clone();
        let is_assignable = given.len() == wanted.len()
            && given
                .iter()
                .zip(wanted)
                .all(|(given, wanted)| self.unify(given, wanted));
        if !is_assignable {
            self.bound = before;
        }
        is_assignable
    }

    /// Does the same as [`assign_all`](Self::assign_all) for one type.
    pub(super) fn assign(&mut self, given: &Type, wanted: &Type) -> bool {
        self.assign_all(std::slice::from_ref(given), std::slice::from_ref(wanted))
    }

    fn unify(&mut self, given: &Type, wanted: &Type) -> bool {
        if let Type::Variable(number) = wanted {
            return self.bind(*number, given);
        }
        if let Type::Variable(number) = given {
            return self.bind(*number, wanted);
        }
        match (given, wanted) {
            (Type::Dyn | Type::Error, _)
            | (_, Type::Dyn | Type::Error)
            | (Type::Type(_), Type::Type(_)) => true,
            (Type::Null, other) | (other, Type::Null) => other.takes_null(),
            (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
                self.unify(a, b)
            }
            (Type::Map(a, b), Type::Map(c, d)) => self.unify(a, c) && self.unify(b, d),
            (given, wanted) => given == wanted,
        }
    }

    fn bind(&mut self, number: usize, to: &Type) -> bool {
        if *to == Type::Variable(number) {
            return true;
        }
        match self.bound.get(&number).cloned() {
            Some(bound) if bound == *to => true,
            Some(bound) => {
                if !self.unify(to, &bound) {
                    return false;
                }
                let general = most_general(to, &bound);
                if !self.contains(&general, number) {
                    self.bound.insert(number, general);
                }
                true
            }
            None if self.contains(to, number) => false,
            None => {
                self.bound.insert(number, to.clone());
                true
            }
        }
    }

    fn contains(&self, of: &Type, number: usize) -> bool {
        match of {
            Type::Variable(other) => {
                *other == number
                    || self
                        .bound
                        .get(other)
                        .is_some_and(|bound| self.contains(bound, number))
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
    if is_as_general(a, b) {
        a.clone()
    } else {
        b.clone()
    }
}

fn is_as_general(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dyn | Type::Error | Type::Variable(_), _) | (Type::Type(_), Type::Type(_)) => true,
        (_, Type::Dyn | Type::Error | Type::Variable(_)) => false,
        (Type::List(a), Type::List(b)) | (Type::Optional(a), Type::Optional(b)) => {
            is_as_general(a, b)
        }
        (Type::Map(a, b), Type::Map(c, d)) => is_as_general(a, c) && is_as_general(b, d),
        (a, b) => a == b,
    }
}
