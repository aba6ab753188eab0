//! The program: a fake API server for any client, over TCP.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A write makes and drops hundreds of small things: a fifth of its time is the allocator's.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    fakeserver::cli::main()
}
