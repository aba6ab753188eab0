//! Label selectors: what `kubectl -l` takes.

use std::{collections::BTreeSet, fmt, str::FromStr};

use kube::core::{Expression, Selector};

use crate::object::Labels;

/// The longest name and value of a label.
const NAME_LEN_MAX: usize = 63;
/// The longest prefix of a label's key.
const PREFIX_LEN_MAX: usize = 253;

/// Selects objects by their labels; all of its requirements must hold.
///
/// # Examples
///
/// ```
/// use informer::lister::LabelSelector;
///
/// let selector: LabelSelector = "app=web,tier in (front, back),!canary".parse()?;
/// assert_eq!(selector.to_string(), "app=web,tier in (back,front),!canary");
/// # Ok::<(), informer::lister::ParseSelectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Exists,
    Absent,
    Equal(String),
    NotEqual(String),
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    GreaterThan(i64),
    LessThan(i64),
}

/// A text is not a label selector. Trying again is useless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse label selector {text:?}: {reason}")]
pub struct ParseSelectorError {
    text: String,
    reason: String,
}

// === impl LabelSelector ===

impl LabelSelector {
    /// Selects every object.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Whether it selects every object.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &Labels) -> bool {
        let holds = |own: &Requirement| own.test.matches(labels.get(&own.key));
        self.0.iter().all(holds)
    }
}

impl FromStr for LabelSelector {
    type Err = ParseSelectorError;

    fn from_str(text: &str) -> Result<Self, ParseSelectorError> {
        let parsed = Parser {
            tokens: tokens(text),
            at: 0,
        }
        .selector();
        parsed.map(Self).map_err(|reason| ParseSelectorError {
            text: text.to_owned(),
            reason,
        })
    }
}

impl From<Expression> for LabelSelector {
    fn from(expression: Expression) -> Self {
        Self(vec![expression.into()])
    }
}

impl From<Selector> for LabelSelector {
    fn from(selector: Selector) -> Self {
        Self(selector.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{requirement}")?;
        }
        Ok(())
    }
}

// === impl Requirement ===

impl From<Expression> for Requirement {
    fn from(expression: Expression) -> Self {
        let (key, test) = match expression {
            Expression::In(key, values) => (key, Test::In(values)),
            Expression::NotIn(key, values) => (key, Test::NotIn(values)),
            Expression::Equal(key, value) => (key, Test::Equal(value)),
            Expression::NotEqual(key, value) => (key, Test::NotEqual(value)),
            Expression::Exists(key) => (key, Test::Exists),
            Expression::DoesNotExist(key) => (key, Test::Absent),
        };
        Self { key, test }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, test } = self;
        let joined = |values: &BTreeSet<String>| {
            let values: Vec<_> = values.iter().map(String::as_str).collect();
            values.join(",")
        };
        match test {
            Test::Exists => write!(f, "{key}"),
            Test::Absent => write!(f, "!{key}"),
            Test::Equal(value) => write!(f, "{key}={value}"),
            Test::NotEqual(value) => write!(f, "{key}!={value}"),
            Test::In(values) => write!(f, "{key} in ({})", joined(values)),
            Test::NotIn(values) => write!(f, "{key} notin ({})", joined(values)),
            Test::GreaterThan(bound) => write!(f, "{key}>{bound}"),
            Test::LessThan(bound) => write!(f, "{key}<{bound}"),
        }
    }
}

// === impl Test ===

