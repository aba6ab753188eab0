//! A fake server whose only objects are namespaces.

use fakeserver::FakeServer;
use serde_json::json;

/// Starts a server with the namespaces of every cluster, and nothing else.
pub(crate) fn only_namespaces() -> FakeServer {
    let namespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];
    let namespaces = namespaces
        .map(|name| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    FakeServer::builder()
        .with_bootstrap(false)
        .with_objects(&namespaces)
        .build()
}
