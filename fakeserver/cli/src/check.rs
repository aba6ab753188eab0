//! `fakeserver check PATH...`: manifests, created in servers of some versions of Kubernetes.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Args, ValueEnum};
use fakeserver_check::{
    CheckOptions, CheckReport, ManifestSet, Severity, check,
    report::{self, TextStyle},
};
use fakeserver_versions::{KubernetesVersion, VersionRange};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{kubernetes_version::VARIABLE, say, terminal::width, with_sources};

/// The status for what cannot be read, as for a wrong command line.
pub(super) const TROUBLE: u8 = 2;
/// The number of manifests from which on a bar is drawn.
const LONG: usize = 200;

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 if there is no error, 1 if there are errors, 2 if a path cannot be read.\n\n\
        Examples:\n  \
        fakeserver check deploy/\n  \
        kustomize build overlays/prod | fakeserver check -\n  \
        helm template chart/ | fakeserver check --kubernetes-version 1.34..1.37 -\n  \
        fakeserver check --warnings-as-errors -o sarif crds/ deploy/ > check.sarif"
)]
pub(super) struct Options {
    /// Files of any name, folders of which all files *.yaml, *.yml and *.json are read, and `-` for the standard input.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(super) manifests: ManifestOptions,

    /// Versions of Kubernetes to check against: `1.35`, `latest-1`, or a range, `1.34..1.37`. It can be repeated
    #[arg(long, value_name = "VERSIONS", env = VARIABLE, default_values_t = [VersionRange::from(KubernetesVersion::DEFAULT)])]
    kubernetes_version: Vec<VersionRange>,

    /// The form of the report.
    #[arg(long, short, value_enum, value_name = "FORM", default_value_t)]
    output: Form,

    /// Treat warnings as errors: deprecated APIs, and what the server warns about.
    #[arg(long)]
    warnings_as_errors: bool,
}

/// Options for reading manifests as objects of a cluster.
#[derive(Debug, Args)]
pub(super) struct ManifestOptions {
    /// The namespace of objects that name none.
    #[arg(long, short, value_name = "NAME", default_value = "default")]
    namespace: String,

    /// Leave out custom resources that no manifest defines; without it each is an error.
    #[arg(long)]
    ignore_missing_definitions: bool,
}

/// A form of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Lines for people, by file
    #[default]
    Text,
    /// One JSON object
    Json,
    /// XML of test cases, one an object, as `JUnit` writes it
    Junit,
    /// SARIF 2.1.0, which code hosts show beside the lines of a change
    Sarif,
}

/// Checks, prints the report, and returns the status.
pub(super) async fn run(options: &Options) -> Result<ExitCode, String> {
    let set = ManifestSet::read(&options.paths, &mut io::stdin());
    let is_unread = report_unread(&set);
    let ranges = options.kubernetes_version.iter();
    let versions = ranges.flat_map(|range| range.versions());
    let bar = progress_bar(&set);
    let report = check(&set, &options.manifests.options(versions), &|done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    })
    .await;
    bar.finish_and_clear();
    say(&options.text(&report))?;
    let count = |severity| report.count(severity);
    let is_failed =
        count(Severity::Error) > 0 || (options.warnings_as_errors && count(Severity::Warning) > 0);
    Ok(if is_unread {
        ExitCode::from(TROUBLE)
    } else if is_failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Prints the paths that could not be read, and returns whether there are any.
pub(super) fn report_unread(set: &ManifestSet) -> bool {
    for error in set.errors() {
        eprintln!("error: {}", with_sources(error));
    }
    !set.errors().is_empty()
}

/// Returns a bar, which is drawn on a terminal if the work is long.
fn progress_bar(set: &ManifestSet) -> ProgressBar {
    let is_drawn = set.len() >= LONG && io::stderr().is_terminal();
    let target = if is_drawn {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} manifests {elapsed}");
    ProgressBar::with_draw_target(None, target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Returns the style of text on the standard output.
pub(super) fn style() -> TextStyle {
    if io::stdout().is_terminal() {
        TextStyle::terminal(width())
    } else {
        TextStyle::plain()
    }
}

// === impl Options ===

impl Options {
    fn text(&self, report: &CheckReport) -> String {
        match self.output {
            Form::Text => report::text(report, style()),
            Form::Json => report::json(report),
            Form::Junit => report::junit(report, self.warnings_as_errors),
            Form::Sarif => report::sarif(report, env!("CARGO_PKG_VERSION")),
        }
    }
}

// === impl ManifestOptions ===

impl ManifestOptions {
    /// Returns the options of a check against these versions.
    pub(super) fn options(
        &self,
        versions: impl IntoIterator<Item = KubernetesVersion>,
    ) -> CheckOptions {
        CheckOptions::new(versions)
            .with_namespace(&*self.namespace)
            .with_missing_definitions_ignored(self.ignore_missing_definitions)
    }
}
