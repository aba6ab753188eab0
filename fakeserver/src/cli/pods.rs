//! Addresses that stand for pods, on the command line.

use clap::Args;

use crate::{Controllers, FakeServerBuilder, PodBackend};

#[derive(Debug, Args)]
pub(super) struct PodOptions {
    /// Address that stands for the pods with a label, as in `app=web=127.0.0.1:3000`
    ///
    /// Repeated for several. Connections to such pods reach it, whatever their port: `kubectl port-forward`, and the proxies of
    /// pods and services. It needs `--controllers workloads`, which runs pods.
    #[arg(long, value_name = "LABEL=VALUE=HOST:PORT")]
    pod_backend: Vec<PodBackend>,
}

// === impl PodOptions ===

impl PodOptions {
    pub(super) fn configure(
        &self,
        builder: FakeServerBuilder,
        controllers: &Controllers,
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
