//! Rust source as tokens with lines: functions, paths, and test code told from the rest.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::tree::Tree;

/// Words before which `[` begins an array.
const KEYWORDS: [&str; 6] = ["in", "return", "match", "if", "else", "mut"];

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lexeme {
    Word(String),
    Sign(char),
    Open(Delimiter),
    Close(Delimiter),
    /// A string without its quotes, its escapes as they are written.
    Text(String),
    /// Any other literal.
    Literal,
}

/// A token and its line.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) lexeme: Lexeme,
    pub(crate) line: usize,
}

/// The tokens of a file. Comments are none; docs are attributes.
#[derive(Debug)]
pub(crate) struct Code {
    tokens: Vec<Token>,
}

/// A function with a body.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// From the line of its name to that of its closing brace.
    pub(crate) line_count: usize,
}

/// A name by which a field of an object is read or written.
#[derive(Debug)]
pub(crate) struct FieldUse {
    pub(crate) name: String,
    pub(crate) line: usize,
}

/// A path of at least one segment, in an import or inline. A glob ends with `*`.
#[derive(Debug)]
pub(crate) struct PathUse {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

// === impl Lexeme ===

impl Lexeme {
    fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(found) if found == word)
    }
}

// === impl Code ===

impl Code {
    /// Reads a file. Text that is not Rust is reported with its path.
    pub(crate) fn read(path: &str, text: &str) -> Self {
        let stream: TokenStream = text
            .parse()
            .unwrap_or_else(|error| panic!("{path} is Rust: {error}"));
        let mut tokens = Vec::new();
        flatten(stream, &mut tokens);
        Self { tokens }
    }

    /// The code without items under `#[cfg(test)]`, `#[cfg(all(test, ..))]` and `#[test]`.
    pub(crate) fn without_tests(self) -> Self {
        let mut kept = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            if let Some(after) = self.test_attribute(at) {
                at = self.item_end(after);
            } else {
                kept.push(self.tokens[at].clone());
                at += 1;
            }
        }
        Self { tokens: kept }
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The names of modules that are declared under `#[cfg(test)]`.
    fn test_modules(&self) -> impl Iterator<Item = &str> {
        (0..self.tokens.len()).filter_map(|at| {
            let after = self.test_attribute(at)?;
            match self.tokens.get(after..after + 3)? {
                [
                    keyword,
                    Token {
                        lexeme: Lexeme::Word(name),
                        ..
                    },
                    end,
                ] if keyword.lexeme.is("mod") && end.lexeme == Lexeme::Sign(';') => {
                    Some(name.as_str())
                }
                _ => None,
            }
        })
    }

