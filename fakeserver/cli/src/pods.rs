//! Pods of the cluster itself, and addresses that stand for pods, on the command line.

use clap::Args;
use fakeserver_server::{FakeServerBuilder, PodBackend};

use super::controllers::ControllersChoice;

#[derive(Debug, Args)]
pub(super) struct PodOptions {
    /// Address that stands for the pods with a label, as in `app=web=127.0.0.1:3000`
    ///
    /// Repeated for several. Connections to such pods reach it, whatever their port: `kubectl port-forward`, and the proxies of
    /// pods and services. It needs `--controllers workloads`, which runs pods.
    #[arg(long, value_name = "LABEL=VALUE=HOST:PORT")]
    pod_backend: Vec<PodBackend>,

    /// Run the pods of a cluster's own components in `kube-system`: `coredns`, `kube-proxy`, and those of the control plane
    ///
    /// It needs `--controllers workloads`, which runs pods.
    #[arg(long)]
    system_pods: bool,

    /// Serve no `metrics.k8s.io`, as a cluster without a metrics server
    ///
    /// It needs `--controllers workloads`, which serves it.
    #[arg(long)]
    no_metrics: bool,
}

// === impl PodOptions ===

impl PodOptions {
    /// Adds the pods of the cluster itself to the controllers, and leaves metrics out, if that is asked for.
    pub(super) fn controllers(
        &self,
        controllers: ControllersChoice,
    ) -> Result<ControllersChoice, String> {
        let flag = match (self.system_pods, self.no_metrics) {
            (true, _) => "--system-pods",
            (false, true) => "--no-metrics",
            (false, false) => return Ok(controllers),
        };
        let missing = || format!("{flag}: no pod runs here; add `--controllers workloads`");
        controllers.with_workloads(missing, |workloads| {
            workloads
                .with_system_pods(self.system_pods)
                .with_metrics(!self.no_metrics)
        })
    }

    pub(super) fn configure(
        &self,
        builder: FakeServerBuilder,
        controllers: &ControllersChoice,
    ) -> Result<FakeServerBuilder, String> {
        if let Some(backend) = self.pod_backend.first()
            && controllers.workloads.is_none()
        {
            return Err(format!(
                "--pod-backend {backend}: no pod runs here; add `--controllers workloads`"
            ));
        }
        let backends = self.pod_backend.iter().cloned();
        Ok(backends.fold(builder, FakeServerBuilder::with_pod_backend))
    }
}
