//! Shard selectors: ranges of hashes of an object's uid or namespace.

use std::fmt;

use super::shard_expression::{Expr, parse_expression};
use crate::value::{go_text, status::Status};

/// The number of hashes: the end of a range that reaches to the last one.
const HASH_COUNT: u128 = 1 << 64;

/// A union of ranges of hashes of one field. The one without ranges selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardSelector {
    field: ShardField,
    ranges: Vec<HashRange>,
}

/// The field whose hash decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ShardField {
    #[default]
    Uid,
    Namespace,
}

/// A range of hashes, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HashRange {
    start: u128,
    end: u128,
}

// === impl ShardSelector ===

impl ShardSelector {
    /// Parses the text of a `shardSelector` parameter: calls of `shardRange`, joined by `||`. An empty text selects everything.
    pub(crate) fn parse(text: &str) -> Result<Self, Status> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        // A real server does not classify the error.
        Self::of_expression(text)
            .map_err(|error| Status::unclassified(format!("invalid shard selector: {error}")))
    }

    fn of_expression(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err(
                "empty shard selector is not allowed; omit the parameter for unfiltered lists"
                    .to_owned(),
            );
        }
        let expression =
            parse_expression(text).map_err(|error| format!("CEL parse error: {error}"))?;
        let mut found = Vec::new();
        add_ranges(&expression, &mut found)?;
        let field = found.first().map_or_else(ShardField::default, |own| own.0);
        if let Some((other, _)) = found.iter().find(|(other, _)| *other != field) {
            return Err(format!(
                "all shard ranges must use the same field, got {} and {}",
                go_text::quote(other.path()),
                go_text::quote(field.path())
            ));
        }
        let ranges = found.into_iter().map(|(_, range)| range).collect();
        Ok(Self { field, ranges })
    }

    /// Returns whether every object is selected.
    pub(crate) fn is_everything(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns whether an object is selected.
    pub(crate) fn matches(&self, uid: &str, namespace: Option<&str>) -> bool {
        if self.ranges.is_empty() {
            return true;
        }
        let hash = hash(match self.field {
            ShardField::Uid => uid,
            ShardField::Namespace => namespace.unwrap_or_default(),
        });
        self.ranges.iter().any(|range| range.contains(hash))
    }
}

impl fmt::Display for ShardSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.ranges.iter().enumerate() {
            let separator = if index > 0 { " || " } else { "" };
            let (field, HashRange { start, end }) = (self.field.path(), range);
            write!(
                f,
                "{separator}shardRange({field}, '{start:#018x}', '{end:#018x}')"
            )?;
        }
        Ok(())
    }
}

/// Returns the 64-bit FNV-1a hash of a text.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Adds the ranges of an expression, from left to right.
fn add_ranges(expression: &Expr, ranges: &mut Vec<(ShardField, HashRange)>) -> Result<(), String> {
    let Expr::Call {
        function,
        arguments,
    } = expression
    else {
        return Err(format!(
            "unexpected expression kind {}; expected shardRange() call or || operator",
            expression.kind()
        ));
    };
    match function.as_str() {
        "_||_" => arguments.iter().try_for_each(|own| add_ranges(own, ranges)),
        "shardRange" => {
            ranges.push(range(arguments)?);
            Ok(())
        }
        other => Err(format!(
            "unsupported function {}; only shardRange() and || are allowed",
            go_text::quote(other)
        )),
    }
}

fn range(arguments: &[Expr]) -> Result<(ShardField, HashRange), String> {
    let [field, start, end] = arguments else {
        return Err(format!(
            "shardRange() requires exactly 3 arguments, got {}",
            arguments.len()
        ));
    };
    let path =
        field_path(field).map_err(|error| format!("shardRange() first argument: {error}"))?;
    let field = [ShardField::Uid, ShardField::Namespace]
        .into_iter()
        .find(|field| field.path() == path)
        .ok_or_else(|| {
            format!(
                "unsupported field path {}; supported: object.metadata.uid, object.metadata.namespace",
                go_text::quote(&path)
            )
        })?;
    let start = hash_bound(start, "hexStart")?;
    let end = hash_bound(end, "hexEnd")?;
    if start >= end {
        return Err(format!(
            "shard range start {start:#018x} must be less than end {end:#018x}"
        ));
    }
    Ok((field, HashRange { start, end }))
}

fn field_path(expression: &Expr) -> Result<String, String> {
    match expression {
        Expr::Ident(name) => Ok(name.clone()),
        Expr::Select { operand, field } => Ok(format!("{}.{field}", field_path(operand)?)),
        other => Err(format!(
            "expected field path (e.g. object.metadata.uid), got expression kind {}",
            other.kind()
        )),
    }
}

/// Reads a bound of a range: 16 hexadecimal digits, or the number of hashes.
fn hash_bound(expression: &Expr, name: &str) -> Result<u128, String> {
    let text = match expression {
        Expr::Text(text) => text,
        Expr::Literal(go_type) => {
            return Err(format!("{name} must be a string literal, got {go_type}"));
        }
        other => {
            return Err(format!(
                "{name} must be a string literal (e.g. '0xff'), got expression kind {}",
                other.kind()
            ));
        }
    };
    let quoted = go_text::quote(text);
    let digits = text
        .strip_prefix("0x")
        .ok_or_else(|| format!("{name} must have '0x' prefix, got {quoted}"))?;
    match digits.len() {
        0 => return Err(format!("{name}: hex value is required after '0x'")),
        length @ 18.. => {
            let digits = go_text::quote(digits);
            return Err(format!(
                "{name}: hex value too long ({length} chars, max 17): {digits}"
            ));
        }
        _ => {}
    }
    let is_hex = |c: &char| matches!(c, '0'..='9' | 'a'..='f');
    if let Some(other) = digits.chars().find(|c| !is_hex(c)) {
        let other = go_text::quote(&other.to_string());
        return Err(format!("{name}: invalid hex character {other} in {quoted}"));
    }
    let value = u128::from_str_radix(digits, 16).map_err(|error| error.to_string())?;
    match digits.len() {
        16 => Ok(value),
        17 if value == HASH_COUNT => Ok(value),
        17 => Err(format!(
            "{name}: 17-digit hex value must be '0x10000000000000000' (2^64), got {quoted}"
        )),
        _ => Err(format!(
            "{name} must be a 0x-prefixed 16-digit hex value, got {quoted} (did you mean \"{value:#018x}\"?)"
        )),
    }
}

// === impl ShardField ===

impl ShardField {
    /// Returns the path of the field, as selectors name it.
    fn path(self) -> &'static str {
        match self {
            Self::Uid => "object.metadata.uid",
            Self::Namespace => "object.metadata.namespace",
        }
    }
}

// === impl HashRange ===

impl HashRange {
    fn contains(self, hash: u64) -> bool {
        (self.start..self.end).contains(&u128::from(hash))
    }
}
