//! Label selectors: what `kubectl -l` takes.

use std::{collections::BTreeSet, fmt, str::FromStr};

use kube::core::{Expression, Selector};

use super::parse::{ParseSelectorError, parse};
use crate::object::Labels;

/// Selects objects by their labels; all of its requirements must hold.
///
/// Requirements are kept in order of their keys, each once, so that selectors that say the same in another order are equal
/// and print the same.
///
/// # Examples
///
/// ```
/// use informer::LabelSelector;
///
/// let selector: LabelSelector = "app=web,tier in (front, back),!canary".parse()?;
/// assert_eq!(selector.to_string(), "app=web,!canary,tier in (back,front)");
///
/// let error = "app=web tier=front".parse::<LabelSelector>().unwrap_err();
/// assert_eq!(error.position(), 8);
/// # Ok::<(), informer::ParseSelectorError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Requirement {
    pub(super) key: String,
    pub(super) test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Test {
    Exists,
    Absent,
    Equal(String),
    NotEqual(String),
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    GreaterThan(i64),
    LessThan(i64),
}

// === impl LabelSelector ===

impl LabelSelector {
    /// Selects every object.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Returns whether it selects every object.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether an object with these labels is selected.
    pub fn matches(&self, labels: &Labels) -> bool {
        let holds = |own: &Requirement| own.test.matches(labels.get(&own.key));
        self.0.iter().all(holds)
    }
}

impl FromStr for LabelSelector {
    type Err = ParseSelectorError;

    fn from_str(text: &str) -> Result<Self, ParseSelectorError> {
        Ok(parse(text)?.into_iter().collect())
    }
}

impl From<Expression> for LabelSelector {
    fn from(expression: Expression) -> Self {
        std::iter::once(Requirement::from(expression)).collect()
    }
}

impl From<Selector> for LabelSelector {
    fn from(selector: Selector) -> Self {
        selector.into_iter().map(Requirement::from).collect()
    }
}

impl FromIterator<Requirement> for LabelSelector {
    fn from_iter<I: IntoIterator<Item = Requirement>>(requirements: I) -> Self {
        let requirements: BTreeSet<_> = requirements.into_iter().collect();
        Self(requirements.into_iter().collect())
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
            match &values[..] {
                // Nothing between the brackets would be no value at all.
                [""] => ",".to_owned(),
                values => values.join(","),
            }
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
    /// Returns whether it holds for the value of a label, which an object may not have.
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
