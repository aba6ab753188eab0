//! The nodes of a server: the controllers of workloads and the containers of pods, behind the interface of the server.

use std::sync::Arc;

use axum::{body::Body, response::Response};
use fakeserver_kinds::metrics::usage::ScriptedContainers;
use fakeserver_server::{
    controllers::controller::{Controller, WorkloadControllers},
    kubelets::Kubelets,
    nodes::{ContainerOptions, Nodes, WorkloadOptions},
    store::{Change, ChangeSink, ObjectKey},
    verbs::{Api, KubeletApi, LogOptions, Request, Verb},
};
use fakeserver_value::status::Status;
use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    containers::{Containers, OutputStream},
    kubelet_api,
    workloads::{self, Workloads},
};

/// The nodes of one server.
#[derive(Debug)]
struct WorkloadNodes {
    options: Workloads,
    containers: Arc<Containers>,
}

// === impl Workloads ===

impl WorkloadOptions for Workloads {
    fn serves_metrics(&self) -> bool {
        Self::serves_metrics(self)
    }

    fn nodes(&self, containers: ContainerOptions, stop: &CancellationToken) -> Arc<dyn Nodes> {
        Arc::new(WorkloadNodes {
            options: self.clone(),
            containers: Arc::new(Containers::new(containers, stop)),
        })
    }
}

// === impl WorkloadNodes ===

impl WorkloadControllers for WorkloadNodes {
    fn controllers(&self) -> Vec<Box<dyn Controller>> {
        workloads::controllers(&self.options, &self.containers)
    }
}

impl KubeletApi for WorkloadNodes {
    fn log(
        &self,
        api: &Api,
        request: &Request<'_>,
        pod: &Value,
        container: &str,
        options: &LogOptions,
    ) -> Result<Response, Status> {
        kubelet_api::log(api, request, &self.containers, pod, container, options)
    }

    fn connect(
        &self,
        api: &Api,
        request: &Request<'_>,
        pod: &Value,
        container: &str,
    ) -> Result<Response, Status> {
        kubelet_api::connect(api, request, &self.containers, pod, container)
    }

    fn proxy<'a>(
        &'a self,
        api: &'a Api,
        request: &'a Request<'a>,
        verb: Verb,
        body: Body,
    ) -> BoxFuture<'a, Result<Response, Status>> {
        Box::pin(kubelet_api::proxy(
            api,
            request,
            verb,
            &self.containers,
            body,
        ))
    }
}

impl Kubelets for WorkloadNodes {
    fn address(&self, pod: &Value) -> Result<String, String> {
        self.containers.address(pod)
    }

    fn has_backends(&self) -> bool {
        self.containers.has_backends()
    }

    fn usage(&self, pod: &ObjectKey, at: Timestamp) -> ScriptedContainers {
        self.containers.usage(pod, at)
    }

    fn write_log(&self, pod: &ObjectKey, container: &str, at: Timestamp, text: &str) {
        self.containers
            .write(pod, container, OutputStream::Stdout, at, text);
    }

    fn disconnect(&self) {
        self.containers.disconnect();
    }
}

impl ChangeSink for WorkloadNodes {
    fn changed(&self, change: &Arc<Change>) {
        self.containers.changed(change);
    }

    fn reset(&self) {
        self.containers.reset();
    }
}
