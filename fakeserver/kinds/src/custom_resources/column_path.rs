//! Paths of printer columns: the part of kubectl's `JSONPath` that can select one value.
//!
//! In addition to fields, paths may have keys in brackets, list indexes and slices, wildcards (`*`), recursive descent (`..`),
//! and conditions: `.status.conditions[?(@.type=="Ready")].status`.

use std::cmp::Ordering;

use serde_json::Value;

/// The maximum nesting of conditions.
const NESTED_MAX: usize = 8;

/// The way to the value of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// Everything in a list or an object.
    All,
    /// The value itself and everything below it.
    Descend,
    /// The place in a list; a negative one counts from its end.
    Index(i64),
    /// From a place on, up to a place.
    Slice(Option<i64>, Option<i64>),
    /// The items of a list that meet a condition.
    Where(Condition),
}

#[derive(Clone, Debug, PartialEq)]
struct Condition {
    left: Operand,
    /// Without it, the left side has to be there.
    right: Option<(Comparison, Operand)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    /// The values found in the item.
    Path(ColumnPath),
    Literal(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The longer ones first, since they begin with the others.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

// === impl ColumnPath ===

impl ColumnPath {
    /// Reads a path; `None` if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_nested(text, 0)
    }

    fn parse_nested(text: &str, depth: usize) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            rest = match rest.strip_prefix('[') {
                Some(inner) => {
                    let end = end_of_bracket(inner)?;
                    steps.push(Step::in_brackets(inner[..end].trim(), depth)?);
                    &inner[end + 1..]
                }
                None => after_field(rest.strip_prefix('.')?, &mut steps)?,
            };
        }
        Some(Self(steps))
    }

    /// The first value that it leads to.
    pub fn first<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        let found = self.0.iter().fold(vec![object], |found, step| {
            found
                .into_iter()
                .flat_map(|value| step.take(value))
                .collect()
        });
        found.into_iter().next()
    }
}

/// Reads the name behind a dot. A backslash makes the next character a part of the name.
fn after_field<'t>(text: &'t str, steps: &mut Vec<Step>) -> Option<&'t str> {
    if let Some(rest) = text.strip_prefix('.') {
        steps.push(Step::Descend);
        return after_field(rest, steps);
    }
    let mut name = String::new();
    let mut letters = text.char_indices();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '.' | '[' => {
                end = at;
                break;
            }
            '\\' => name.push(letters.next()?.1),
            letter => name.push(letter),
        }
    }
    match name.as_str() {
        // A dot before a bracket, or at the end, says nothing.
        "" => {}
        "*" => steps.push(Step::All),
        _ => steps.push(Step::Field(name)),
    }
    Some(&text[end..])
}

/// Returns the end of the bracket that was opened before `text`.
fn end_of_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) => quote = (open != letter).then_some(open),
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some(at),
            (None, ']') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

// === impl Step ===

impl Step {
    fn in_brackets(text: &str, depth: usize) -> Option<Self> {
        if let Some(condition) = text.strip_prefix("?(") {
            let condition = condition.strip_suffix(')')?;
            return Condition::parse(condition, depth + 1).map(Self::Where);
        }
        if let Some(key) = quoted(text) {
            return Some(Self::Field(key.to_owned()));
        }
        if text == "*" {
            return Some(Self::All);
        }
        let place = |text: &str| match text.trim() {
            "" => Some(None),
            text => text.parse().ok().map(Some),
        };
        match text.split_once(':') {
            Some((from, to)) => Some(Self::Slice(place(from)?, place(to)?)),
            None => text.parse().ok().map(Self::Index),
        }
    }

