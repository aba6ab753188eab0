//! Code asks for a feature gate of a version of Kubernetes by name, and never compares versions: which version has what is data.

use proc_macro2::Delimiter;

use crate::{
    finding::Finding,
    rust::{Code, Lexeme, TestCode, Token},
    tree::Tree,
};

/// The crate that knows the order of versions.
const OWNER: &str = "fakeserver/versions/";
/// The code that this is about.
const FOLDERS: [&str; 3] = ["fakeserver/", "conformance/", "benches/"];
/// Code that may, with what it needs that for.
const EXCEPTIONS: [(&str, &str); 7] = [
    (
        "fakeserver/check/src/catalogue/",
        "messages say before and after which version a kind is served",
    ),
    (
        "fakeserver/server/src/write/backend.rs",
        "a registry of another version is made once, until another one is asked for",
    ),
    (
        "fakeserver/cli/src/setup_envtest/",
        "users select releases by number, and folders are named by it",
    ),
    (
        "fakeserver/cli/src/assets.rs",
        "the folder of the default version has no version in its name",
    ),
    (
        "fakeserver/cli/src/kubernetes_version.rs",
        "a folder of the default version has no file that names it",
    ),
    (
        "fakeserver/server/src/edge/discovery/plain.rs",
        "/version has the number of the version, and that of the one before",
    ),
    (
        "conformance/tracefile/src/header.rs",
        "a trace names the version whose behaviour the server has",
    ),
];
const TYPE: &str = "KubernetesVersion";
/// The type whose values are compared by number.
const NUMBER: &str = "ReleaseNumber";
/// The names of values of that type, of fields and of methods that return one.
const VALUES: [&str; 2] = ["kubernetes", "kubernetes_version"];
/// Methods that compare such a value, or take it apart.
const METHODS: [&str; 8] = [
    "cmp",
    "partial_cmp",
    "eq",
    "ne",
    "max",
    "min",
    "clamp",
    "parts",
];
const REMEDY: &str = "ask for a feature gate by name, `gates().is_on(...)`, or make it data of the version, in fakeserver/versions";

/// Returns the places that compare versions of Kubernetes, and exceptions that no code needs.
pub(crate) fn findings(tree: &Tree) -> Vec<Finding> {
    let tests = TestCode::of(tree);
    let mut findings = Vec::new();
    let mut is_needed = EXCEPTIONS.map(|_| false);
    for (path, text) in tree.of_type("rs") {
        let is_meant = FOLDERS.iter().any(|folder| path.starts_with(folder));
        if !is_meant || path.starts_with(OWNER) || tests.contains(path) {
            continue;
        }
        let code = Code::read(path, text).without_tests();
        let places = places(code.tokens());
        let exception = EXCEPTIONS
            .iter()
            .position(|(allowed, _)| path.starts_with(allowed));
        match exception {
            Some(exception) => is_needed[exception] |= !places.is_empty(),
            None => findings.extend(
                places
                    .into_iter()
                    .map(|(line, what)| Finding::new(path, line, what, REMEDY)),
            ),
        }
    }
    for ((path, reason), is_needed) in EXCEPTIONS.iter().zip(is_needed) {
        let is_there = tree.of_type("rs").any(|(file, _)| file.starts_with(path));
        if is_there && !is_needed {
            let what = format!("an exception of the rule `versions` that is not needed: {reason}");
            findings.push(Finding::new(path, 1, what, "remove it from the rule"));
        }
    }
    findings
}

/// Returns the lines on which versions are compared, each with what is there.
fn places(tokens: &[Token]) -> Vec<(usize, String)> {
    let mut places = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let what = match &token.lexeme {
            Lexeme::Text(text) if is_number(text) => Some(format!("the version {text:?}")),
            Lexeme::Word(word) if word == NUMBER => Some(format!("`{NUMBER}`")),
            Lexeme::Word(word) if word == TYPE => constant(tokens, at),
            Lexeme::Word(word) if VALUES.contains(&word.as_str()) => value(tokens, at, word),
            Lexeme::Word(word) if word == "minor" => {
                let is_call = at > 0 && is_sign(tokens, at - 1, '.') && is_open(tokens, at + 1);
                is_call.then(|| "`.minor()`".to_owned())
            }
            _ => None,
        };
        places.extend(what.map(|what| (token.line, what)));
    }
    places
}

