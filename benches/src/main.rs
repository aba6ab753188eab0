//! The benchmarks' program.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    benches::main().await
}