    /// Returns the values one step from `value`.
    fn take<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let items = || value.as_array().map_or(&[][..], Vec::as_slice);
        match self {
            Self::Field(name) => value.get(name).into_iter().collect(),
            Self::All => below(value).collect(),
            Self::Descend => {
                let mut all = vec![value];
                let mut next = 0;
                while let Some(value) = all.get(next).copied() {
                    all.extend(below(value));
                    next += 1;
                }
                all
            }
            Self::Index(place) => {
                let place = from_start(*place, items().len());
                place
                    .and_then(|place| items().get(place))
                    .into_iter()
                    .collect()
            }
            Self::Slice(from, to) => {
                let length = items().len();
                let bound = |place: i64| from_start(place, length).unwrap_or(0).min(length);
                let from = from.map_or(0, bound);
                let to = to.map_or(length, bound);
                items().get(from..to).unwrap_or_default().iter().collect()
            }
            Self::Where(condition) => items()
                .iter()
                .filter(|item| condition.is_met_by(item))
                .collect(),
        }
    }
}

fn below(value: &Value) -> impl Iterator<Item = &Value> {
    let items = value.as_array().into_iter().flatten();
    let members = value
        .as_object()
        .into_iter()
        .flat_map(|object| object.values());
    items.chain(members)
}

fn from_start(place: i64, length: usize) -> Option<usize> {
    if place < 0 {
        let back = usize::try_from(place.unsigned_abs()).ok()?;
        length.checked_sub(back)
    } else {
        usize::try_from(place).ok()
    }
}

fn quoted(text: &str) -> Option<&str> {
    ['"', '\''].into_iter().find_map(|quote| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    })
}

// === impl Condition ===

impl Condition {
    fn parse(text: &str, depth: usize) -> Option<Self> {
        if depth > NESTED_MAX {
            return None;
        }
        let Some((left, comparison, right)) = split(text) else {
            return Some(Self {
                left: Operand::parse(text, depth)?,
                right: None,
            });
        };
        Some(Self {
            left: Operand::parse(left, depth)?,
            right: Some((comparison, Operand::parse(right, depth)?)),
        })
    }

    fn is_met_by(&self, item: &Value) -> bool {
        let Some(left) = self.left.in_item(item) else {
            return false;
        };
        let Some((comparison, right)) = &self.right else {
            return true;
        };
        right
            .in_item(item)
            .is_some_and(|right| comparison.holds(left, right))
    }
}

/// The two sides of a comparison that stands outside of quotes and brackets.
fn split(text: &str) -> Option<(&str, Comparison, &str)> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) => quote = (open != letter).then_some(open),
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            (None, _) if depth == 0 => {
                let here = &text[at..];
                let found = COMPARISONS.iter().find(|(sign, _)| here.starts_with(sign));
                if let Some((sign, comparison)) = found {
                    return Some((&text[..at], *comparison, &here[sign.len()..]));
                }
            }
            (None, _) => {}
        }
    }
    None
}

// === impl Operand ===

impl Operand {
    fn parse(text: &str, depth: usize) -> Option<Self> {
        let text = text.trim();
        if let Some(path) = text.strip_prefix('@') {
            return ColumnPath::parse_nested(path, depth).map(Self::Path);
        }
        if let Some(text) = quoted(text) {
            return Some(Self::Literal(text.into()));
        }
        let literal: Value = serde_json::from_str(text).ok()?;
        (literal.is_number() || literal.is_boolean()).then_some(Self::Literal(literal))
    }

    fn in_item<'v>(&'v self, item: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Path(path) => path.first(item),
            Self::Literal(value) => Some(value),
        }
    }
}

// === impl Comparison ===

impl Comparison {
    /// Values of different types are not comparable, and nothing holds of them.
    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = match (left, right) {
            (Value::String(left), Value::String(right)) => left.cmp(right),
            (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
            (Value::Number(left), Value::Number(right)) => {
                match left.as_f64().partial_cmp(&right.as_f64()) {
                    Some(order) => order,
                    None => return false,
                }
            }
            _ => return false,
        };
        match self {
            Self::Equal => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::LessOrEqual => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::GreaterOrEqual => order != Ordering::Less,
        }
    }
}
