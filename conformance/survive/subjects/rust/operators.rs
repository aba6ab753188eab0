//! The operators by their names.

use informer::manager::Manager;
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::{
    bundle, directory, fleet, janitor, kit::AnyError, lighthouse, registry, ticket, updater,
};

/// An operator. All but the bundle's are run by managers of `informer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Bundle,
    Directory,
    Fleet,
    Janitor,
    Lighthouse,
    Registry,
    Ticket,
    Updater,
}

// === impl Operator ===

impl Operator {
    pub(crate) const ALL: [Self; 8] = [
        Self::Bundle,
        Self::Directory,
        Self::Fleet,
        Self::Janitor,
        Self::Lighthouse,
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
            Self::Lighthouse => "lighthouse",
            Self::Registry => "registry",
            Self::Ticket => "ticket",
            Self::Updater => "updater",
        }
    }

    /// Works until it is stopped or dropped. The identity is that of the replica, in elections.
    pub(crate) async fn run(
        self,
        client: Client,
        identity: String,
        is_buggy: bool,
        stop: CancellationToken,
    ) -> Result<(), AnyError> {
        let controller = match self {
            Self::Bundle => {
                let work = bundle::run(client, is_buggy);
                stop.run_until_cancelled(work).await;
                return Ok(());
            }
            Self::Lighthouse => {
                let work = lighthouse::run(client, &identity, is_buggy);
                return stop.run_until_cancelled(work).await.unwrap_or(Ok(()));
            }
            Self::Directory => directory::controller(is_buggy),
            Self::Fleet => fleet::controller(is_buggy),
            Self::Janitor => janitor::controller(is_buggy),
            Self::Registry => registry::controller(is_buggy),
            Self::Ticket => ticket::controller(is_buggy),
            Self::Updater => updater::controller(is_buggy),
        };
        let manager = Manager::new(client).with_controller(controller);
        Ok(manager.run(stop).await?)
    }
}
