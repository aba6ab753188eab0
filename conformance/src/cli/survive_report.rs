//! The folder of a report of `survive`, in which nothing of others is replaced.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::survive_pages::{INDEX, REFERENCE};

/// The file by which a report is known to be ours.
pub(super) const REPORT: &str = "report.json";

/// Fails if the folder of the report holds files of others.
pub(super) fn check_report(folder: &Path, force: bool) -> Result<(), String> {
    let entries = entries(folder);
    let has_foreign = entries.iter().any(|path| !is_of_report(path));
    // The output of a reference that failed is alone.
    let is_output = |path: &PathBuf| path.file_name().is_some_and(|name| name == "0000.log");
    let is_report = entries.iter().all(is_output) || folder.join(REPORT).exists();
    if (has_foreign || !is_report) && !force {
        return Err(format!(
            "{} holds other files than a report's; choose another --report, or --force to put one among them",
            folder.display()
        ));
    }
    Ok(())
}

/// Makes the folder of the report, and removes the files of an earlier one.
pub(super) fn empty_report(folder: &Path) -> Result<(), String> {
    let failed = |error| format!("cannot write the report to {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for path in entries(folder).iter().filter(|path| is_of_report(path)) {
        fs::remove_file(path).map_err(failed)?;
    }
    Ok(())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Returns whether a file has one of the names of a report's.
fn is_of_report(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let numbered = name
        .split('.')
        .next()
        .is_some_and(|stem| stem.len() == 4 && stem.bytes().all(|byte| byte.is_ascii_digit()));
    matches!(name, REPORT | REFERENCE | INDEX | "junit.xml") || numbered
}
