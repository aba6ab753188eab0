//! The grammar of scripts: plain commands with quotes, variables and a few redirections, joined by `;`, `&&` and `||`.

use std::{iter::Peekable, str::Chars};

use crate::containers::log::OutputStream;

/// The words that begin what is no plain command.
const RESERVED: [&str; 9] = [
    "if", "for", "while", "until", "case", "function", "{", "!", "[[",
];
/// The explanation that follows a refusal.
pub(super) const SUPPORTED: &str = "this server runs plain commands, joined by `;`, `&&` and `||`, and redirects output \
                                    to `/dev/null`, `&1` and `&2`";

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// A variable. Without quotes its value is split at blanks.
    Variable {
        name: String,
        is_quoted: bool,
    },
}

/// A word, before its variables are replaced. One that is quoted is there even if it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) pieces: Vec<Piece>,
    pub(super) is_quoted: bool,
}

/// The condition on which a command runs: the outcome of the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Joint {
    #[default]
    Always,
    Success,
    Failure,
}

/// Output that goes to another stream, or nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Redirection {
    pub(super) from: OutputStream,
    pub(super) to: Option<OutputStream>,
}

/// One command of a script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub(super) joint: Joint,
    pub(super) words: Vec<Word>,
    pub(super) redirections: Vec<Redirection>,
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
    commands: Vec<SimpleCommand>,
    command: SimpleCommand,
    word: Option<Word>,
}

/// Reads a script.
///
/// # Errors
///
/// It has something that is not run here, or a quote without an end.
pub(super) fn parse(script: &str) -> Result<Vec<SimpleCommand>, String> {
    let parser = Parser {
        rest: script.chars().peekable(),
        commands: Vec::new(),
        command: SimpleCommand::default(),
        word: None,
    };
    parser.parse()
}

/// Splits a text at blanks, as a shell splits the value of a variable.
pub(super) fn fields(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t', '\n'])
        .filter(|field| !field.is_empty())
}

// === impl Parser ===

impl Parser<'_> {
    fn parse(mut self) -> Result<Vec<SimpleCommand>, String> {
        while let Some(char) = self.rest.next() {
            match char {
                ' ' | '\t' => self.end_word(),
                ';' | '\n' => self.end_command(Joint::Always)?,
                '&' if self.takes('&') => self.end_command(Joint::Success)?,
                '|' if self.takes('|') => self.end_command(Joint::Failure)?,
                '#' if self.word.is_none() => {
                    while self.rest.next_if(|next| *next != '\n').is_some() {}
                }
                '>' => self.redirect()?,
                '\'' => self.single_quotes()?,
                '"' => self.double_quotes()?,
                '\\' => {
                    if let Some(escaped) = self.rest.next().filter(|escaped| *escaped != '\n') {
                        self.push(escaped);
                    }
                }
                '$' => self.variable(false)?,
                '&' | '|' | '<' | '(' | ')' | '`' => return Err(unsupported(char)),
                _ => self.push(char),
            }
        }
        self.end_command(Joint::Always)?;
        Ok(self.commands)
    }

    fn takes(&mut self, char: char) -> bool {
        self.rest.next_if_eq(&char).is_some()
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn push(&mut self, char: char) {
        let pieces = &mut self.word().pieces;
        match pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(char),
            _ => pieces.push(Piece::Text(char.to_string())),
        }
    }

    fn end_word(&mut self) {
        self.command.words.extend(self.word.take());
    }

    /// Ends a command, and begins one that runs on the condition of `joint`.
    fn end_command(&mut self, joint: Joint) -> Result<(), String> {
        self.end_word();
        let next = SimpleCommand {
            joint,
            ..SimpleCommand::default()
        };
        let command = std::mem::replace(&mut self.command, next);
        let Some(first) = command.words.first() else {
            if joint == Joint::Always && command.joint == Joint::Always {
                return Ok(());
            }
            return Err(format!("syntax error: a command is missing; {SUPPORTED}"));
        };
        if let [Piece::Text(text)] = &*first.pieces
            && !first.is_quoted
            && RESERVED.contains(&text.as_str())
        {
            return Err(format!("{text}: {SUPPORTED}"));
        }
        self.commands.push(command);
        Ok(())
    }

    fn single_quotes(&mut self) -> Result<(), String> {
        self.word().is_quoted = true;
        loop {
            match self.rest.next() {
                Some('\'') => return Ok(()),
                Some(char) => self.push(char),
                None => return Err("syntax error: unterminated quoted string".to_owned()),
            }
        }
    }

    fn double_quotes(&mut self) -> Result<(), String> {
        self.word().is_quoted = true;
        loop {
            match self.rest.next() {
                Some('"') => return Ok(()),
                Some('$') => self.variable(true)?,
                Some('`') => return Err(unsupported('`')),
                Some('\\') => match self.rest.next() {
                    None | Some('\n') => {}
                    Some(char @ ('"' | '\\' | '$' | '`')) => self.push(char),
                    Some(char) => {
                        self.push('\\');
                        self.push(char);
                    }
                },
                Some(char) => self.push(char),
                None => return Err("syntax error: unterminated quoted string".to_owned()),
            }
        }
    }

    /// Reads what follows a dollar sign.
    fn variable(&mut self, is_quoted: bool) -> Result<(), String> {
        let mut name = String::new();
        if self.takes('{') {
            while let Some(char) = self.rest.next_if(|next| *next != '}') {
                name.push(char);
            }
            if !self.takes('}') || !is_name(&name) {
                return Err(format!("${{{name}}}: bad substitution; {SUPPORTED}"));
            }
        } else if self.takes('?') {
            name.push('?');
        } else {
            if self.rest.peek() == Some(&'(') {
                return Err(unsupported('('));
            }
            while let Some(char) = self.rest.next_if(|next| is_name_char(*next)) {
                name.push(char);
            }
        }
        if name.is_empty() {
            self.push('$');
            return Ok(());
        }
        self.word().pieces.push(Piece::Variable { name, is_quoted });
        Ok(())
    }

    /// Reads what follows `>`, and the number before it.
    fn redirect(&mut self) -> Result<(), String> {
        let is_numbered = |word: &Word| match &*word.pieces {
            [Piece::Text(text)] if text == "1" || text == "2" => Some(text == "2"),
            _ => None,
        };
        let number = self.word.as_ref().and_then(is_numbered);
        if number.is_some() {
            self.word = None;
        } else {
            self.end_word();
        }
        let from = match number {
            Some(true) => OutputStream::Stderr,
            _ => OutputStream::Stdout,
        };
        self.takes('>');
        while self.takes(' ') {}
        let mut to = String::new();
        while let Some(char) = self
            .rest
            .next_if(|next| !matches!(next, ' ' | '\t' | '\n' | ';' | '|'))
        {
            to.push(char);
        }
        let to = match to.as_str() {
            "&1" | "/dev/stdout" => Some(OutputStream::Stdout),
            "&2" | "/dev/stderr" => Some(OutputStream::Stderr),
            "/dev/null" => None,
            _ => return Err(format!("> {to}: {SUPPORTED}")),
        };
        self.command.redirections.push(Redirection { from, to });
        Ok(())
    }
}