/// Returns what is wrong with a constant of the type, whose name stands at `at`.
fn constant(tokens: &[Token], at: usize) -> Option<String> {
    let is_path = is_sign(tokens, at + 1, ':') && is_sign(tokens, at + 2, ':');
    let Some(Lexeme::Word(name)) = tokens.get(at + 3).map(|token| &token.lexeme) else {
        return None;
    };
    let is_constant = is_path && name.chars().all(|letter| letter.is_ascii_uppercase());
    let end = at + 4;
    let is_pattern = is_sign(tokens, end, '=') && is_sign(tokens, end + 1, '>');
    let is_compared = is_comparison_after(tokens, end) || is_comparison_before(tokens, at);
    (is_constant && (is_pattern || is_compared))
        .then(|| format!("a comparison with `{TYPE}::{name}`"))
}

/// Returns what is wrong with a value of the type, whose name stands at `at`.
fn value(tokens: &[Token], at: usize, name: &str) -> Option<String> {
    let is_call = is_open(tokens, at + 1)
        && tokens
            .get(at + 2)
            .is_some_and(|token| token.lexeme == Lexeme::Close(Delimiter::Parenthesis));
    let end = at + if is_call { 3 } else { 1 };
    if is_comparison_after(tokens, end) {
        return Some(format!("a comparison of `{name}`"));
    }
    let method = tokens.get(end + 1).filter(|_| is_sign(tokens, end, '.'));
    match method.map(|token| &token.lexeme) {
        Some(Lexeme::Word(method)) if METHODS.contains(&method.as_str()) => {
            Some(format!("`{name}.{method}()`"))
        }
        _ => None,
    }
}

/// True if an operator that compares begins at `at`.
fn is_comparison_after(tokens: &[Token], at: usize) -> bool {
    let is_equal = is_sign(tokens, at + 1, '=');
    match tokens.get(at).map(|token| &token.lexeme) {
        Some(Lexeme::Sign('=' | '!')) => is_equal,
        Some(Lexeme::Sign('<' | '>')) => true,
        _ => false,
    }
}

/// True if an operator that compares ends before `at`, where a path may begin with the name of a crate.
fn is_comparison_before(tokens: &[Token], at: usize) -> bool {
    let sign = |back: usize| match at.checked_sub(back).map(|at| &tokens[at].lexeme) {
        Some(Lexeme::Sign(sign)) => Some(*sign),
        _ => None,
    };
    match (sign(2), sign(1)) {
        (Some('=' | '!' | '<' | '>'), Some('=')) => true,
        // An arrow ends so, too.
        (first, Some('<' | '>')) => !matches!(first, Some('=' | '-')),
        _ => false,
    }
}

fn is_sign(tokens: &[Token], at: usize, sign: char) -> bool {
    tokens
        .get(at)
        .is_some_and(|token| token.lexeme == Lexeme::Sign(sign))
}

fn is_open(tokens: &[Token], at: usize) -> bool {
    tokens
        .get(at)
        .is_some_and(|token| token.lexeme == Lexeme::Open(Delimiter::Parenthesis))
}

/// True for the number of a version of Kubernetes that there is or was not long ago: `1.36`, `v1.36.2`, `1.36.x`.
fn is_number(text: &str) -> bool {
    let number = text.strip_prefix('v').unwrap_or(text);
    let Some(minor) = number.strip_prefix("1.") else {
        return false;
    };
    let (minor, patch) = minor.split_once('.').unwrap_or((minor, "0"));
    let is_minor = matches!(minor.as_bytes(), [b'2'..=b'9', b'0'..=b'9']);
    is_minor
        && (patch == "x" || (!patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit())))
}
