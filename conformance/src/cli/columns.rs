//! Recorded columns of the scoreboard as files.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use fakeserver::cli::output::OutputArgs;
use k8s_openapi::jiff::Timestamp;

use crate::score::{Column, others::RemarkedColumn};

/// Returns the flags for the file of a column: one that this program has written may be replaced.
///
/// # Errors
///
/// The file exists, and is no column.
pub(super) fn output(path: &Path, given: OutputArgs) -> Result<OutputArgs, String> {
    let force = match fs::read_to_string(path) {
        Ok(text) if !text.is_empty() => given.force || Column::parse(&text).is_ok(),
        _ => given.force,
    };
    let output = OutputArgs { force };
    output.check([path])?;
    Ok(output)
}

/// Reads columns: files, or all those of a folder, each with the remarks in the Markdown file beside it. They are in the order
/// of their file names.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<RemarkedColumn>, String> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let entries = fs::read_dir(path).map_err(|error| message(path, &error))?;
            let mut found = entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<io::Result<Vec<_>>>()
                .map_err(|error| message(path, &error))?;
            found.retain(|file| file.extension().is_some_and(|suffix| suffix == "json"));
            found.sort();
            files.append(&mut found);
        } else {
            files.push(path.clone());
        }
    }
    files.iter().map(|file| read_file(file)).collect()
}

fn read_file(path: &Path) -> Result<RemarkedColumn, String> {
    let text = fs::read_to_string(path).map_err(|error| message(path, &error))?;
    let column = Column::parse(&text).map_err(|error| message(path, &error))?;
    let remarks = fs::read_to_string(path.with_extension("md"));
    Ok(RemarkedColumn::new(column, remarks.unwrap_or_default()))
}

fn message(path: &Path, error: &dyn std::error::Error) -> String {
    format!("{}: {}", path.display(), crate::call::whole(error))
}

/// Returns the day, as `2026-11-26`.
#[expect(
    clippy::disallowed_methods,
    reason = "a record is of the day on which it was made"
)]
pub(super) fn today() -> String {
    Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// Returns the commit of the work tree in which this program runs, with `+` after it if there are changes.
pub(super) fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=9", "HEAD"]) else {
        return "unknown".to_owned();
    };
    match git(&["status", "--porcelain", "--untracked-files=no"]).as_deref() {
        Some("") => commit,
        _ => format!("{commit}+"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use fakeserver::cli::output::OutputArgs;

    use super::{output, read};
    use crate::score::{self, Arena, CONTESTANTS, Column, Conditions};
    use crate::seed::Seed;

    fn column(library: &str) -> Column {
        let scenarios: Vec<_> = score::scenarios()
            .into_iter()
            .filter(|scenario| ["nothing", "disconnect"].contains(&scenario.name))
            .collect();
        let deaf = CONTESTANTS[5];
        let board = score::run(&scenarios, &[deaf], &Arena::new(Seed::new(1), 1), |_| {});
        let circumstances = Conditions {
            library: library.to_owned(),
            version: "1.2".to_owned(),
            withholds: vec!["silent_gaps".to_owned()],
            date: "2026-11-26".to_owned(),
            commit: "abc".to_owned(),
            speed: 4,
            converge_within: 100,
            took: 250,
        };
        Column::of(&board, deaf.name, circumstances)
    }

    #[test]
    fn a_column_is_read_as_it_was_written_with_its_remarks() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (column("a"), column("b"));
        fs::write(folder.path().join("b.json"), second.to_json()).unwrap();
        fs::write(folder.path().join("a.json"), first.to_json()).unwrap();
        fs::write(folder.path().join("a.md"), "- It is deaf.\n").unwrap();
        let read = read(&[folder.path().to_owned()]).unwrap();
        let columns: Vec<_> = read.iter().map(|of| &of.column).collect();
        assert_eq!(columns, [&first, &second]);
        assert_eq!(
            (&*read[0].remarks, &*read[1].remarks),
            ("- It is deaf.\n", "")
        );
        let rows = score::scenarios();
        let board = score::run(&rows[..2], &[], &Arena::new(Seed::new(1), 1), |_| {});
        let text = score::others::to_markdown(&board.scenarios, &read);
        for line in [
            "| a | 1.2 | 2026-11-26 | abc | 4 | 100 s | 250 s | silent_gaps |",
            "| scenario | a | b |",
            "| `nothing` (baseline) | stale | stale |",
            "### a\n\n- It is deaf.",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        // The board has no such row.
        assert!(!text.contains("| `disconnect` (F1) |"), "{text}");
    }

    #[test]
    fn only_columns_are_replaced_without_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        let careful = OutputArgs { force: false };
        output(&path, careful).unwrap();
        fs::write(&path, column("x").to_json()).unwrap();
        assert!(output(&path, careful).unwrap().force);
        fs::write(&path, "{}").unwrap();
        let refused = output(&path, careful).unwrap_err();
        assert!(refused.ends_with("--force replaces it"), "{refused}");
        output(&path, OutputArgs { force: true }).unwrap();
        let refused = read(std::slice::from_ref(&path)).unwrap_err();
        assert!(refused.contains("it is no column"), "{refused}");
        fs::write(&path, column("x").to_json().replace("--record", "--json")).unwrap();
        assert!(read(&[path]).is_err());
    }
}
