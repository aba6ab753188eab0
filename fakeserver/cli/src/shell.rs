//! `fakeserver completions` and `fakeserver man`: what shells and readers of manual pages want of a command line.

use std::{fs, path::PathBuf, process::ExitCode};

use clap::Args;
use clap_complete::Shell;

use super::{command, output::OutputArgs, say};

#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct Man {
    /// Write a page for the program and one for each command into this folder, which is made if it is not there; without it the
    /// page of the program is printed.
    dir: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Prints the completions of a shell.
pub(super) fn completions(options: &Completions) -> Result<ExitCode, String> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command(), "fakeserver", &mut script);
    say(&String::from_utf8_lossy(&script))
}

/// Prints the manual page, or writes all pages.
pub(super) fn man(options: &Man) -> Result<ExitCode, String> {
    let mut program = command();
    program.build();
    let Some(folder) = &options.dir else {
        return say(&page(program)?);
    };
    if fs::metadata(folder).is_ok_and(|found| !found.is_dir()) {
        let folder = folder.display();
        return Err(format!("man {folder}: it is a file; name a folder"));
    }
    let mut pages = vec![("fakeserver.1".to_owned(), page(program.clone())?)];
    let own = |command: &&clap::Command| command.get_name() != "help";
    for command in program.get_subcommands().filter(own) {
        if let Some(name) = command.get_display_name() {
            pages.push((format!("{name}.1"), page(command.clone())?));
        }
    }
    let files: Vec<PathBuf> = pages.iter().map(|(name, _)| folder.join(name)).collect();
    fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    options.output.check(files.iter().map(PathBuf::as_path))?;
    for (file, (_, page)) in files.iter().zip(&pages) {
        options.output.write(file, page.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the page of a command in roff.
fn page(command: clap::Command) -> Result<String, String> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command).render(&mut page);
    rendered.map_err(|error| format!("no manual page: {error}"))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
