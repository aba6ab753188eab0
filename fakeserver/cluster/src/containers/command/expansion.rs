//! The values of words.

use super::{
    Setting, Variables, arithmetic,
    grammar::List,
    lexer::{ValueSource, Word, WordPart},
    machine::TEXT_MAX,
};

/// The words of a command with all their values.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExpandedCommand {
    /// The variables that stand in front.
    pub(super) assignments: Variables,
    pub(super) words: Vec<String>,
}

/// Returns the substitutions of words, in their order.
pub(super) fn substitutions(words: &[Word]) -> impl Iterator<Item = &List> {
    let pieces = words.iter().flat_map(|word| &word.pieces);
    pieces.filter_map(|piece| match piece {
        WordPart::Value {
            of: ValueSource::Commands(list),
            ..
        } => Some(list),
        _ => None,
    })
}

/// Replaces values. One without quotes is as many words as it has fields, but for assignments.
///
/// `printed` has the outputs of the substitutions, `code` is the value of `$?`.
///
/// # Errors
///
/// An expression has no value, or all words together are too long.
pub(super) fn expand(
    words: &[Word],
    printed: &[String],
    setting: &Setting,
    code: u8,
) -> Result<ExpandedCommand, String> {
    let mut expanded = ExpandedCommand::default();
    let mut printed = printed.iter();
    let mut size = 0;
    for word in words {
        let mut open = word.is_quoted.then(String::new);
        let is_assignment = word.is_assignment && expanded.words.is_empty();
        for piece in &word.pieces {
            let (value, is_split) = match piece {
                WordPart::Text(text) => (text.clone(), false),
                WordPart::Value { of, is_quoted } => {
                    let value = match of {
                        ValueSource::Commands(_) => printed.next().cloned().unwrap_or_default(),
                        ValueSource::Variable(name) => value(name, setting, code),
                        ValueSource::Expression(expression) => {
                            let value_of = |name: &str| value(name, setting, code);
                            arithmetic::evaluate(expression, &value_of)?.to_string()
                        }
                    };
                    (value, !is_quoted && !is_assignment)
                }
            };
            size += value.len();
            if size > TEXT_MAX {
                return Err(format!(
                    "a command of more than {TEXT_MAX} bytes; write a shorter one"
                ));
            }
            if is_split {
                split(&value, &mut open, &mut expanded.words);
            } else {
                open.get_or_insert_default().push_str(&value);
            }
        }
        match open {
            Some(text) if is_assignment => {
                let (name, value) = text.split_once('=').unwrap_or((&text, ""));
                expanded
                    .assignments
                    .push((name.to_owned(), value.to_owned()));
            }
            open => expanded.words.extend(open),
        }
    }
    Ok(expanded)
}

/// Appends the fields of a value: the first to the word that is open, while those after it are words of their own.
fn split(value: &str, open: &mut Option<String>, words: &mut Vec<String>) {
    let is_blank = |char: char| matches!(char, ' ' | '\t' | '\n');
    if value.starts_with(is_blank) {
        words.extend(open.take());
    }
    let fields = value.split(is_blank).filter(|field| !field.is_empty());
    for (index, field) in fields.enumerate() {
        if index > 0 {
            words.extend(open.take());
        }
        open.get_or_insert_default().push_str(field);
    }
    if value.ends_with(is_blank) {
        words.extend(open.take());
    }
}

fn value(name: &str, setting: &Setting, code: u8) -> String {
    match name {
        "?" => code.to_string(),
        _ => setting.variable(name).unwrap_or_default().to_owned(),
    }
}
