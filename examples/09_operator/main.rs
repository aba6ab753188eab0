//! An operator with a resource of its own, as the tutorial of the book builds it, and its tests.
//!
//! ```console
//! $ cargo test -p examples --example 09_operator            # its tests, against servers in the process
//! $ cargo run -p examples --example 09_operator -- --crd    # prints the definition of the resource
//! $ cargo run -p examples --example 09_operator             # works for the cluster of the kubeconfig, until Ctrl-C
//! ```

mod operator;
#[cfg(test)]
mod tests;
mod website;

use std::error::Error;

use kube::CustomResourceExt as _;
use tokio_util::sync::CancellationToken;

use self::website::Website;

type AnyError = Box<dyn Error + Send + Sync>;

// ANCHOR: main
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AnyError> {
    if std::env::args().any(|argument| argument == "--crd") {
        println!("{}", serde_json::to_string_pretty(&Website::crd())?);
        return Ok(());
    }
    let client = informer::http::client(kube::Config::infer().await?)?;
    let stop = CancellationToken::new();
    let signal = async {
        tokio::signal::ctrl_c().await?;
        stop.cancel();
        Ok(())
    };
    tokio::try_join!(operator::run(client, stop.clone()), signal)?;
    Ok(())
}
// ANCHOR_END: main
