//! The commands themselves: each a function of its arguments, variables and files.

use std::time::Duration;

use jiff::{Timestamp, fmt::strtime, tz::TimeZone};

use super::{Action, Outcome, Setting, machine::TEXT_MAX, test_command};
use crate::containers::{files::FileError, log::OutputStream};

/// The names of the commands, beside the shells.
pub(super) const COMMANDS: [&str; 17] = [
    ":", "[", "cat", "date", "echo", "env", "false", "hostname", "ls", "printenv", "printf", "pwd",
    "seq", "sleep", "test", "true", "uptime",
];
/// The folders in which commands are found.
const PATH: [&str; 6] = [
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/sbin",
    "/usr/sbin",
    "/usr/local/sbin",
];
/// The form in which `date` prints a time by default.
const DATE_FORMAT: &str = "%a %b %e %H:%M:%S UTC %Y";

/// Returns the name of a command without the folder in which commands are found.
pub(super) fn base_name(word: &str) -> &str {
    match word.rsplit_once('/') {
        Some((folder, name)) if PATH.contains(&folder) => name,
        _ => word,
    }
}

/// Runs a command.
pub(super) fn run(name: &str, arguments: &[String], setting: &Setting, now: Timestamp) -> Outcome {
    match name {
        "cat" => cat(arguments, setting),
        "date" => date(arguments, now),
        "echo" => echo(arguments),
        "env" => env(arguments, setting),
        "hostname" => line(&setting.host_name),
        "ls" => list(arguments, setting),
        "printenv" => print_variables(arguments, setting),
        "printf" => print_formatted(arguments),
        "pwd" => line(&setting.folder),
        "seq" => sequence(arguments),
        "sleep" => sleep(arguments),
        "[" | "test" => test_command::run(name, arguments, setting),
        "uptime" => uptime(arguments, setting, now),
        "false" => Outcome {
            code: 1,
            ..Outcome::default()
        },
        _ => Outcome::default(),
    }
}

fn line(text: &str) -> Outcome {
    Outcome::printing(format!("{text}\n"))
}

fn cat(arguments: &[String], setting: &Setting) -> Outcome {
    let mut outcome = Outcome::default();
    let copy = Action::CopyInput(Some(OutputStream::Stdout));
    if arguments.is_empty() {
        outcome.actions.push(copy.clone());
    }
    for name in arguments {
        if name == "-" {
            outcome.actions.push(copy.clone());
            continue;
        }
        match setting.files.read(&setting.folder, name) {
            Ok(content) => {
                let write = Action::Write(OutputStream::Stdout, content);
                outcome.actions.push(write);
            }
            Err(error) => {
                outcome.complain(&format!("cat: {name}: {error}\n"));
                outcome.code = 1;
            }
        }
    }
    outcome
}

fn date(arguments: &[String], now: Timestamp) -> Outcome {
    let mut format = DATE_FORMAT;
    for argument in arguments {
        match argument.strip_prefix('+') {
            Some(wanted) => format = wanted,
            None if argument == "-u" => {}
            None => return Outcome::failed(&format!("date: invalid date '{argument}'\n"), 1),
        }
    }
    let now = now.to_zoned(TimeZone::UTC);
    match strtime::format(format, &now) {
        Ok(text) => line(&text),
        Err(error) => Outcome::failed(&format!("date: {error}\n"), 1),
    }
}

fn echo(arguments: &[String]) -> Outcome {
    let (mut is_bare, mut has_escapes) = (false, false);
    let is_flag = |word: &&String| {
        word.strip_prefix('-')
            .is_some_and(|flags| !flags.is_empty() && flags.chars().all(|c| "neE".contains(c)))
    };
    let flags = arguments.iter().take_while(is_flag).count();
    for flag in &arguments[..flags] {
        is_bare |= flag.contains('n');
        has_escapes |= flag.contains('e');
    }
    let mut text = arguments[flags..].join(" ");
    if has_escapes {
        text = unescaped(&text);
    }
    if !is_bare {
        text.push('\n');
    }
    Outcome::printing(text)
}

fn env(arguments: &[String], setting: &Setting) -> Outcome {
    if !arguments.is_empty() {
        return Outcome::failed("env: this server's env takes no arguments\n", 125);
    }
    let lines = setting
        .variables
        .iter()
        .map(|(name, value)| format!("{name}={value}\n"));
    Outcome::printing(lines.collect::<String>())
}

fn print_variables(arguments: &[String], setting: &Setting) -> Outcome {
    if arguments.is_empty() {
        return env(arguments, setting);
    }
    let mut outcome = Outcome::default();
    for name in arguments {
        match setting.variable(name) {
            Some(value) => outcome.actions.extend(line(value).actions),
            None => outcome.code = 1,
        }
    }
    outcome
}

