//! The functions that expressions may call, with the types of their overloads.
//!
//! A line is a function, its overloads behind it: name of the overload, types of the arguments, type of the result. A
//! dot behind the first type means that it is the target of the call.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use super::{
    signatures::{LIBRARIES, STANDARD},
    types::{Substitutions, Type},
};

/// One of the forms in which a function can be called.
#[derive(Debug)]
pub(super) struct Overload {
    pub(super) name: &'static str,
    pub(super) is_member: bool,
    arguments: Vec<Pattern>,
    result: Pattern,
}

/// The type of an argument or a result.
#[derive(Debug)]
enum Pattern {
    Plain(&'static str),
    /// A type that the call decides.
    Variable(u8),
    List(Box<Pattern>),
    Map(Box<Pattern>, Box<Pattern>),
    Optional(Box<Pattern>),
    Type(Box<Pattern>),
}

static FUNCTIONS: LazyLock<BTreeMap<&'static str, Vec<Overload>>> = LazyLock::new(|| {
    let lines = STANDARD.iter().chain(LIBRARIES);
    let mut functions: BTreeMap<&str, Vec<Overload>> = BTreeMap::new();
    for (name, overloads) in lines {
        let overloads = overloads.split(';').filter_map(Overload::parse);
        functions.entry(name).or_default().extend(overloads);
    }
    for name in ["<", "<=", ">", ">="] {
        functions.insert(comparison(name), comparisons(name));
    }
    functions
});

/// Returns the overloads of a function.
pub(super) fn overloads(function: &str) -> Option<&'static [Overload]> {
    FUNCTIONS.get(function).map(Vec::as_slice)
}

fn comparison(symbol: &str) -> &'static str {
    match symbol {
        "<" => "_<_",
        "<=" => "_<=_",
        ">" => "_>_",
        _ => "_>=_",
    }
}

/// Returns the overloads of a comparison. Those of texts and bytes have names, since their costs depend on sizes.
fn comparisons(symbol: &str) -> Vec<Overload> {
    let numbers = ["int", "uint", "double"];
    let mixed = numbers
        .iter()
        .flat_map(|one| numbers.iter().map(move |other| (*one, *other)));
    let same = ["bool", "timestamp", "duration"].map(|ty| (ty, ty));
    let plain = mixed.chain(same).map(|pair| (pair, "compare"));
    let texts = ["string", "bytes"].map(|ty| ((ty, ty), "compare_text"));
    let _ = symbol;
    plain
        .chain(texts)
        .map(|((one, other), name)| Overload {
            name,
            is_member: false,
            arguments: vec![Pattern::Plain(one), Pattern::Plain(other)],
            result: Pattern::Plain("bool"),
        })
        .collect()
}

// === impl Overload ===

impl Overload {
    /// Reads an overload: `contains_string string. string = bool`.
    fn parse(text: &'static str) -> Option<Self> {
        let (left, result) = text.trim().split_once('=')?;
        let mut words = left.split_whitespace();
        let name = words.next()?;
        let words: Vec<&str> = words.collect();
        let is_member = words.first().is_some_and(|first| first.ends_with('.'));
        let arguments = words
            .iter()
            .map(|word| Pattern::parse(word.trim_end_matches('.')));
        Some(Self {
            name,
            is_member,
            arguments: arguments.collect(),
            result: Pattern::parse(result.trim()),
        })
    }

    /// Returns the types of the arguments and of the result for one call.
    pub(super) fn instantiate(&self, types: &mut Substitutions) -> (Vec<Type>, Type) {
        let mut variables = BTreeMap::new();
        let arguments = self.arguments.iter();
        let arguments = arguments
            .map(|pattern| pattern.instantiate(types, &mut variables))
            .collect();
        (arguments, self.result.instantiate(types, &mut variables))
    }
}

// === impl Pattern ===

impl Pattern {
    fn parse(text: &'static str) -> Self {
        let Some((outer, inner)) = text.split_once('(') else {
            return match text {
                "A" | "B" => Self::Variable(text.as_bytes()[0]),
                plain => Self::Plain(plain),
            };
        };
        let inner = inner.strip_suffix(')').unwrap_or(inner);
        let of = |text| Box::new(Self::parse(text));
        match (outer, inner.split_once(',')) {
            ("map", Some((key, value))) => Self::Map(of(key), of(value)),
            ("optional", _) => Self::Optional(of(inner)),
            ("type", _) => Self::Type(of(inner)),
            _ => Self::List(of(inner)),
        }
    }

    fn instantiate(&self, types: &mut Substitutions, variables: &mut BTreeMap<u8, Type>) -> Type {
        match self {
            Self::Plain(name) => named_type(name),
            Self::Variable(name) => {
                let known = variables.entry(*name).or_insert_with(|| types.variable());
                known.clone()
            }
            Self::List(of) => Type::list(of.instantiate(types, variables)),
            Self::Optional(of) => Type::optional(of.instantiate(types, variables)),
            Self::Type(of) => Type::Kind(Arc::new(of.instantiate(types, variables))),
            Self::Map(key, value) => {
                let key = key.instantiate(types, variables);
                Type::map(key, value.instantiate(types, variables))
            }
        }
    }
}

/// Returns a type by its name.
pub(super) fn named_type(name: &'static str) -> Type {
    match name {
        "dyn" => Type::Dyn,
        "null_type" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::Text,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        library => Type::Opaque(library),
    }
}
