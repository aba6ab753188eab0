//! The admission plugins, on the command line.

use clap::Args;
use fakeserver_server::{AdmissionPlugins, FakeServerBuilder};

#[derive(Debug, Args)]
pub(super) struct AdmissionOptions {
    /// Admission plugins to turn on: a list of names of kube-apiserver's, as in `ServiceAccount`; can be repeated.
    ///
    /// On by default are those of kube-apiserver, but for `ServiceAccount`, which refuses all pods of a namespace without
    /// service accounts.
    #[arg(long, value_name = "LIST")]
    enable_admission_plugins: Vec<String>,

    /// Admission plugins to turn off, even if `--controllers` turns them on; can be repeated.
    #[arg(long, value_name = "LIST")]
    disable_admission_plugins: Vec<String>,

    /// Let containers be privileged.
    #[arg(long)]
    allow_privileged: bool,
}

// === impl AdmissionOptions ===

impl AdmissionOptions {
    pub(super) fn configure(&self, builder: FakeServerBuilder) -> FakeServerBuilder {
        builder
            .with_admission(self.plugins())
            .with_privileged_containers(self.allow_privileged)
    }

    fn plugins(&self) -> AdmissionPlugins {
        AdmissionPlugins::default()
            .with_enabled(names(&self.enable_admission_plugins))
            .with_disabled(names(&self.disable_admission_plugins))
    }

    /// Says on stderr which of the plugins do nothing here.
    pub(super) fn warn(&self) {
        for name in self.plugins().without_effect() {
            eprintln!("warning: the admission plugin {name} has no effect here");
        }
    }
}

/// Returns the names in comma lists. An empty list has none.
fn names(lists: &[String]) -> impl Iterator<Item = &str> {
    let lists = lists.iter().filter(|list| !list.is_empty());
    lists.flat_map(|list| list.split(','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_repeated_and_may_be_empty() {
        let lists = ["", "A,B", "C"].map(str::to_owned);
        assert_eq!(names(&lists).collect::<Vec<_>>(), ["A", "B", "C"]);
    }
}
