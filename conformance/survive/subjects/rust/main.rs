//! Operators in Rust, each with a seeded bug that `--buggy` turns on. They are subjects of `conformance survive`.
//!
//! ```console
//! $ cargo build -p examples --example survive_subjects
//! $ cd conformance/survive/subjects/rust
//! $ conformance survive --crds ticket/crd.yaml --workload ticket/survive.yaml -- survive_subjects ticket --buggy
//! ```

mod bundle;
mod directory;
mod janitor;
mod kit;
mod registry;
mod ticket;
mod updater;

use informer::manager::Manager;

use self::kit::AnyError;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AnyError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_buggy = arguments.iter().any(|argument| argument == "--buggy");
    let controller = match arguments.first().map(String::as_str) {
        Some("bundle") => bundle::controller(is_buggy),
        Some("directory") => directory::controller(is_buggy),
        Some("janitor") => janitor::controller(is_buggy),
        Some("registry") => registry::controller(is_buggy),
        Some("ticket") => ticket::controller(is_buggy),
        Some("updater") => updater::controller(is_buggy),
        other => return Err(format!("there is no operator {other:?}").into()),
    };
    let client = informer::http::client(kube::Config::infer().await?)?;
    let manager = Manager::new(client).with_controller(controller);
    manager.run_until_signal().await?;
    Ok(())
}
