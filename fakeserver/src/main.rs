//! The program: a fake API server for any client, over TCP.

use std::process::ExitCode;

fn main() -> ExitCode {
    fakeserver::cli::main()
}
