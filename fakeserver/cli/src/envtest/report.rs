//! The results of a command with each version.

use std::{
    ffi::OsString,
    fmt::{self, Display, Formatter},
    os::unix::process::ExitStatusExt as _,
    process::ExitCode,
    time::Duration,
};

use fakeserver_versions::KubernetesVersion;

use super::super::{command::Outcome, signals::Stop};

/// The results of the runs, one for each version.
#[derive(Debug)]
pub(super) struct Report {
    /// The command as its user has written it.
    command: String,
    versions: Vec<KubernetesVersion>,
    results: Vec<Run>,
    stop: Option<Stop>,
}

/// A run of the command.
#[derive(Clone, Copy, Debug)]
struct Run {
    outcome: Outcome,
    time: Duration,
}

// === impl Report ===

impl Report {
    /// Returns the report before the first run.
    pub(super) fn new(versions: Vec<KubernetesVersion>, command: &[OsString]) -> Self {
        let words: Vec<String> = command
            .iter()
            .map(|word| word.display().to_string())
            .collect();
        Self {
            command: words.join(" "),
            versions,
            results: Vec::new(),
            stop: None,
        }
    }

    /// Returns the version of the next run, and prints a heading if there are several; `None` after the last run, and once a signal
    /// has asked to stop.
    pub(super) fn begin(&self) -> Option<KubernetesVersion> {
        if self.stop.is_some() {
            return None;
        }
        let version = *self.versions.get(self.results.len())?;
        if self.versions.len() > 1 {
            // The other output is the command's.
            let (place, count) = (self.results.len() + 1, self.versions.len());
            eprintln!(
                "=== Kubernetes {version} ({place} of {count}): {}",
                self.command
            );
        }
        Some(version)
    }

    /// Adds a run.
    pub(super) fn add(&mut self, outcome: Outcome, time: Duration) {
        self.stop = self.stop.or(outcome.stop);
        self.results.push(Run { outcome, time });
    }

    /// Prints the table if there are several versions, and returns the status of the first run that failed.
    pub(super) fn end(&self) -> ExitCode {
        if self.versions.len() > 1 {
            eprint!("\n{self}");
        }
        let failed = self
            .results
            .iter()
            .find(|run| !run.outcome.status.success());
        match (failed, self.stop) {
            (Some(run), _) => run.outcome.exit_code(),
            (None, Some(stop)) if self.results.len() < self.versions.len() => stop.exit_code(),
            (None, _) => ExitCode::SUCCESS,
        }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "VERSION   RESULT                  TIME")?;
        for (place, version) in self.versions.iter().enumerate() {
            match self.results.get(place) {
                Some(run) => writeln!(f, "{version:<10}{run}")?,
                None => writeln!(f, "{version:<10}not run")?,
            }
        }
        Ok(())
    }
}

impl Display for Run {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let status = self.outcome.status;
        let result = match (status.success(), status.code(), status.signal()) {
            (true, ..) => "passed".to_owned(),
            (_, Some(code), _) => format!("failed with status {code}"),
            (_, None, Some(signal)) => format!("ended by signal {signal}"),
            (_, None, None) => "failed".to_owned(),
        };
        write!(f, "{result:<24}{:.1} s", self.time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;

    fn report(statuses: &[i32], stop: Option<Stop>) -> Report {
        let versions = KubernetesVersion::all().take(3).collect();
        let mut report = Report::new(versions, &["go".into(), "test".into()]);
        for (place, status) in statuses.iter().enumerate() {
            let is_last = place + 1 == statuses.len();
            let outcome = Outcome {
                status: ExitStatus::from_raw(*status),
                stop: stop.filter(|_| is_last),
            };
            report.add(outcome, Duration::from_millis(1_250 * (place as u64 + 1)));
        }
        report
    }

    #[test]
    fn a_table_has_the_result_and_the_time_of_each_version() {
        // In wait statuses the code stands in the second byte, and the signal in the first.
        let report = report(&[0, 3 << 8], Some(Stop::Interrupt));
        insta::assert_snapshot!(report, @"
        VERSION   RESULT                  TIME
        1.31.14   passed                  1.2 s
        1.32.13   failed with status 3    2.5 s
        1.33.13   not run
        ");
        assert_eq!(report.begin(), None);
        assert_eq!(report.end(), ExitCode::from(3));
    }

    #[test]
    fn the_status_is_that_of_the_first_failure() {
        assert_eq!(report(&[0, 0, 0], None).end(), ExitCode::SUCCESS);
        assert_eq!(report(&[0, 9, 1 << 8], None).end(), ExitCode::from(128 + 9));
        // Versions that a signal has left out are not passed.
        assert_eq!(
            report(&[0], Some(Stop::Terminate)).end(),
            ExitCode::from(128 + 15)
        );
        assert_eq!(
            report(&[0, 0, 0], Some(Stop::Terminate)).end(),
            ExitCode::SUCCESS
        );
    }

    #[test]
    fn versions_run_in_their_order() {
        assert_eq!(report(&[0], None).begin(), KubernetesVersion::all().nth(1));
        assert_eq!(report(&[0, 0, 0], None).begin(), None);
    }
}
