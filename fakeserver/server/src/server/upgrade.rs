//! Moves a running server to another version of Kubernetes.

use std::error::Error;

use fakeserver_versions::KubernetesVersion;
use serde::Serialize;
use tracing::{info, warn};

use super::{FakeServer, assembly::Server, unread_objects::UnreadObjects};

/// A change of the version of Kubernetes of a running server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Upgrade {
    /// The release before: `1.36.2`.
    pub from: String,
    /// The release now.
    pub to: String,
    /// The objects that the new version does not read, or not whole.
    #[serde(flatten)]
    pub unread: UnreadObjects,
}

// === impl Server ===

impl Server {
    /// Serves another version of Kubernetes from now on.
    pub(super) fn upgrade(&self, to: KubernetesVersion) -> Upgrade {
        let backend = self.backend();
        let from = backend.registry().kubernetes();
        if to != from {
            // One transaction: a request finds the old version with the old objects, or the new one with the new ones.
            let updated = self.commit(|tx| {
                backend.serve_version(to);
                self.update_initial_objects(tx);
            });
            if let Err(error) = updated {
                // Nor does a real server end if it cannot write them.
                let error = &error as &dyn Error;
                warn!(error, "initial objects not updated");
            }
            info!(%from, %to, "server upgraded");
            if let Some(trace) = &self.logs.trace {
                trace.say(&format!("the server was upgraded from {from} to {to}"));
            }
        }
        Upgrade {
            from: from.to_string(),
            to: to.to_string(),
            unread: UnreadObjects::find(backend),
        }
    }
}

// === impl FakeServer ===

impl FakeServer {
    /// Serves another version of Kubernetes from now on, newer or older: its resources, fields, discovery, OpenAPI, tables,
    /// feature gates and initial objects, as after an upgrade of the control plane. Returns what the new version does not read.
    ///
    /// Each request is answered by one version from its start to its end, and so is each watch: open watches go on in the
    /// version in which they began, until their timeout. The watches of resources that the new version does not serve end,
    /// with what was queued for them.
    ///
    /// Objects stay as they are stored, as in etcd. What the new version does not serve is there again after the next
    /// upgrade. A field that it does not know is not shown, and is lost when the object is written.
    ///
    /// Roles, bindings, API services, flow schemas and priority levels are added and updated as by a server that starts,
    /// unless they were taken over by a client. A [reset](Self::reset) goes back to the version of the builder.
    ///
    /// # Memory
    ///
    /// The tables of each version that was served stay in the process. From the first upgrade on, each object is decoded when
    /// it is read.
    ///
    /// # Examples
    ///
    /// ```
    /// # use fakeserver_server as fakeserver;
    /// use fakeserver::{FakeServer, KubernetesVersion};
    ///
    /// let server = FakeServer::builder().with_kubernetes_version("1.35".parse()?).build();
    /// let upgrade = server.upgrade("1.36".parse()?);
    /// assert_eq!((&*upgrade.from, &*upgrade.to), ("1.35.6", "1.36.2"));
    /// assert!(upgrade.unread.is_empty());
    /// assert_eq!(server.kubernetes_version(), KubernetesVersion::DEFAULT);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "downgrade")]
    pub fn upgrade(&self, version: KubernetesVersion) -> Upgrade {
        self.server.upgrade(version)
    }
}
