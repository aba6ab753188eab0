//! Label selectors, in the grammar of the API.

use std::{fmt, iter::Peekable, str::CharIndices};

use crate::{object::Pairs, status::Status};

/// A conjunction of requirements on labels. The empty one selects everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted, without duplicates.
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Exists,
    DoesNotExist,
    Equals,
    NotEquals,
    In,
    NotIn,
    GreaterThan,
    LessThan,
}

/// A lexical unit, with the text that error messages show.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    kind: TokenKind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    End,
    /// Also `in` and `notin`: whether they are operators depends on where they stand.
    Identifier,
    Not,
    Equals,
    DoubleEquals,
    NotEquals,
    GreaterThan,
    LessThan,
    Comma,
    Open,
    Close,
    Unknown,
}

const BINARY_OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

// === impl LabelSelector ===

impl LabelSelector {
    /// Parses the text of a `labelSelector` parameter.
    pub fn parse(text: &str) -> Result<Self, Status> {
        Parser::new(text).selector().map_err(Status::bad_request)
    }

    /// Returns whether every set of labels is selected.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether an object with these labels is selected.
    pub fn matches(&self, labels: &Pairs) -> bool {
        let mut requirements = self.requirements.iter();
        requirements.all(|requirement| requirement.matches(labels.get(&requirement.key)))
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{requirement}")?;
        }
        Ok(())
    }
}

// === impl Requirement ===

impl Requirement {
    fn new(key: String, operator: Operator, mut values: Vec<String>) -> Result<Self, String> {
        values.sort_unstable();
        values.dedup();
        check_key(&key)?;
        match operator {
            Operator::GreaterThan | Operator::LessThan => {
                if let Some(value) = values.iter().find(|value| number(value).is_none()) {
                    return Err(format!(
                        "values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer"
                    ));
                }
            }
            _ => {
                for (index, value) in values.iter().enumerate() {
                    check_value(&key, index, value)?;
                }
            }
        }
        Ok(Self {
            key,
            operator,
            values,
        })
    }

    fn matches(&self, value: Option<&str>) -> bool {
        let contains = |value: &str| self.values.iter().any(|wanted| wanted == value);
        match self.operator {
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::Equals | Operator::In => value.is_some_and(contains),
            Operator::NotEquals | Operator::NotIn => !value.is_some_and(contains),
            Operator::GreaterThan => self.compares(value, |label, bound| label > bound),
            Operator::LessThan => self.compares(value, |label, bound| label < bound),
        }
    }

    fn compares(&self, value: Option<&str>, holds: fn(i64, i64) -> bool) -> bool {
        let label = value.and_then(number);
        let bound = self.values.first().and_then(|bound| number(bound));
        matches!((label, bound), (Some(label), Some(bound)) if holds(label, bound))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, values, .. } = self;
        let first = values.first().map_or("", String::as_str);
        match self.operator {
            Operator::Exists => write!(f, "{key}"),
            Operator::DoesNotExist => write!(f, "!{key}"),
            Operator::Equals => write!(f, "{key}={first}"),
            Operator::NotEquals => write!(f, "{key}!={first}"),
            Operator::In => write!(f, "{key} in ({})", values.join(",")),
            Operator::NotIn => write!(f, "{key} notin ({})", values.join(",")),
            Operator::GreaterThan => write!(f, "{key}>{first}"),
            Operator::LessThan => write!(f, "{key}<{first}"),
        }
    }
}

/// Numbers in labels are decimal, with a sign if it must be.
fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn check_key(key: &str) -> Result<(), String> {
    let problems = crate::names::qualified_name_problems(key);
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!(
        "<nil>: Invalid value: {key:?}: {}",
        problems.join("; ")
    ))
}

fn check_value(key: &str, index: usize, value: &str) -> Result<(), String> {
    let problems = crate::names::label_value_problems(value);
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!(
        "values[{index}][{key}]: Invalid value: {value:?}: {}",
        problems.join("; ")
    ))
}

/// Recursive descent over the tokens, one ahead.
struct Parser<'a> {
    lexer: Lexer<'a>,
    ahead: Option<Token>,
}

