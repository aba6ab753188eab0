//! The grammar of scripts: plain commands, conditions and loops, joined by `;`, `&&` and `||`.

use std::sync::Arc;

use super::lexer::{DEPTH_MAX, Lexer, Redirection, Token, Word, is_name, unexpected};

/// The words that begin unsupported commands.
const REFUSED: [&str; 4] = ["case", "function", "select", "[["];
/// The words that have a meaning only within a compound command.
const RESERVED: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "in", "}"];
/// The explanation that follows a refusal.
pub(super) const SUPPORTED: &str = "this server runs plain commands, `if`, `for`, `while`, `until` and `{ }`, joined by \
                                    `;`, `&&` and `||`, with `$(…)` and `$((…))`, and redirects output to `/dev/null`, \
                                    `&1` and `&2`";

/// Commands one after the other.
pub(super) type List = Arc<[Step]>;

/// The condition on which a command runs, depending on the previous command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RunCondition {
    #[default]
    Always,
    Success,
    Failure,
}

/// One command of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) joint: RunCondition,
    /// True after `!`.
    pub(super) is_negated: bool,
    pub(super) command: Command,
    pub(super) redirections: Arc<[Redirection]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Simple(Arc<[Word]>),
    Group(List),
    If(Arc<If>),
    Loop(Arc<Loop>),
    For(Arc<For>),
}

/// The branches of a condition.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct If {
    /// Conditions, each with the list that runs if it holds.
    pub(super) branches: Vec<(List, List)>,
    pub(super) otherwise: Option<List>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) condition: List,
    /// True if it ends when the condition holds.
    pub(super) is_until: bool,
    pub(super) body: List,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct For {
    pub(super) name: String,
    pub(super) words: Arc<[Word]>,
    pub(super) body: List,
}

/// The reason why a script is not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParseError {
    /// The script ends within a command or within quotes; further lines may complete it.
    Incomplete,
    Refused(String),
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    peeked: Option<Token>,
}

/// Reads a script.
///
/// # Errors
///
/// The script has an unsupported command, or an end is missing.
pub(super) fn parse(script: &str) -> Result<List, ParseError> {
    let chars: Vec<char> = script.chars().collect();
    let lexer = Lexer {
        chars: &chars,
        next: 0,
        depth: 0,
    };
    let (list, _) = Parser::new(lexer).list(&[])?;
    Ok(list)
}

/// Reads the commands after `$(`, and the bracket behind them.
pub(super) fn parse_substitution(lexer: &mut Lexer<'_>) -> Result<List, ParseError> {
    let inner = Lexer {
        chars: lexer.chars,
        next: lexer.next,
        depth: lexer.depth,
    };
    let mut parser = Parser::new(inner);
    let (list, _) = parser.nested(&[")"])?;
    lexer.next = parser.lexer.next;
    Ok(list)
}

// === impl ParseError ===

impl ParseError {
    /// Returns the message of the error.
    pub(super) fn into_message(self) -> String {
        match self {
            Self::Incomplete => {
                "syntax error: unexpected end of file, or unterminated quoted string".to_owned()
            }
            Self::Refused(error) => error,
        }
    }
}

// === impl Parser ===

impl<'a> Parser<'a> {
    fn new(lexer: Lexer<'a>) -> Self {
        Self {
            lexer,
            peeked: None,
        }
    }

    fn take(&mut self) -> Result<Token, ParseError> {
        match self.peeked.take() {
            Some(token) => Ok(token),
            None => self.lexer.token(),
        }
    }

    fn peek(&mut self) -> Result<&Token, ParseError> {
        let token = self.take()?;
        Ok(self.peeked.insert(token))
    }

