//! Flags and subcommands in Markdown are those of the programs.

use clap::Command;

use crate::{
    finding::Finding,
    markdown::{self, Part},
    tree::Tree,
};

/// Languages of fenced blocks that hold command lines.
const SHELLS: [&str; 4] = ["", "sh", "bash", "console"];
/// Words between the commands of a line.
const SEPARATORS: [&str; 5] = ["&&", "||", "|", "&", ";"];
/// Flags of other programs that pages name without their program.
const OTHERS: [&str; 2] = ["--features", "--dry-run"];

/// The subcommands and flags in Markdown that no program has.
pub(crate) fn findings(tree: &Tree, programs: &[Command]) -> Vec<Finding> {
    let mut findings = Vec::new();
    // What was true of an earlier version stays in the changelog.
    let pages = tree
        .of_type("md")
        .filter(|(path, _)| *path != "CHANGELOG.md");
    for (page, text) in pages {
        for (line, part) in markdown::parts(text) {
            let unknown = match part {
                Part::Span(code) => of_span(code, programs),
                Part::Fenced(language, code) if SHELLS.contains(&language) => {
                    of_line(code, programs)
                }
                Part::Fenced(..) | Part::Link(_) => Vec::new(),
            };
            findings.extend(unknown.into_iter().map(|what| {
                Finding::new(page, line, what, "name what `--help` of the program lists")
            }));
        }
    }
    findings
}

/// The findings of a code span: a command line, the end of one (`serve --tls`), or flags alone (`--tls`).
fn of_span(code: &str, programs: &[Command]) -> Vec<String> {
    let words: Vec<&str> = words_of(code);
    let Some(first) = words.first() else {
        return Vec::new();
    };
    if first.starts_with("--") {
        let flags = words.iter().filter_map(|word| flag_of(word));
        let unknown = flags.filter(|flag| {
            let is_known = programs.iter().any(|program| has_flag(program, flag));
            !is_known && !OTHERS.contains(flag)
        });
        return unknown
            .map(|flag| format!("no program has `{flag}`"))
            .collect();
    }
    let owner = programs
        .iter()
        .find(|program| program.find_subcommand(first).is_some());
    match owner {
        Some(program) if words.len() > 1 => of_arguments(program, &words, programs),
        _ => of_words(&words, programs),
    }
}

/// The findings of a line of a shell.
fn of_line(line: &str, programs: &[Command]) -> Vec<String> {
    let code = line.split(" #").next().unwrap_or_default();
    of_words(&words_of(code), programs)
}

fn words_of(code: &str) -> Vec<&str> {
    code.split_whitespace().collect()
}

fn of_words(words: &[&str], programs: &[Command]) -> Vec<String> {
    let commands = words.split(|word| SEPARATORS.contains(word));
    commands
        .flat_map(|words| match invoked(words, programs) {
            Some((program, arguments)) => of_arguments(program, arguments, programs),
            None => Vec::new(),
        })
        .collect()
}

/// The program that a command runs, with its arguments: `fakeserver ...`, `target/release/fakeserver ...`, or
/// `cargo run -p fakeserver -- ...`.
fn invoked<'a, 'w>(
    words: &'w [&'w str],
    programs: &'a [Command],
) -> Option<(&'a Command, &'w [&'w str])> {
    let named = |name: &str| programs.iter().find(|program| program.get_name() == name);
    let is_setting = |word: &&&str| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && !name.contains(|letter: char| letter.is_lowercase() || letter == '-')
    };
    let words = &words[words.iter().take_while(is_setting).count()..];
    let (first, rest) = words.split_first()?;
    if *first != "cargo" {
        let name = first.rsplit('/').next().unwrap_or(first);
        return Some((named(name)?, rest));
    }
    if rest.first() != Some(&"run") {
        return None;
    }
    let end = rest.iter().position(|word| *word == "--");
    let (cargo, arguments) = rest.split_at(end.unwrap_or(rest.len()));
    let choice = cargo.iter().position(|word| ["-p", "--bin"].contains(word));
    // The program of the workspace that runs by default.
    let name = choice.map_or("conformance", |choice| {
        cargo.get(choice + 1).copied().unwrap_or_default()
    });
    Some((named(name)?, arguments.get(1..).unwrap_or_default()))
}

/// The arguments that `program` does not take. After `--` another command begins.
fn of_arguments(program: &Command, arguments: &[&str], programs: &[Command]) -> Vec<String> {
    let end = arguments.iter().position(|word| *word == "--");
    let (arguments, rest) = arguments.split_at(end.unwrap_or(arguments.len()));
    let mut command = program;
    let mut found = Vec::new();
    for (place, word) in arguments.iter().enumerate() {
        if let Some(flag) = flag_of(word) {
            let is_known = [command, program].iter().any(|part| takes(part, flag));
            if !is_known {
                found.push(format!("`{}` has no `{flag}`", name_of(program, command)));
            }
        } else if let Some(subcommand) = command.find_subcommand(word) {
            command = subcommand;
        } else if place == 0 && program.has_subcommands() && is_name(word) {
            found.push(format!("`{}` has no `{word}`", program.get_name()));
        }
    }
    found.extend(of_words(rest.get(1..).unwrap_or_default(), programs));
    found
}

fn name_of(program: &Command, command: &Command) -> String {
    if program.get_name() == command.get_name() {
        return program.get_name().to_owned();
    }
    format!("{} {}", program.get_name(), command.get_name())
}

/// The flag that a word is: without its value, and without punctuation.
fn flag_of<'a>(word: &&'a str) -> Option<&'a str> {
    let word = word.trim_start_matches('[');
    let is_of_flag = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let end = word.find(|letter| !is_of_flag(letter));
    let flag = &word[..end.unwrap_or(word.len())];
    let name = flag.strip_prefix("--")?;
    name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        .then_some(flag)
}

/// True if a word can be the name of a subcommand, and is no placeholder.
fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word
            .chars()
            .all(|letter| letter.is_ascii_lowercase() || letter == '-')
}

/// True if a command itself takes a flag.
fn takes(command: &Command, flag: &str) -> bool {
    let name = flag.trim_start_matches("--");
    let mut options = command.get_arguments();
    ["help", "version"].contains(&name) || options.any(|option| option.get_long() == Some(name))
}

/// True if a program or one of its subcommands takes a flag.
fn has_flag(command: &Command, flag: &str) -> bool {
    takes(command, flag)
        || command
            .get_subcommands()
            .any(|subcommand| has_flag(subcommand, flag))
}