/// The format is used again until no argument is left; `%s`, `%d` and `%%` are known.
fn print_formatted(arguments: &[String]) -> Outcome {
    let Some((format, arguments)) = arguments.split_first() else {
        return Outcome::failed("printf: missing operand\n", 2);
    };
    let format = unescaped(format);
    let mut arguments = arguments.iter();
    let mut text = String::new();
    loop {
        let before = arguments.len();
        let mut chars = format.chars();
        while let Some(char) = chars.next() {
            if char != '%' {
                text.push(char);
                continue;
            }
            match chars.next() {
                Some('%') => text.push('%'),
                Some('s') => text.push_str(arguments.next().map_or("", String::as_str)),
                Some('d') => text.push_str(arguments.next().map_or("0", String::as_str)),
                other => {
                    let directive: String = other.into_iter().collect();
                    let error = format!(
                        "printf: %{directive}: invalid directive; this server knows %s, %d and %%\n"
                    );
                    return Outcome::failed(&error, 1);
                }
            }
        }
        if arguments.len() == 0 || arguments.len() == before {
            return Outcome::printing(text);
        }
    }
}

/// Returns a text with its escapes for line ends, tabs and backslashes replaced.
fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\\\", "\\")
}

fn list(arguments: &[String], setting: &Setting) -> Outcome {
    let here = [".".to_owned()];
    let mut paths = arguments
        .iter()
        .filter(|word| !word.starts_with('-'))
        .peekable();
    let paths: Vec<&String> = match paths.peek() {
        Some(_) => paths.collect(),
        None => here.iter().collect(),
    };
    let mut outcome = Outcome::default();
    for path in paths {
        let names = match setting.files.read(&setting.folder, path) {
            Ok(_) => vec![path.as_str()],
            Err(FileError::Folder) => setting.files.names_in(&setting.folder, path),
            Err(error) => {
                outcome.complain(&format!("ls: cannot access '{path}': {error}\n"));
                outcome.code = 2;
                continue;
            }
        };
        for name in names {
            outcome.actions.extend(line(name).actions);
        }
    }
    outcome
}

fn sleep(arguments: &[String]) -> Outcome {
    if arguments.is_empty() {
        return Outcome::failed("sleep: missing operand\n", 1);
    }
    match slept(arguments) {
        Ok(time) => Outcome {
            actions: vec![Action::Sleep(time)],
            ..Outcome::default()
        },
        Err(argument) => {
            let error = format!("sleep: invalid time interval '{argument}'\n");
            Outcome::failed(&error, 1)
        }
    }
}

/// Returns the time that `sleep` takes: the sum of its arguments, of which a number without a unit is of seconds.
///
/// # Errors
///
/// An argument that is no time is the error, unchanged.
pub(crate) fn slept(arguments: &[impl AsRef<str>]) -> Result<Duration, &str> {
    let mut seconds = 0.0;
    for argument in arguments.iter().map(AsRef::as_ref) {
        if argument == "infinity" {
            seconds = f64::INFINITY;
            continue;
        }
        let number = argument.trim_end_matches(['s', 'm', 'h', 'd']);
        let unit = match &argument[number.len()..] {
            "" | "s" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => f64::NAN,
        };
        let time = number.parse::<f64>().unwrap_or(f64::NAN) * unit;
        if time.is_nan() || time < 0.0 {
            return Err(argument);
        }
        seconds += time;
    }
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// The numbers are whole ones: `seq LAST`, `seq FIRST LAST` or `seq FIRST STEP LAST`.
fn sequence(arguments: &[String]) -> Outcome {
    let mut numbers = Vec::new();
    for argument in arguments {
        let Ok(number) = argument.parse::<i64>() else {
            let error = format!("seq: invalid whole number '{argument}'\n");
            return Outcome::failed(&error, 1);
        };
        numbers.push(number);
    }
    let (first, step, last) = match *numbers {
        [last] => (1, 1, last),
        [first, last] => (first, 1, last),
        [first, step, last] if step != 0 => (first, step, last),
        [_, _, _] => return Outcome::failed("seq: invalid Zero increment value: '0'\n", 1),
        [] => return Outcome::failed("seq: missing operand\n", 1),
        _ => return Outcome::failed("seq: extra operand\n", 1),
    };
    let mut text = String::new();
    let mut number = first;
    while (step > 0 && number <= last) || (step < 0 && number >= last) {
        text.extend([&*number.to_string(), "\n"]);
        if text.len() > TEXT_MAX {
            let error = format!("seq: more than {TEXT_MAX} bytes; ask for fewer numbers\n");
            return Outcome::failed(&error, 1);
        }
        let Some(next) = number.checked_add(step) else {
            break;
        };
        number = next;
    }
    Outcome::printing(text)
}

/// A container has the load of no process, and the time since which its pod runs.
fn uptime(arguments: &[String], setting: &Setting, now: Timestamp) -> Outcome {
    if let Some(argument) = arguments.first() {
        let error = format!("uptime: this server's uptime takes no arguments: '{argument}'\n");
        return Outcome::failed(&error, 1);
    }
    let started = setting.started.unwrap_or(now);
    let minutes = now.duration_since(started).as_mins().max(0);
    let (days, hours, minutes) = (minutes / 1_440, minutes / 60 % 24, minutes % 60);
    let up = match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours}:{minutes:02}"),
        (1, _) => format!("1 day, {hours}:{minutes:02}"),
        _ => format!("{days} days, {hours}:{minutes:02}"),
    };
    let time = now.to_zoned(TimeZone::UTC).strftime("%H:%M:%S").to_string();
    line(&format!(
        " {time} up {up},  0 users,  load average: 0.00, 0.00, 0.00"
    ))
}
