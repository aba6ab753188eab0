//! The operators by their names.

use informer::{controller::Runnable, manager::Manager};
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::{bundle, directory, fleet, janitor, kit::AnyError, registry, ticket, updater};

/// An operator. All but the bundle's are run by a manager of `informer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Bundle,
    Directory,
    Fleet,
    Janitor,
    Registry,
    Ticket,
    Updater,
}

// === impl Operator ===

impl Operator {
    pub(crate) const ALL: [Self; 7] = [
        Self::Bundle,
        Self::Directory,
        Self::Fleet,
        Self::Janitor,
        Self::Registry,
        Self::Ticket,
        Self::Updater,
    ];

    pub(crate) fn find(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|operator| operator.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bundle => "bundle",
            Self::Directory => "directory",
            Self::Fleet => "fleet",
            Self::Janitor => "janitor",
            Self::Registry => "registry",
            Self::Ticket => "ticket",
            Self::Updater => "updater",
        }
    }

    /// Works until it is told to stop, or dropped.
    pub(crate) async fn run(
        self,
        client: Client,
        is_buggy: bool,
        stop: CancellationToken,
    ) -> Result<(), AnyError> {
        let Some(controller) = self.controller(is_buggy) else {
            let work = bundle::run(client, is_buggy);
            stop.run_until_cancelled(work).await;
            return Ok(());
        };
        let manager = Manager::new(client).with_controller(controller);
        Ok(manager.run(stop).await?)
    }

    fn controller(self, is_buggy: bool) -> Option<Runnable> {
        Some(match self {
            Self::Bundle => return None,
            Self::Directory => directory::controller(is_buggy),
            Self::Fleet => fleet::controller(is_buggy),
            Self::Janitor => janitor::controller(is_buggy),
            Self::Registry => registry::controller(is_buggy),
            Self::Ticket => ticket::controller(is_buggy),
            Self::Updater => updater::controller(is_buggy),
        })
    }
}
