//! Operators in Rust, each with a seeded bug that `--buggy` turns on. They are subjects of `conformance survive`, as a command or
//! in process.
//!
//! ```console
//! $ cargo build -p examples --example survive_subjects
//! $ cd conformance/survive/subjects/rust
//! $ conformance survive --crds ticket/crd.yaml --workload ticket/survive.yaml -- survive_subjects ticket --buggy
//! $ survive_subjects ticket --buggy --in-process --families crash,lost-answer
//! ```

mod bundle;
mod directory;
mod fleet;
mod in_process;
mod janitor;
mod kit;
mod lighthouse;
mod operators;
mod registry;
#[cfg(test)]
mod tests;
mod ticket;
mod updater;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

use self::{kit::AnyError, operators::Operator};

fn main() -> Result<ExitCode, AnyError> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let name = arguments.first().map_or("", String::as_str);
    let operator = Operator::find(name).ok_or_else(|| format!("there is no operator {name:?}"))?;
    let is_buggy = arguments.iter().any(|argument| argument == "--buggy");
    if arguments.iter().any(|argument| argument == "--in-process") {
        return in_process::run(operator, is_buggy, &arguments);
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(command(operator, is_buggy))?;
    Ok(ExitCode::SUCCESS)
}

/// Works for the cluster of the kubeconfig until the process is asked to end.
async fn command(operator: Operator, is_buggy: bool) -> Result<(), AnyError> {
    let client = informer::http::client(kube::Config::infer().await?)?;
    let stop = CancellationToken::new();
    let mut signals = signal(SignalKind::terminate())?;
    let work = operator.run(client, identity()?, is_buggy, stop.clone());
    let mut work = std::pin::pin!(work);
    tokio::select! {
        ended = &mut work => return ended,
        _ = signals.recv() => stop.cancel(),
    }
    work.await
}

/// Returns the name of this copy: that of its folder, so that one that is started again has the name that it had, as in a stateful
/// set.
fn identity() -> Result<String, AnyError> {
    let kubeconfig = PathBuf::from(env::var_os("KUBECONFIG").ok_or("KUBECONFIG is not set")?);
    let folder = kubeconfig.parent().and_then(Path::file_name);
    let name = folder.ok_or("KUBECONFIG names no file in a folder")?;
    Ok(name.to_string_lossy().into_owned())
}
