//! The command `test`, which is also called `[`.

use super::{Outcome, Setting};
use crate::containers::files::FileError;

/// The code of a test that cannot be read.
const MISSPELT: u8 = 2;

/// Runs `test` or `[`, the latter with `]` as its last argument.
pub(super) fn run(name: &str, arguments: &[String], setting: &Setting) -> Outcome {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let words = match (name, words.split_last()) {
        ("[", Some((&"]", words))) => words,
        ("[", _) => return Outcome::failed("sh: [: missing ]\n", MISSPELT),
        _ => &words,
    };
    match holds(words, setting) {
        Ok(holds) => Outcome {
            code: u8::from(!holds),
            ..Outcome::default()
        },
        Err(error) => Outcome::failed(&format!("sh: {error}\n"), MISSPELT),
    }
}

fn holds(words: &[&str], setting: &Setting) -> Result<bool, String> {
    match words {
        [] => Ok(false),
        [word] => Ok(!word.is_empty()),
        ["!", rest @ ..] if rest.len() < 4 => Ok(!holds(rest, setting)?),
        [operator, word] => unary(operator, word, setting),
        [left, operator, right] => binary(left, operator, right),
        [.., word] => Err(format!(
            "{word}: unexpected operator; this server's test takes one comparison, join several by `&&` and `||`"
        )),
    }
}

fn unary(operator: &str, word: &str, setting: &Setting) -> Result<bool, String> {
    let found = || setting.files.read(&setting.folder, word);
    match operator {
        "-n" => Ok(!word.is_empty()),
        "-z" => Ok(word.is_empty()),
        "-e" | "-r" => Ok(found() != Err(FileError::Missing)),
        "-f" => Ok(found().is_ok()),
        "-d" => Ok(found() == Err(FileError::Folder)),
        "-s" => Ok(found().is_ok_and(|content| !content.is_empty())),
        _ => Err(format!(
            "{operator}: unknown operand; this server knows -n, -z, -e, -f, -d, -r and -s"
        )),
    }
}

fn binary(left: &str, operator: &str, right: &str) -> Result<bool, String> {
    let number = |word: &str| {
        let number = word.trim().parse::<i64>();
        number.map_err(|_| format!("Illegal number: {word}"))
    };
    let order = || Ok::<_, String>(number(left)?.cmp(&number(right)?));
    match operator {
        "=" | "==" => Ok(left == right),
        "!=" => Ok(left != right),
        "-eq" => Ok(order()?.is_eq()),
        "-ne" => Ok(order()?.is_ne()),
        "-lt" => Ok(order()?.is_lt()),
        "-le" => Ok(order()?.is_le()),
        "-gt" => Ok(order()?.is_gt()),
        "-ge" => Ok(order()?.is_ge()),
        _ => Err(format!(
            "{operator}: unexpected operator; this server knows =, !=, -eq, -ne, -lt, -le, -gt and -ge"
        )),
    }
}
