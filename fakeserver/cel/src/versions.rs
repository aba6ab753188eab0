//! Functions of semantic versions.

use std::{borrow::Cow, cmp::Ordering, sync::Arc};

use semver::Version;

use super::{
    interpreter::{EvaluationResult, Failure},
    quantities::sign_of,
    value::{Opaque, Value, downcast},
};

/// A version as a value. The metadata of builds do not tell versions apart.
#[derive(Clone, Debug)]
struct VersionValue(Version);

impl PartialEq for VersionValue {
    fn eq(&self, other: &Self) -> bool {
        self.0.cmp_precedence(&other.0) == Ordering::Equal
    }
}

impl Opaque for VersionValue {
    fn type_name(&self) -> &'static str {
        "kubernetes.Semver"
    }
}

/// Calls a function of versions, if `name` is one for such operands.
pub(super) fn call(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    match (name, operands) {
        ("semver" | "isSemver", [Value::String(text)]) => {
            return Some(read(name, parse(text)));
        }
        ("semver" | "isSemver", [Value::String(text), Value::Bool(is_normalized)]) => {
            let parsed = if *is_normalized {
                normalized(text).and_then(|text| parse(&text))
            } else {
                parse(text)
            };
            return Some(read(name, parsed));
        }
        _ => {}
    }
    let (first, rest) = operands.split_first()?;
    let own = &downcast::<VersionValue>(first)?.0;
    let number = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    Some(Ok(match (name, rest) {
        ("major", []) => number(own.major),
        ("minor", []) => number(own.minor),
        ("patch", []) => number(own.patch),
        (_, [other]) => {
            let order = own.cmp_precedence(&downcast::<VersionValue>(other)?.0);
            match name {
                "isGreaterThan" => Value::Bool(order == Ordering::Greater),
                "isLessThan" => Value::Bool(order == Ordering::Less),
                "compareTo" => Value::Int(sign_of(order)),
                _ => return None,
            }
        }
        _ => return None,
    }))
}

fn read(name: &str, parsed: Result<Version, String>) -> EvaluationResult {
    match name {
        "isSemver" => Ok(Value::Bool(parsed.is_ok())),
        _ => parsed
            .map(|version| Value::Opaque(Arc::new(VersionValue(version))))
            .map_err(Failure::Error),
    }
}

fn parse(text: &str) -> Result<Version, String> {
    Version::parse(text).map_err(|_| version_problem(text))
}

/// Returns a version without a `v` before it, without leading zeros, and with all three numbers.
#[doc(alias = "normalizeAndParse")]
fn normalized(text: &str) -> Result<String, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<Cow<'_, str>> = text.splitn(3, '.').map(Cow::Borrowed).collect();
    for part in parts.iter_mut().filter(|part| part.len() > 1) {
        let rest = part.trim_start_matches('0');
        let has_digit = rest.starts_with(|letter: char| letter.is_ascii_digit());
        *part = Cow::Owned(if has_digit {
            rest.to_owned()
        } else {
            format!("0{rest}")
        });
    }
    let is_short = parts.len() < 3;
    if is_short && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return Err("short version cannot contain PreRelease/Build meta data".to_owned());
    }
    parts.resize(3, Cow::Borrowed("0"));
    Ok(parts.join("."))
}

/// Returns the error of a text that is no version.
fn version_problem(text: &str) -> String {
    let mut numbers = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return match text {
            "" => "Version string empty".to_owned(),
            _ => "No Major.Minor.Patch elements found".to_owned(),
        };
    };
    let (rest, build) = rest
        .split_once('+')
        .map_or((rest, None), |(rest, build)| (rest, Some(build)));
    let (patch, release) = rest
        .split_once('-')
        .map_or((rest, None), |(patch, release)| (patch, Some(release)));
    let numbers = [("Major", major), ("Minor", minor), ("Patch", patch)];
    let problem = numbers
        .iter()
        .find_map(|(name, number)| number_problem(name, number));
    let mut parts = release.into_iter().flat_map(|release| release.split('.'));
    let problem = problem.or_else(|| parts.find_map(release_problem));
    let mut parts = build.into_iter().flat_map(|build| build.split('.'));
    let problem = problem.or_else(|| parts.find_map(build_problem));
    problem.unwrap_or_else(|| format!("invalid version {text:?}"))
}

fn number_problem(name: &str, number: &str) -> Option<String> {
    if !is_number(number) {
        let name = name.to_lowercase();
        return Some(format!(
            "Invalid character(s) found in {name} number {number:?}"
        ));
    }
    if has_leading_zero(number) {
        return Some(format!(
            "{name} number must not contain leading zeroes {number:?}"
        ));
    }
    range_problem(number)
}

fn range_problem(number: &str) -> Option<String> {
    let why = if number.is_empty() {
        "invalid syntax"
    } else {
        "value out of range"
    };
    let is_beyond = number.parse::<u64>().is_err();
    is_beyond.then(|| format!("strconv.ParseUint: parsing {number:?}: {why}"))
}

fn release_problem(part: &str) -> Option<String> {
    if part.is_empty() {
        return Some("Prerelease is empty".to_owned());
    }
    if !is_number(part) {
        return (!is_word(part))
            .then(|| format!("Invalid character(s) found in prerelease {part:?}"));
    }
    if has_leading_zero(part) {
        return Some(format!(
            "Numeric PreRelease version must not contain leading zeroes {part:?}"
        ));
    }
    range_problem(part)
}

fn build_problem(part: &str) -> Option<String> {
    if part.is_empty() {
        return Some("Build meta data is empty".to_owned());
    }
    (!is_word(part)).then(|| format!("Invalid character(s) found in build meta data {part:?}"))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|digit| digit.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    text.bytes()
        .all(|letter| letter.is_ascii_alphanumeric() || letter == b'-')
}

fn has_leading_zero(number: &str) -> bool {
    number.len() > 1 && number.starts_with('0')
}
