//! `fakeserver diff OLD NEW`: what a server changes when new manifests are applied over old ones.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;
use fakeserver_check::{
    ManifestSet, STDIN, Severity, diff,
    report::{TextStyle, finding_lines},
};

use super::{
    check::{ManifestOptions, TROUBLE, report_unread},
    kubernetes_version::KubernetesOptions,
    say,
    terminal::width,
};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 if nothing changes, 1 if something does, 2 if a manifest cannot be read or applied.\n\n\
        Examples:\n  \
        fakeserver diff deploy/ new/\n  \
        git show main:deploy.yaml | fakeserver diff - deploy.yaml\n  \
        fakeserver diff <(helm template chart/ --version 1) <(helm template chart/ --version 2)"
)]
pub(super) struct Options {
    /// The manifests that are there: a file, a folder, or `-` for the standard input.
    old: PathBuf,

    /// The manifests that are applied over them.
    new: PathBuf,

    #[command(flatten)]
    manifests: ManifestOptions,

    #[command(flatten)]
    kubernetes: KubernetesOptions,
}

/// Compares, prints the differences, and returns the status.
pub(super) async fn run(options: &Options) -> Result<ExitCode, String> {
    let (old, new) = (&options.old, &options.new);
    if old.as_os_str() == STDIN && new.as_os_str() == STDIN {
        eprintln!("error: the standard input can be one side only");
        return Ok(ExitCode::from(TROUBLE));
    }
    let read = |path: &PathBuf| ManifestSet::read(std::slice::from_ref(path), &mut io::stdin());
    let (old, new) = (read(old), read(new));
    let is_unread = report_unread(&old) | report_unread(&new);
    if is_unread {
        return Ok(ExitCode::from(TROUBLE));
    }
    let version = options.kubernetes.kubernetes_version;
    let report = diff(&old, &new, &options.manifests.options([version])).await;
    let stderr = io::stderr();
    let style = if stderr.is_terminal() {
        TextStyle::terminal(width())
    } else {
        TextStyle::plain()
    };
    eprint!("{}", finding_lines(&report.findings, &[version], style));
    let text = report.text();
    say(&if io::stdout().is_terminal() {
        coloured(&text)
    } else {
        text
    })?;
    let is_refused = report
        .findings
        .iter()
        .any(|finding| finding.severity() == Severity::Error);
    Ok(if is_refused {
        ExitCode::from(TROUBLE)
    } else if report.objects.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Colours the lines of unified diffs.
fn coloured(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let code = match line.as_bytes().first() {
            _ if line.starts_with("---") || line.starts_with("+++") => "1",
            Some(b'-') => "31",
            Some(b'+') => "32",
            Some(b'@') => "36",
            _ => return format!("{line}\n"),
        };
        format!("\x1b[{code}m{line}\x1b[0m\n")
    });
    lines.collect()
}
