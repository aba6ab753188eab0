//! The benchmarks' program.

use std::process::ExitCode;

fn main() -> ExitCode {
    benches::main()
}
