//! The containers of pods, as a test scripts them.

use fakeserver_kinds::core::pod;

use super::{FakeServer, FakeServerBuilder};

use crate::{
    nodes::{ExecHandler, ExecOutput, ExecRequest, PodBackend},
    store::ObjectKey,
};

/// A line of a log that was not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteLogError {
    /// The server has no kubelets, which would run containers.
    #[error("the server runs no containers; build it with `Controllers::with_workloads`")]
    NoKubelets,
    /// The pod is not there.
    #[error("pods {name:?} not found in namespace {namespace:?}")]
    NoPod {
        /// The namespace that was looked in.
        namespace: String,
        /// The name that was looked for.
        name: String,
    },
    /// The pod has no such container.
    #[error("container {container:?} is not one of pod {pod:?}")]
    NoContainer {
        /// The name of the pod.
        pod: String,
        /// The name of the container.
        container: String,
    },
}

// === impl FakeServerBuilder ===

impl FakeServerBuilder {
    /// Answers commands that clients execute in containers by `answer`. If it returns `None`, the next such function is
    /// called; then the server runs the command, if it needs no process.
    ///
    /// The function is called for each command on a thread of the runtime: it must not block. Containers run in a
    /// server [with workloads](crate::Controllers::with_workloads).
    ///
    /// # Examples
    ///
    /// ```
    /// # use fakeserver_server as fakeserver;
    /// use fakeserver::{ExecOutput, FakeServer};
    ///
    /// let server = FakeServer::builder()
    ///     .with_exec(|request| match &*request.command[0] {
    ///         "pg_isready" => Some(ExecOutput::new("accepting connections\n")),
    ///         "psql" => Some(ExecOutput::default().with_stderr("no such table\n").with_exit_code(1)),
    ///         _ => None,
    ///     })
    ///     .build();
    /// # drop(server);
    /// ```
    #[doc(alias = "exec")]
    pub fn with_exec(
        mut self,
        answer: impl Fn(&ExecRequest) -> Option<ExecOutput> + Send + Sync + 'static,
    ) -> Self {
        self.containers.commands.push(ExecHandler::new(answer));
        self
    }

    /// Lets connections to pods with a label reach an address: port-forwards, and the proxies of pods and services. Of
    /// several that fit a pod the first counts. Without one a pod refuses connections.
    ///
    /// # Examples
    ///
    /// ```
    /// # use fakeserver_server as fakeserver;
    /// use fakeserver::FakeServer;
    ///
    /// let server = FakeServer::builder()
    ///     .with_pod_backend("app=web=127.0.0.1:3000".parse()?)
    ///     .build();
    /// # drop(server);
    /// # Ok::<(), fakeserver::PodBackendError>(())
    /// ```
    #[doc(alias = "port-forward")]
    pub fn with_pod_backend(mut self, backend: PodBackend) -> Self {
        self.containers.backends.push(backend);
        self
    }
}

// === impl FakeServer ===

impl FakeServer {
    /// Appends the lines of `text` to the log of a container, as if its process had written them to standard output.
    /// Clients that follow the log receive them at once.
    ///
    /// Followers of a terminated container's log receive nothing more, but later reads include the appended lines.
    ///
    /// # Errors
    ///
    /// The server [runs no pods](crate::Controllers::with_workloads), or has no such pod or container.
    ///
    /// # Memory
    ///
    /// A log keeps its last 256 KiB, and goes with its pod.
    ///
    /// # Examples
    ///
    /// ```
    /// # use fakeserver_server as fakeserver;
    /// use fakeserver::{FakeServer, WriteLogError};
    ///
    /// let server = FakeServer::builder().build();
    /// server.apply(&serde_json::json!({
    ///     "apiVersion": "v1",
    ///     "kind": "Pod",
    ///     "metadata": {"name": "web"},
    ///     "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
    /// }))?;
    /// // Only nodes run containers, and `Controllers::with_workloads` brings nodes.
    /// let written = server.write_log("default", "web", "nginx", "GET / 200\nGET /favicon.ico 404");
    /// assert_eq!(written, Err(WriteLogError::NoKubelets));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_log(
        &self,
        namespace: &str,
        pod: &str,
        container: &str,
        text: &str,
    ) -> Result<(), WriteLogError> {
        let backend = self.backend();
        let kubelets = backend.kubelets.as_ref();
        let kubelets = kubelets.ok_or(WriteLogError::NoKubelets)?;
        let key = ObjectKey::namespaced(pod::KIND.storage().clone(), namespace, pod);
        // The pod is not deleted meanwhile, so that its log is not left.
        backend.storage.view(|view| {
            let stored = view.get(&key).ok_or_else(|| WriteLogError::NoPod {
                namespace: namespace.to_owned(),
                name: pod.to_owned(),
            })?;
            let spec = &stored.to_value()["spec"];
            let lists =
                ["containers", "initContainers", "ephemeralContainers"].map(|list| &spec[list]);
            let mut all = lists
                .into_iter()
                .filter_map(|list| list.as_array())
                .flatten();
            if !all.any(|listed| listed["name"] == container) {
                return Err(WriteLogError::NoContainer {
                    pod: pod.to_owned(),
                    container: container.to_owned(),
                });
            }
            let now = backend.clock.now();
            kubelets.write_log(&key, container, now, text);
            Ok(())
        })
    }
}