    /// Reads a list within another command, up to one of the words `ends`, of which it returns the one that it found.
    fn nested(&mut self, ends: &[&'static str]) -> Result<(List, &'static str), ParseError> {
        if self.lexer.depth == DEPTH_MAX {
            let error = format!("syntax error: more than {DEPTH_MAX} levels");
            return Err(ParseError::Refused(error));
        }
        self.lexer.depth += 1;
        let list = self.list(ends);
        self.lexer.depth -= 1;
        list
    }

    fn list(&mut self, ends: &[&'static str]) -> Result<(List, &'static str), ParseError> {
        let mut steps = Vec::new();
        let mut joint = RunCondition::Always;
        loop {
            let token = self.take()?;
            let found = ends.iter().find(|end| token.is(end));
            match token {
                _ if let Some(end) = found => {
                    return match joint {
                        RunCondition::Always if !steps.is_empty() || *end == ")" => {
                            Ok((steps.into(), end))
                        }
                        _ => Err(missing()),
                    };
                }
                Token::Newline => {}
                Token::Semicolon if joint == RunCondition::Always => {}
                Token::End if ends.is_empty() && joint == RunCondition::Always => {
                    return Ok((steps.into(), ""));
                }
                Token::End => return Err(ParseError::Incomplete),
                Token::Semicolon | Token::And | Token::Or => return Err(missing()),
                Token::Close => return Err(unexpected(')')),
                Token::Word(_) | Token::Redirection(_) => {
                    self.peeked = Some(token);
                    steps.push(self.step(joint)?);
                    joint = self.joint(ends)?;
                }
            }
        }
    }

    /// Reads the separator behind a command.
    fn joint(&mut self, ends: &[&'static str]) -> Result<RunCondition, ParseError> {
        let joint = match self.take()? {
            Token::And => RunCondition::Success,
            Token::Or => RunCondition::Failure,
            Token::Semicolon | Token::Newline => RunCondition::Always,
            Token::Word(word) if !ends.iter().any(|end| word.literal() == Some(end)) => {
                return Err(unexpected_word(&word));
            }
            token => {
                self.peeked = Some(token);
                RunCondition::Always
            }
        };
        Ok(joint)
    }

    fn step(&mut self, joint: RunCondition) -> Result<Step, ParseError> {
        let mut is_negated = false;
        while self.peek()?.is("!") {
            self.take()?;
            is_negated = !is_negated;
        }
        let mut redirections = Vec::new();
        let keyword = match self.peek()? {
            Token::Word(word) => word.literal().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        let command = match keyword.as_str() {
            "if" => self.condition()?,
            "while" | "until" => self.repetition(keyword == "until")?,
            "for" => self.each()?,
            "{" => {
                self.take()?;
                Command::Group(self.nested(&["}"])?.0)
            }
            word if REFUSED.contains(&word) => {
                return Err(ParseError::Refused(format!("{word}: {SUPPORTED}")));
            }
            word if RESERVED.contains(&word) => {
                let error = format!("syntax error: unexpected {word:?}");
                return Err(ParseError::Refused(error));
            }
            _ => self.simple(&mut redirections)?,
        };
        while matches!(self.peek()?, Token::Redirection(_)) {
            if let Token::Redirection(redirection) = self.take()? {
                redirections.push(redirection);
            }
        }
        Ok(Step {
            joint,
            is_negated,
            command,
            redirections: redirections.into(),
        })
    }

    fn simple(&mut self, redirections: &mut Vec<Redirection>) -> Result<Command, ParseError> {
        let mut words = Vec::new();
        loop {
            match self.take()? {
                Token::Word(word) => words.push(word),
                Token::Redirection(redirection) => redirections.push(redirection),
                token => {
                    self.peeked = Some(token);
                    break;
                }
            }
        }
        if words.is_empty() && redirections.is_empty() {
            return Err(missing());
        }
        Ok(Command::Simple(words.into()))
    }

    fn condition(&mut self) -> Result<Command, ParseError> {
        let mut branches = Vec::new();
        loop {
            // The word `if` or `elif`.
            self.peeked = None;
            let (condition, _) = self.nested(&["then"])?;
            let (body, end) = self.nested(&["elif", "else", "fi"])?;
            branches.push((condition, body));
            let otherwise = match end {
                "elif" => continue,
                "else" => Some(self.nested(&["fi"])?.0),
                _ => None,
            };
            let condition = If {
                branches,
                otherwise,
            };
            return Ok(Command::If(Arc::new(condition)));
        }
    }

    fn repetition(&mut self, is_until: bool) -> Result<Command, ParseError> {
        self.take()?;
        let (condition, _) = self.nested(&["do"])?;
        let (body, _) = self.nested(&["done"])?;
        let repetition = Loop {
            condition,
            is_until,
            body,
        };
        Ok(Command::Loop(Arc::new(repetition)))
    }

    fn each(&mut self) -> Result<Command, ParseError> {
        self.take()?;
        let name = match self.take()? {
            Token::Word(word) if word.literal().is_some_and(is_name) => {
                word.literal().unwrap_or_default().to_owned()
            }
            Token::End => return Err(ParseError::Incomplete),
            _ => return Err(misspelt_for()),
        };
        self.expect("in")?;
        let mut words = Vec::new();
        loop {
            match self.take()? {
                Token::Word(word) => words.push(word),
                Token::Semicolon | Token::Newline => break,
                Token::End => return Err(ParseError::Incomplete),
                _ => return Err(misspelt_for()),
            }
        }
        while matches!(self.peek()?, Token::Newline) {
            self.take()?;
        }
        self.expect("do")?;
        let (body, _) = self.nested(&["done"])?;
        let each = For {
            name,
            words: words.into(),
            body,
        };
        Ok(Command::For(Arc::new(each)))
    }

    fn expect(&mut self, keyword: &str) -> Result<(), ParseError> {
        match self.take()? {
            token if token.is(keyword) => Ok(()),
            Token::End => Err(ParseError::Incomplete),
            _ => Err(misspelt_for()),
        }
    }
}

// === impl Token ===

impl Token {
    /// Returns whether it is this word without quotes, or the bracket.
    fn is(&self, keyword: &str) -> bool {
        match self {
            Self::Word(word) => word.literal() == Some(keyword),
            Self::Close => keyword == ")",
            _ => false,
        }
    }
}

fn missing() -> ParseError {
    ParseError::Refused(format!("syntax error: a command is missing; {SUPPORTED}"))
}

fn misspelt_for() -> ParseError {
    let error = "syntax error: a `for` is written as `for NAME in WORDS; do COMMANDS; done`";
    ParseError::Refused(error.to_owned())
}

fn unexpected_word(word: &Word) -> ParseError {
    let text = word.literal().unwrap_or("word");
    ParseError::Refused(format!("syntax error: unexpected {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_need_more_are_refused() {
        for script in [
            "a | b",
            "a &",
            "a < b",
            "a > file",
            "(a)",
            "echo `a`",
            "echo ${A:-b}",
            "case a in a) b;; esac",
            "function f { a; }",
            "&& a",
            "a && ; b",
            "a; || b",
            "if; then a; fi",
            "while true; do done",
        ] {
            match parse(script).unwrap_err() {
                ParseError::Refused(error) => {
                    assert!(error.contains("this server runs"), "{script}: {error}");
                }
                ParseError::Incomplete => panic!("{script} is refused"),
            }
        }
        for script in [
            "done",
            "a; fi",
            "for 1 in 2; do a; done",
            "for i in 1 2 do; a",
            "if a; then b; fi c",
        ] {
            let error = parse(script).unwrap_err();
            assert!(
                matches!(&error, ParseError::Refused(error) if error.starts_with("syntax error")),
                "{script}: {error:?}"
            );
        }
        let deep = "if a; then ".repeat(100);
        assert!(
            matches!(parse(&deep), Err(ParseError::Refused(error)) if error.contains("levels"))
        );
        let deep = "$(".repeat(100);
        assert!(
            matches!(parse(&deep), Err(ParseError::Refused(error)) if error.contains("levels"))
        );
    }

    #[test]
    fn scripts_that_have_not_ended_are_incomplete() {
        for script in [
            "echo 'a",
            "echo \"a",
            "echo \\",
            "a &&",
            "if a",
            "if a; then b; else",
            "for",
            "for i",
            "for i in a",
            "for i in a; do b",
            "{ a;",
            "echo $(a",
            "echo $((1 + (2)",
            "echo ${A",
        ] {
            assert_eq!(parse(script), Err(ParseError::Incomplete), "{script}");
        }
        assert_eq!(parse(" ; \n # a").unwrap().len(), 0);
        assert_eq!(parse("a &&\n\nb\nc").unwrap().len(), 3);
    }
}
