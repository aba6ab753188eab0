//! Plans that once failed: each is run again, and has to hold.

use std::{fs, path::PathBuf};

use conformance::sim::{self, Plan, RunOptions};

#[test]
fn every_plan_that_once_failed_keeps_every_promise_now() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("regressions");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "json")
    });
    assert!(!paths.is_empty());
    for path in paths {
        let plan = Plan::from_text(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut violations = sim::run(&plan, &RunOptions::default()).violations;
        violations.retain(|violation| !violation.is_expected());
        assert!(violations.is_empty(), "{}: {violations:#?}", path.display());
    }
}