// === impl Parser ===

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            lexer: Lexer {
                text,
                chars: text.char_indices().peekable(),
            },
            ahead: None,
        }
    }

    fn peek(&mut self) -> &Token {
        let lexer = &mut self.lexer;
        self.ahead.get_or_insert_with(|| lexer.token())
    }

    fn next(&mut self) -> Token {
        self.ahead.take().unwrap_or_else(|| self.lexer.token())
    }

    fn selector(mut self) -> Result<LabelSelector, String> {
        let mut selector = LabelSelector::default();
        loop {
            let ahead = self.peek();
            match ahead.kind {
                TokenKind::End => return Ok(selector),
                TokenKind::Identifier | TokenKind::Not => {}
                _ => {
                    return Err(format!(
                        "found '{}', expected: !, identifier, or 'end of string'",
                        ahead.text
                    ));
                }
            }
            let requirement = self
                .requirement()
                .map_err(|error| format!("unable to parse requirement: {error}"))?;
            selector.requirements.push(requirement);
            let separator = self.next();
            match separator.kind {
                TokenKind::End => return Ok(selector),
                TokenKind::Comma => {
                    let ahead = self.peek();
                    if !matches!(ahead.kind, TokenKind::Identifier | TokenKind::Not) {
                        return Err(format!(
                            "found '{}', expected: identifier after ','",
                            ahead.text
                        ));
                    }
                }
                _ => {
                    return Err(format!(
                        "found '{}', expected: ',' or 'end of string'",
                        separator.text
                    ));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut key = self.next();
        let is_negated = key.kind == TokenKind::Not;
        if is_negated {
            key = self.next();
        }
        if key.kind != TokenKind::Identifier {
            return Err(format!("found '{}', expected: identifier", key.text));
        }
        check_key(&key.text)?;
        if is_negated {
            return Requirement::new(key.text, Operator::DoesNotExist, Vec::new());
        }
        if matches!(self.peek().kind, TokenKind::End | TokenKind::Comma) {
            return Requirement::new(key.text, Operator::Exists, Vec::new());
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.values()?,
            _ => vec![self.exact_value()?],
        };
        Requirement::new(key.text, operator, values)
    }

    fn operator(&mut self) -> Result<Operator, String> {
        let token = self.next();
        match token.kind {
            TokenKind::Identifier if token.text == "in" => Ok(Operator::In),
            TokenKind::Identifier if token.text == "notin" => Ok(Operator::NotIn),
            TokenKind::Equals | TokenKind::DoubleEquals => Ok(Operator::Equals),
            TokenKind::NotEquals => Ok(Operator::NotEquals),
            TokenKind::GreaterThan => Ok(Operator::GreaterThan),
            TokenKind::LessThan => Ok(Operator::LessThan),
            _ => Err(format!(
                "found '{}', expected: {BINARY_OPERATORS}",
                token.text
            )),
        }
    }

    fn exact_value(&mut self) -> Result<String, String> {
        if matches!(self.peek().kind, TokenKind::End | TokenKind::Comma) {
            return Ok(String::new());
        }
        let token = self.next();
        match token.kind {
            TokenKind::Identifier => Ok(token.text),
            _ => Err(format!("found '{}', expected: identifier", token.text)),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        let open = self.next();
        if open.kind != TokenKind::Open {
            return Err(format!("found '{}' expected: '('", open.text));
        }
        let ahead = self.peek();
        match ahead.kind {
            TokenKind::Identifier | TokenKind::Comma => self.listed_values(),
            TokenKind::Close => {
                self.next();
                Ok(vec![String::new()])
            }
            _ => Err(format!(
                "found '{}', expected: ',', ')' or identifier",
                ahead.text
            )),
        }
    }

    /// Reads the values between parentheses, up to and with the closing one. An empty text between two commas is a value.
    fn listed_values(&mut self) -> Result<Vec<String>, String> {
        let mut values = Vec::new();
        loop {
            let token = self.next();
            match token.kind {
                TokenKind::Identifier => {
                    values.push(token.text);
                    let ahead = self.peek();
                    match ahead.kind {
                        TokenKind::Comma => {}
                        TokenKind::Close => break,
                        _ => return Err(format!("found '{}', expected: ',' or ')'", ahead.text)),
                    }
                }
                TokenKind::Comma => {
                    if values.is_empty() {
                        values.push(String::new());
                    }
                    match self.peek().kind {
                        TokenKind::Close => {
                            values.push(String::new());
                            break;
                        }
                        TokenKind::Comma => {
                            self.next();
                            values.push(String::new());
                        }
                        _ => {}
                    }
                }
                _ => {
                    return Err(format!(
                        "found '{}', expected: ',', or identifier",
                        token.text
                    ));
                }
            }
        }
        self.next();
        Ok(values)
    }
}

struct Lexer<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
}

// === impl Lexer ===

impl Lexer<'_> {
    fn token(&mut self) -> Token {
        while self.chars.next_if(|(_, c)| is_space(*c)).is_some() {}
        let Some(&(start, first)) = self.chars.peek() else {
            return Token {
                kind: TokenKind::End,
                text: String::new(),
            };
        };
        if is_special(first) {
            return self.symbol();
        }
        while self
            .chars
            .next_if(|(_, c)| !is_special(*c) && !is_space(*c))
            .is_some()
        {}
        let end = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
        Token {
            kind: TokenKind::Identifier,
            text: self.text[start..end].to_owned(),
        }
    }

    /// The longest symbol that begins here.
    fn symbol(&mut self) -> Token {
        let (_, first) = self.chars.next().expect("the caller saw it");
        let mut text = first.to_string();
        let mut second = |wanted: char| {
            let taken = self.chars.next_if(|(_, c)| *c == wanted);
            text.extend(taken.map(|(_, c)| c));
            taken.is_some()
        };
        let kind = match first {
            '=' if second('=') => TokenKind::DoubleEquals,
            '=' => TokenKind::Equals,
            '!' if second('=') => TokenKind::NotEquals,
            '!' => TokenKind::Not,
            '>' => TokenKind::GreaterThan,
            '<' => TokenKind::LessThan,
            ',' => TokenKind::Comma,
            '(' => TokenKind::Open,
            ')' => TokenKind::Close,
            _ => TokenKind::Unknown,
        };
        Token { kind, text }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_special(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}
