//! The benchmarks with small parameters, so that they cannot rot. Durations are not looked at.

use std::process::Command;

#[test]
fn sync_runs_every_side_and_checks_its_answer() {
    let output = Command::new(env!("CARGO_BIN_EXE_benches"))
        .args(["sync", "--pods", "60", "--rounds", "1"])
        .output()
        .unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{stderr}");
    for side in [
        "informer, paged list",
        "informer, streaming list",
        "kube-runtime reflector, paged list",
        "kube-runtime reflector, streaming list",
    ] {
        assert!(stdout.contains(side), "{side} is missing in\n{stdout}");
    }
}

#[test]
fn server_asks_what_it_built() {
    let output = Command::new(env!("CARGO_BIN_EXE_benches"))
        .args(["server", "--servers", "3"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("of 3"));
}