    /// The functions with a body, closures left out.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let mut functions = Vec::new();
        for (at, pair) in self.tokens.windows(2).enumerate() {
            let [keyword, name] = pair else { continue };
            let Lexeme::Word(name) = &name.lexeme else {
                continue;
            };
            if !keyword.lexeme.is("fn") {
                continue;
            }
            if let Some(end) = self.body_end(at) {
                functions.push(Function {
                    name: name.clone(),
                    line: keyword.line,
                    line_count: self.tokens[end].line - keyword.line + 1,
                });
            }
        }
        functions
    }

    /// All paths, those of imports taken apart.
    pub(crate) fn paths(&self) -> Vec<PathUse> {
        let mut paths = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            at = match self.tokens[at].lexeme {
                Lexeme::Word(_) => self.read_path(at, &[], &mut paths),
                _ => at + 1,
            };
        }
        paths
    }

    /// The modules that a file declares, in their order, with their lines.
    pub(crate) fn modules(&self) -> Vec<(&str, usize)> {
        let triples = self.tokens.windows(3);
        triples
            .filter_map(|triple| match triple {
                [
                    keyword,
                    Token {
                        lexeme: Lexeme::Word(name),
                        ..
                    },
                    end,
                ] if keyword.lexeme.is("mod") && end.lexeme == Lexeme::Sign(';') => {
                    Some((name.as_str(), keyword.line))
                }
                _ => None,
            })
            .collect()
    }

    /// True if one of these words is used.
    pub(crate) fn line_of(&self, words: &[&str]) -> Option<(usize, &str)> {
        self.tokens.iter().find_map(|token| match &token.lexeme {
            Lexeme::Word(word) if words.contains(&word.as_str()) => {
                Some((token.line, word.as_str()))
            }
            _ => None,
        })
    }

    /// Reads the path that begins at `at`; gives where the next one may begin.
    /// The names of fields: in `x["name"]`, `x.at("name")`, `x.get("name")`, `x.pointer("/name")`, `json!({"name": x})`
    /// and their mutable forms.
    pub(crate) fn fields(&self) -> Vec<FieldUse> {
        let mut fields = Vec::new();
        let mut json_end = 0;
        for (at, token) in self.tokens.iter().enumerate() {
            let is_json =
                token.lexeme.is("json") && self.lexeme(at + 1) == Some(&Lexeme::Sign('!'));
            if is_json && matches!(self.lexeme(at + 2), Some(Lexeme::Open(_))) {
                json_end = json_end.max(self.close_of(at + 2));
            }
            let Lexeme::Text(text) = &token.lexeme else {
                continue;
            };
            let is_key = at < json_end && self.lexeme(at + 1) == Some(&Lexeme::Sign(':'));
            let names: Vec<&str> = match self.reader(at) {
                Some("pointer") => text.split('/').skip(1).collect(),
                Some(_) => vec![text],
                None if is_key => vec![text],
                None => Vec::new(),
            };
            fields.extend(names.into_iter().map(|name| FieldUse {
                name: name.to_owned(),
                line: token.line,
            }));
        }
        fields
    }

    /// The way in which the text at `at` names a field, if it does.
    fn reader(&self, at: usize) -> Option<&'static str> {
        let before = |count: usize| self.lexeme(at.checked_sub(count)?);
        match before(1)? {
            Lexeme::Open(Delimiter::Bracket) => {
                let is_value = match before(2)? {
                    Lexeme::Word(word) => !KEYWORDS.contains(&word.as_str()),
                    Lexeme::Close(delimiter) => *delimiter != Delimiter::Brace,
                    _ => false,
                };
                let is_alone = self.lexeme(at + 1) == Some(&Lexeme::Close(Delimiter::Bracket));
                (is_value && is_alone).then_some("index")
            }
            Lexeme::Open(Delimiter::Parenthesis) if before(3)? == &Lexeme::Sign('.') => {
                match before(2)? {
                    Lexeme::Word(word) => match word.as_str() {
                        "at" | "get" | "get_mut" => Some("get"),
                        "pointer" | "pointer_mut" => Some("pointer"),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn read_path(&self, at: usize, prefix: &[String], paths: &mut Vec<PathUse>) -> usize {
        let mut segments = prefix.to_vec();
        let line = self.tokens[at].line;
        let mut next = at;
        loop {
            match self.lexeme(next) {
                Some(Lexeme::Word(word)) => segments.push(word.clone()),
                Some(Lexeme::Sign('*')) => segments.push("*".to_owned()),
                Some(Lexeme::Open(Delimiter::Brace)) => {
                    return self.read_group(next, &segments, paths);
                }
                _ => break,
            }
            next += 1;
            let colon = Some(&Lexeme::Sign(':'));
            if self.lexeme(next) != colon || self.lexeme(next + 1) != colon {
                break;
            }
            next += 2;
        }
        paths.push(PathUse { segments, line });
        next.max(at + 1)
    }

    /// Reads the paths of an import's braces.
    fn read_group(&self, open: usize, prefix: &[String], paths: &mut Vec<PathUse>) -> usize {
        let mut at = open + 1;
        loop {
            match self.lexeme(at) {
                Some(Lexeme::Word(word)) if word == "as" => at += 2,
                Some(Lexeme::Word(_) | Lexeme::Sign('*')) => at = self.read_path(at, prefix, paths),
                Some(Lexeme::Sign(',')) => at += 1,
                _ => return at + 1,
            }
        }
    }

    /// If an attribute at `at` says that an item is for tests: the place after it and the attributes that follow it.
    fn test_attribute(&self, at: usize) -> Option<usize> {
        let mut after = self.attribute_end(at)?;
        let words: Vec<&str> = self.tokens[at..after]
            .iter()
            .filter_map(|token| match &token.lexeme {
                Lexeme::Word(word) => Some(word.as_str()),
                _ => None,
            })
            .collect();
        let is_test = match &words[..] {
            ["cfg", "all", condition, ..] | ["cfg", condition] => {
                ["test", "doctest"].contains(condition)
            }
            ["test"] | ["tokio", "test", ..] => true,
            _ => false,
        };
        if !is_test {
            return None;
        }
        while let Some(end) = self.attribute_end(after) {
            after = end;
        }
        Some(after)
    }

    /// The place after an attribute that begins at `at`.
    fn attribute_end(&self, at: usize) -> Option<usize> {
        let is_attribute = self.lexeme(at) == Some(&Lexeme::Sign('#'))
            && self.lexeme(at + 1) == Some(&Lexeme::Open(Delimiter::Bracket));
        is_attribute.then(|| self.close_of(at + 1) + 1)
    }

    /// The place after the item that begins at `at`.
    fn item_end(&self, at: usize) -> usize {
        let is_import = (at..at + 3).any(|at| self.lexeme(at).is_some_and(|word| word.is("use")));
        let mut at = at;
        while let Some(lexeme) = self.lexeme(at) {
            match lexeme {
                Lexeme::Sign(';') => return at + 1,
                Lexeme::Open(Delimiter::Brace) if !is_import => return self.close_of(at) + 1,
                Lexeme::Open(_) => at = self.close_of(at) + 1,
                // The last field or variant of its type.
                Lexeme::Close(_) => return at,
                _ => at += 1,
            }
        }
        at
    }

    /// Returns the end of the body of the function whose keyword is at `at`, if it has one.
    fn body_end(&self, at: usize) -> Option<usize> {
        let mut at = at;
        loop {
            match self.lexeme(at)? {
                Lexeme::Sign(';') => return None,
                Lexeme::Open(Delimiter::Brace) => return Some(self.close_of(at)),
                Lexeme::Open(_) => at = self.close_of(at) + 1,
                _ => at += 1,
            }
        }
    }

    /// The place of the bracket that closes the one at `open`.
    fn close_of(&self, open: usize) -> usize {
        let mut depth = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.lexeme {
                Lexeme::Open(_) => depth += 1,
                Lexeme::Close(_) => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len() - 1
    }

    fn lexeme(&self, at: usize) -> Option<&Lexeme> {
        self.tokens.get(at).map(|token| &token.lexeme)
    }
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        let lexeme = match tree {
            TokenTree::Ident(word) => Lexeme::Word(word.to_string()),
            TokenTree::Punct(sign) => Lexeme::Sign(sign.as_char()),
            TokenTree::Literal(literal) => literal_of(&literal.to_string()),
            TokenTree::Group(group) => {
                let (open, close) = (group.delimiter(), group.span_close().start().line);
                tokens.push(Token {
                    lexeme: Lexeme::Open(open),
                    line,
                });
                flatten(group.stream(), tokens);
                tokens.push(Token {
                    lexeme: Lexeme::Close(open),
                    line: close,
                });
                continue;
            }
        };
        tokens.push(Token { lexeme, line });
    }
}

fn literal_of(code: &str) -> Lexeme {
    let text = code
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    text.map_or(Lexeme::Literal, |text| Lexeme::Text(text.to_owned()))
}

/// The files and folders that hold nothing but tests, by their paths without `.rs`.
#[derive(Debug)]
pub(crate) struct TestCode(BTreeSet<String>);

// === impl TestCode ===

impl TestCode {
    /// Finds what is declared under `#[cfg(test)]`.
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut found = BTreeSet::new();
        for (path, text) in tree.of_type("rs") {
            if !text.contains("cfg(test)") && !text.contains("cfg(all(test") {
                continue;
            }
            let folder = folder_of_module(path);
            let code = Code::read(path, text);
            found.extend(code.test_modules().map(|name| format!("{folder}/{name}")));
        }
        Self(found)
    }

    /// True if a file holds tests alone.
    pub(crate) fn contains(&self, path: &str) -> bool {
        let stem = path.strip_suffix(".rs").unwrap_or(path);
        let is_declared = stem
            .match_indices('/')
            .map(|(slash, _)| &stem[..slash])
            .chain([stem])
            .any(|prefix| self.0.contains(prefix));
        is_declared || !stem.contains("/src/")
    }
}

/// The folder in which the modules of a file are: `a/b` for `a/b.rs`, `a/b/mod.rs`, and for `a/b/lib.rs`.
pub(crate) fn folder_of_module(path: &str) -> &str {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    match stem.rsplit_once('/') {
        Some((folder, "mod" | "lib" | "main")) => folder,
        _ => stem,
    }
}
