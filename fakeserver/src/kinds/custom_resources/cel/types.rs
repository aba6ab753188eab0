//! The types of expressions, and their unification.

use std::{collections::BTreeMap, fmt, sync::Arc};

use super::schema_type::SchemaType;

/// The type of an expression.
#[derive(Clone, Debug)]
pub(super) enum Type {
    /// That of an expression with an error, which fits everywhere.
    Error,
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Duration,
    Timestamp,
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Optional(Arc<Type>),
    /// The type of a type.
    Kind(Arc<Type>),
    /// An object of a schema.
    Object(Arc<SchemaType>),
    /// A type of a library.
    Opaque(&'static str),
    /// A type that is not known yet.
    Variable(usize),
}

/// The types that were inferred.
#[derive(Clone, Debug, Default)]
pub(super) struct Substitutions {
    known: BTreeMap<usize, Type>,
    next: usize,
}

// === impl Type ===

impl Type {
    pub(super) fn list(of: Self) -> Self {
        Self::List(Arc::new(of))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    pub(super) fn optional(of: Self) -> Self {
        Self::Optional(Arc::new(of))
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// Returns the type of the value of an optional one, and whether it is optional.
    pub(super) fn without_option(&self) -> (Self, bool) {
        match self {
            Self::Optional(inner) => (Self::clone(inner), true),
            other => (other.clone(), false),
        }
    }

    /// Returns the types of which it is made.
    pub(super) fn parameters(&self) -> Vec<&Self> {
        match self {
            Self::List(of) | Self::Optional(of) | Self::Kind(of) => vec![&**of],
            Self::Map(key, value) => vec![&**key, &**value],
            _ => Vec::new(),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Error => "!error!",
            Self::Dyn => "dyn",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Text => "string",
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::Timestamp => "timestamp",
            Self::List(_) => "list",
            Self::Map(..) => "map",
            Self::Optional(_) => "optional_type",
            Self::Kind(_) => "type",
            Self::Object(_) => "object",
            Self::Opaque(name) => name,
            Self::Variable(_) => "",
        }
    }

    /// Returns whether both are the same type, of the same parameters.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Variable(one), Self::Variable(other)) => one == other,
            (Self::Object(one), Self::Object(other)) => Arc::ptr_eq(one, other),
            (one, other) => {
                let (own, theirs) = (one.parameters(), other.parameters());
                std::mem::discriminant(one) == std::mem::discriminant(other)
                    && one.name() == other.name()
                    && own.len() == theirs.len()
                    && own
                        .iter()
                        .zip(theirs)
                        .all(|(own, their)| own.is_same(their))
            }
        }
    }

    /// Returns whether null may stand for it.
    fn takes_null(&self) -> bool {
        matches!(
            self,
            Self::Null
                | Self::Optional(_)
                | Self::Object(_)
                | Self::Opaque(_)
                | Self::Duration
                | Self::Timestamp
        )
    }

    /// Returns whether it says no more than `other`.
    fn is_less_specific(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dyn | Self::Variable(_), _) | (Self::Kind(_), Self::Kind(_)) => true,
            (_, Self::Dyn | Self::Variable(_)) => false,
            (Self::List(_), Self::List(_))
            | (Self::Map(..), Self::Map(..))
            | (Self::Optional(_), Self::Optional(_)) => {
                let pairs = self.parameters().into_iter().zip(other.parameters());
                pairs
                    .into_iter()
                    .all(|(own, their)| own.is_less_specific(their))
            }
            (own, other) => own.is_same(other),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Variable(number) = self {
            return write!(f, "_var{number}");
        }
        f.write_str(self.name())?;
        let parameters: Vec<String> = self.parameters().iter().map(ToString::to_string).collect();
        if parameters.is_empty() {
            return Ok(());
        }
        write!(f, "({})", parameters.join(", "))
    }
}

// === impl Substitutions ===

impl Substitutions {
    /// Creates a type that is not known yet.
    pub(super) fn variable(&mut self) -> Type {
        self.next += 1;
        Type::Variable(self.next - 1)
    }

    /// Returns whether a value of the type `from` may stand where `to` is wanted, and notes what follows from it.
    pub(super) fn assign(&mut self, to: &Type, from: &Type) -> bool {
        self.assign_all(std::slice::from_ref(to), std::slice::from_ref(from))
    }

    /// Does that for several types, all or none.
    pub(super) fn assign_all(&mut self, to: &[Type], from: &[Type]) -> bool {
        let mut tried = self.clone();
        let fits =
            to.len() == from.len() && to.iter().zip(from).all(|(to, from)| tried.unify(to, from));
        if fits {
            *self = tried;
        }
        fits
    }

    /// Returns a type with what is known put in; what is still unknown becomes dynamic if `is_final`.
    pub(super) fn apply(&self, ty: &Type, is_final: bool) -> Type {
        match ty {
            Type::Variable(number) => match self.known.get(number) {
                Some(known) => self.apply(known, is_final),
                None if is_final => Type::Dyn,
                None => ty.clone(),
            },
            Type::List(of) => Type::list(self.apply(of, is_final)),
            Type::Optional(of) => Type::optional(self.apply(of, is_final)),
            Type::Kind(of) => Type::Kind(Arc::new(self.apply(of, is_final))),
            Type::Map(key, value) => {
                Type::map(self.apply(key, is_final), self.apply(value, is_final))
            }
            other => other.clone(),
        }
    }

    fn unify(&mut self, one: &Type, other: &Type) -> bool {
        if let Type::Variable(number) = other {
            let (is_valid, was_known) = self.substitute(one, *number);
            if is_valid || was_known {
                return is_valid;
            }
        }
        if let Type::Variable(number) = one {
            return self.substitute(other, *number).0;
        }
        match (one, other) {
            _ if one.is_dyn_or_error() || other.is_dyn_or_error() => true,
            (Type::Null, other) | (other, Type::Null) => other.takes_null(),
            (Type::Kind(_), Type::Kind(_)) => true,
            (Type::List(_), Type::List(_))
            | (Type::Map(..), Type::Map(..))
            | (Type::Optional(_), Type::Optional(_)) => {
                let pairs = one.parameters().into_iter().zip(other.parameters());
                let pairs: Vec<_> = pairs.collect();
                pairs.into_iter().all(|(one, other)| self.unify(one, other))
            }
            (one, other) => one.is_same(other),
        }
    }

    /// Returns whether a type may stand for an unknown one, and whether something was known of that.
    fn substitute(&mut self, ty: &Type, number: usize) -> (bool, bool) {
        if matches!(ty, Type::Variable(own) if *own == number) {
            return (true, true);
        }
        if let Some(known) = self.known.get(&number).cloned() {
            if ty.is_same(&known) {
                return (true, true);
            }
            if !self.unify(ty, &known) {
                return (false, true);
            }
            let general = if ty.is_less_specific(&known) {
                ty.clone()
            } else {
                known
            };
            if !self.mentions(&general, number) {
                self.known.insert(number, general);
            }
            return (true, true);
        }
        if self.mentions(ty, number) {
            return (false, false);
        }
        self.known.insert(number, ty.clone());
        (true, false)
    }

    fn mentions(&self, ty: &Type, number: usize) -> bool {
        match ty {
            Type::Variable(own) if *own == number => true,
            Type::Variable(own) => {
                let known = self.known.get(own);
                known.is_some_and(|known| self.mentions(known, number))
            }
            other => {
                let parameters = other.parameters();
                parameters.into_iter().any(|one| self.mentions(one, number))
            }
        }
    }
}
