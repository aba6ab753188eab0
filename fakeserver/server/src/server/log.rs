//! A server whose state is in a commit log outside of the process.

use std::{convert::Infallible, sync::Arc};

use super::{
    BuildError, FakeServerBuilder,
    assembly::Server,
    bootstrap::{add_accounts, add_namespaces},
};
use crate::store::{CommitError, CommitLog, LogError, LogSource, Transaction};

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Keeps the state in a log outside of the process, such as etcd, with any number of other servers: see
    /// `fakeserver::docs::etcd`. The server has threads of its own for it, and runs on real time.
    ///
    /// It begins with the state of the log. Initial objects are created if they are absent, and then the objects of this builder
    /// are loaded. Uids and names are random, whatever the [seed](Self::with_seed).
    ///
    /// Not with a [snapshot](Self::with_snapshot), a [data file](Self::with_data_file) or a [simulated
    /// cluster](Self::with_cluster).
    pub fn with_etcd(mut self, log: impl LogSource + 'static) -> Self {
        self.log = Some(Arc::new(log));
        self
    }

    /// Sets whether the controllers run in only one of the servers that have a [log](Self::with_etcd) in common: the holder of the
    /// lease `fakeserver-controllers` in `kube-system`. By default they do. Without, they run in this server in any case.
    pub fn with_elected_controllers(mut self, are_elected: bool) -> Self {
        self.elects = are_elected;
        self
    }

    /// Opens the log, if there is one, which then gives the seed.
    pub(super) fn open_log(&mut self) -> Result<Option<Arc<dyn CommitLog>>, BuildError> {
        let Some(source) = &self.log else {
            return Ok(None);
        };
        let excluded = [
            (self.snapshot.is_some(), "a snapshot"),
            (self.data_file.is_some(), "a data file"),
            (self.cluster.is_some(), "a simulated cluster"),
        ];
        if let Some((_, option)) = excluded.into_iter().find(|(is_set, _)| *is_set) {
            return Err(BuildError::NotWithLog(option));
        }
        let log = source.open()?;
        // Servers of one log would draw the same uids from the same seed.
        self.seed = log.seed();
        Ok(Some(log))
    }
}

// === impl Server ===

impl Server {
    /// Follows `log`, and adds the initial objects that its state lacks, as a starting API server does.
    ///
    /// # Errors
    ///
    /// The log cannot be reached, or its state cannot be read.
    pub(super) fn join(&self, log: &Arc<dyn CommitLog>) -> Result<(), LogError> {
        let backend = self.backend();
        backend.join(self.initial_state.kubernetes, log)?;
        self.adopt_service_range()?;
        if self.initial_state.bootstraps {
            self.commit(|tx| {
                // In the order of a real server: namespaces before accounts, which are in them.
                add_namespaces(backend, tx);
                if backend.awaits_accounts() {
                    add_accounts(backend, tx);
                }
                self.update_initial_objects(tx);
            })?;
        }
        self.reset_counts();
        Ok(())
    }

    /// Runs `work` with the store locked, in a log repeatedly, and commits its writes.
    pub(super) fn commit(
        &self,
        mut work: impl FnMut(&mut Transaction<'_>),
    ) -> Result<(), LogError> {
        let storage = &self.backend().storage;
        let done = storage.commit_blocking(|tx| {
            work(tx);
            Ok::<_, Infallible>(())
        });
        match done {
            Ok(_) => Ok(()),
            Err(CommitError::Log(error)) => Err(error),
            Err(CommitError::Rejected(never)) => match never {},
        }
    }
}