impl Test {
    /// Whether it holds for the value of a label, which an object may not have.
    fn matches(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::Equal(wanted) => value == Some(wanted),
            Self::NotEqual(refused) => value != Some(refused),
            Self::In(wanted) => value.is_some_and(|value| wanted.contains(value)),
            Self::NotIn(refused) => !value.is_some_and(|value| refused.contains(value)),
            Self::GreaterThan(bound) => number().is_some_and(|number| number > *bound),
            Self::LessThan(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

// === Parsing ===

struct Parser<'a> {
    tokens: Vec<&'a str>,
    at: usize,
}

/// Words, and the operators between them.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_operator = |c: char| matches!(c, '(' | ')' | ',' | '!' | '=' | '<' | '>');
        let len = if rest.starts_with("==") || rest.starts_with("!=") {
            2
        } else if is_operator(first) {
            1
        } else {
            let end = rest.find(|c: char| is_operator(c) || c.is_whitespace());
            end.unwrap_or(rest.len())
        };
        let (token, after) = rest.split_at(len);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

// === impl Parser ===

impl<'a> Parser<'a> {
    fn selector(mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        if self.peek().is_none() {
            return Ok(requirements);
        }
        loop {
            requirements.push(self.requirement()?);
            match self.next() {
                None => return Ok(requirements),
                Some(",") => {}
                Some(token) => return Err(format!("found {token:?}, expected ','")),
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        if self.take("!") {
            let key = self.key()?;
            return Ok(Requirement {
                key,
                test: Test::Absent,
            });
        }
        let key = self.key()?;
        let test = match self.peek() {
            None | Some(",") => Test::Exists,
            Some(operator) => {
                self.at += 1;
                self.test(operator)?
            }
        };
        Ok(Requirement { key, test })
    }

    fn test(&mut self, operator: &str) -> Result<Test, String> {
        Ok(match operator {
            "=" | "==" => Test::Equal(self.value()?),
            "!=" => Test::NotEqual(self.value()?),
            "in" => Test::In(self.values()?),
            "notin" => Test::NotIn(self.values()?),
            ">" => Test::GreaterThan(self.number()?),
            "<" => Test::LessThan(self.number()?),
            other => {
                return Err(format!(
                    "found {other:?}, expected one of '=', '==', '!=', 'in', 'notin', '<', '>', ','"
                ));
            }
        })
    }

    fn key(&mut self) -> Result<String, String> {
        let token = self.next().ok_or("found the end, expected a key")?;
        let (prefix, name) = token
            .split_once('/')
            .map_or((None, token), |(prefix, name)| (Some(prefix), name));
        if prefix.is_some_and(|prefix| !is_subdomain(prefix))
            || name.is_empty()
            || !is_label_text(name)
        {
            return Err(format!("{token:?} is not the key of a label"));
        }
        Ok(token.to_owned())
    }

    /// A value, which may be empty: then there is no token for it.
    fn value(&mut self) -> Result<String, String> {
        let value = match self.peek() {
            None | Some("," | ")") => "",
            Some(token) => {
                self.at += 1;
                token
            }
        };
        if !is_label_text(value) {
            return Err(format!("{value:?} is not the value of a label"));
        }
        Ok(value.to_owned())
    }

    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        if !self.take("(") {
            return Err("expected '(' after 'in' or 'notin'".to_owned());
        }
        let mut values = BTreeSet::new();
        if self.peek() == Some(")") {
            return Err("expected values between '(' and ')'".to_owned());
        }
        loop {
            values.insert(self.value()?);
            match self.next() {
                Some(")") => return Ok(values),
                Some(",") => {}
                other => {
                    return Err(format!(
                        "found {:?}, expected ',' or ')'",
                        other.unwrap_or("the end")
                    ));
                }
            }
        }
    }

    fn number(&mut self) -> Result<i64, String> {
        let token = self.next().ok_or("found the end, expected a number")?;
        token
            .parse()
            .map_err(|_| format!("{token:?} is not a number"))
    }

    fn take(&mut self, token: &str) -> bool {
        let is_next = self.peek() == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    fn next(&mut self) -> Option<&'a str> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).copied()
    }
}

/// Letters and digits at both ends, `-`, `_` and `.` between; or nothing.
fn is_label_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_end = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    bytes.len() <= NAME_LEN_MAX
        && bytes.iter().all(is_inner)
        && is_end(bytes.first())
        && is_end(bytes.last())
}

fn is_subdomain(text: &str) -> bool {
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        let is_plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        bytes.first().is_some_and(is_plain)
            && bytes.last().is_some_and(is_plain)
            && bytes.iter().all(|byte| is_plain(byte) || *byte == b'-')
    };
    text.len() <= PREFIX_LEN_MAX && text.split('.').all(is_part)
}