fn unsupported(char: char) -> String {
    format!("syntax error: unexpected {char:?}; {SUPPORTED}")
}

fn is_name(text: &str) -> bool {
    text == "?" || (!text.is_empty() && text.chars().all(is_name_char))
}

fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Word {
        Word {
            pieces: vec![Piece::Text(text.to_owned())],
            is_quoted: false,
        }
    }

    #[test]
    fn commands_have_words_and_conditions() {
        let commands = parse("echo a\\ b 'c d' \"e\" # f\ntrue && false || echo >&2 g; ").unwrap();
        let shown: Vec<(Joint, usize)> = commands
            .iter()
            .map(|command| (command.joint, command.words.len()))
            .collect();
        assert_eq!(
            shown,
            [
                (Joint::Always, 4),
                (Joint::Always, 1),
                (Joint::Success, 1),
                (Joint::Failure, 2)
            ]
        );
        assert_eq!(commands[0].words[1], text("a b"));
        assert!(commands[0].words[2].is_quoted);
        let to_stderr = Redirection {
            from: OutputStream::Stdout,
            to: Some(OutputStream::Stderr),
        };
        assert_eq!(commands[3].redirections, [to_stderr]);
        assert_eq!(parse(" ; \n").unwrap(), []);
    }

    #[test]
    fn variables_are_pieces_of_words() {
        let commands = parse("echo $A-${B} \"$? $\" 2>/dev/null").unwrap();
        let variable = |name: &str, is_quoted| Piece::Variable {
            name: name.to_owned(),
            is_quoted,
        };
        let words = &commands[0].words;
        assert_eq!(
            words[1].pieces,
            [
                variable("A", false),
                Piece::Text("-".to_owned()),
                variable("B", false)
            ]
        );
        assert_eq!(
            words[2].pieces,
            [variable("?", true), Piece::Text(" $".to_owned())]
        );
        assert_eq!(words.len(), 3);
    }

    #[test]
    fn scripts_that_need_more_are_refused() {
        for script in [
            "a | b",
            "a &",
            "a < b",
            "a > file",
            "(a)",
            "echo $(a)",
            "echo `a`",
            "echo ${A:-b}",
            "while true; do a; done",
            "if true; then a; fi",
            "&& a",
            "a && ; b",
        ] {
            let error = parse(script).unwrap_err();
            assert!(error.contains("this server runs"), "{script}: {error}");
        }
        assert!(parse("echo 'a").unwrap_err().contains("unterminated"));
    }
}
